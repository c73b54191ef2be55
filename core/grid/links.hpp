// Particle blocks and the grid blocks under their tiles, and an order in which tiles can be added to the grid side by side.
#pragma once

#include "../parallel.hpp"
#include "blocks.hpp"

namespace continua {

// Keys of the grid blocks reached from particle blocks: each and its upper neighbours, with `rim` all its neighbours, sorted.
template <class T, int d>
std::vector<uint64_t> reached_blocks(const std::vector<uint64_t>& particle_keys, const Lattice<T, d>& lattice, bool rim) {
    const int lowest = rim ? -1 : 0, side = 2 - lowest, around = d == 2 ? side * side : side * side * side;
    KeyMap found(particle_keys.size() * (rim ? 3 : 2));
    for (uint64_t key : particle_keys) found.insert(key, 0);
    std::vector<uint64_t> others;  // beside those that hold particles, which are sorted already
    for (uint64_t key : particle_keys) {
        const BlockCoords<d> here = block_coords<d>(key);
        for (int n = 0; n < around; ++n) {
            BlockCoords<d> there = here;
            for (int a = 0, rest = n; a < d; ++a, rest /= side) there[a] = lattice.wrap(there[a] + lowest + rest % side, a);
            const uint64_t reached = morton_key<d>(there);
            const int32_t next = int32_t(others.size()) + 1;
            if (found.insert(reached, next) == next) others.push_back(reached);
        }
    }
    std::sort(others.begin(), others.end());
    std::vector<uint64_t> keys(particle_keys.size() + others.size());
    std::merge(particle_keys.begin(), particle_keys.end(), others.begin(), others.end(), keys.begin());
    return keys;
}

// reach[s][corner]: grid block of that corner of particle block s; sources[b][corner]: the particle block whose tile
// corner lands on grid block b, or -1.
template <class T, int d>
void link_blocks(const uint64_t* particle_keys, int64_t particle_blocks, const uint64_t* node_keys, int64_t node_blocks,
                 const Lattice<T, d>& lattice, int32_t* reach, int32_t* sources) {
    std::fill(sources, sources + node_blocks * kCorners<d>, -1);
    KeyMap number{size_t(node_blocks)};  // from 1 on: 0 stands for none
    for (int64_t b = 0; b < node_blocks; ++b) number.insert(node_keys[b], int32_t(b + 1));
#pragma omp parallel for schedule(static) num_threads(team(particle_blocks, kBlocksPerThread))
    for (int64_t s = 0; s < particle_blocks; ++s) {
        const BlockCoords<d> here = block_coords<d>(particle_keys[s]);
        for (int corner = 0; corner < kCorners<d>; ++corner) {
            const int32_t found = number.find(morton_key<d>(lattice.neighbour(here, corner))) - 1;
            reach[s * kCorners<d> + corner] = found;
            if (found >= 0) sources[found * int64_t(kCorners<d>) + corner] = int32_t(s);
        }
    }
}

// Particle blocks in groups of 2^d, cubes whose blocks follow each other in memory, and the groups in colours. Tiles of two groups of
// one colour share no node: groups of equal parity along every axis are two groups apart, and a tile reaches less than one block
// beyond its own. On a periodic axis with an odd number of groups the last one has a colour of its own. So every node adds up its
// tiles in an order that geometry gives, for any number of threads.
struct Colours {
    std::vector<int32_t> begin, end;  // particle blocks of the groups, colour after colour
    std::vector<int64_t> offsets;     // groups of the colours

    int count() const { return int(offsets.size()) - 1; }
};

template <class T, int d>
Colours colour_blocks(const uint64_t* particle_keys, int64_t particle_blocks, const Lattice<T, d>& lattice) {
    constexpr int kColours = d == 2 ? 9 : 27;
    auto colour = [&](uint64_t key) {
        const BlockCoords<d> b = block_coords<d>(key);
        int c = 0;
        for (int a = 0; a < d; ++a) {
            // Keys count from -kBias, which is even, and wrapped blocks from 0: pairs of blocks are the same in both.
            const int32_t groups = (lattice.period[a] + 1) / 2, group = lattice.wrap(b[a], a) >> 1;
            c = 3 * c + (groups % 2 == 1 && group == groups - 1 && groups > 1 ? 2 : group & 1);
        }
        return c;
    };
    std::vector<std::vector<std::pair<int32_t, int32_t>>> found(kColours);
    for (int64_t s = 0, t = 0; s < particle_blocks; s = t) {
        while (t < particle_blocks && particle_keys[t] >> d == particle_keys[s] >> d) ++t;
        found[colour(particle_keys[s])].push_back({int32_t(s), int32_t(t)});
    }
    Colours colours{{}, {}, {0}};
    for (const auto& groups : found) {
        if (groups.empty()) continue;
        for (const auto& [begin, end] : groups) colours.begin.push_back(begin), colours.end.push_back(end);
        colours.offsets.push_back(int64_t(colours.begin.size()));
    }
    return colours;
}

}  // namespace continua
