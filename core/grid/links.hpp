// Particle blocks and the grid blocks under their tiles, and an order in which tiles can be added to the grid side by side.
#pragma once

#include "blocks.hpp"

namespace continua {

// Keys of the grid blocks reached from particle blocks: each and its upper neighbours, with `rim` all its neighbours, sorted.
template <class T, int d>
std::vector<uint64_t> reached_blocks(const std::vector<uint64_t>& particle_keys, const Lattice<T, d>& lattice, bool rim) {
    std::vector<uint64_t> keys;
    const int lowest = rim ? -1 : 0, side = 2 - lowest, around = d == 2 ? side * side : side * side * side;
    KeyMap found(particle_keys.size() * (rim ? 3 : 2));
    for (uint64_t key : particle_keys) {
        const BlockCoords<d> here = block_coords<d>(key);
        for (int n = 0; n < around; ++n) {
            BlockCoords<d> there = here;
            for (int a = 0, rest = n; a < d; ++a, rest /= side) there[a] = lattice.wrap(there[a] + lowest + rest % side, a);
            found.insert(morton_key<d>(there), 0);
        }
    }
    found.each([&](uint64_t key) { keys.push_back(key); });
    std::sort(keys.begin(), keys.end());
    return keys;
}

// reach[s][corner]: grid block of that corner of particle block s; sources[b][corner]: the particle block whose tile
// corner lands on grid block b, or -1.
template <class T, int d>
void link_blocks(const uint64_t* particle_keys, int64_t particle_blocks, const uint64_t* node_keys, int64_t node_blocks,
                 const Lattice<T, d>& lattice, int32_t* reach, int32_t* sources) {
    std::fill(sources, sources + node_blocks * kCorners<d>, -1);
    for (int64_t s = 0; s < particle_blocks; ++s)
        for (int corner = 0; corner < kCorners<d>; ++corner) {
            const uint64_t key = morton_key<d>(lattice.neighbour(block_coords<d>(particle_keys[s]), corner));
            const int64_t b = std::lower_bound(node_keys, node_keys + node_blocks, key) - node_keys;
            const int32_t found = b < node_blocks && node_keys[b] == key ? int32_t(b) : -1;
            reach[s * kCorners<d> + corner] = found;
            if (found >= 0) sources[found * int64_t(kCorners<d>) + corner] = int32_t(s);
        }
}

// Tiles of one colour share no node: blocks of equal parity along every axis are two blocks apart, and a tile reaches less than one
// block beyond its own. On a periodic axis with an odd number of blocks the last one has a colour of its own. So every
// node adds up its tiles in the order of their colours, for any number of threads.
struct Colours {
    std::vector<int32_t> blocks;   // particle blocks, colour after colour
    std::vector<int64_t> offsets;  // of the colours
};

template <class T, int d>
Colours colour_blocks(const uint64_t* particle_keys, int64_t particle_blocks, const Lattice<T, d>& lattice) {
    constexpr int kColours = d == 2 ? 9 : 27;
    auto colour = [&](int64_t s) {
        const BlockCoords<d> b = block_coords<d>(particle_keys[s]);
        int c = 0;
        for (int a = 0; a < d; ++a) {
            const bool seam = lattice.period[a] % 2 == 1 && lattice.wrap(b[a], a) == lattice.period[a] - 1;
            c = 3 * c + (seam ? 2 : lattice.wrap(b[a], a) & 1);
        }
        return c;
    };
    std::vector<int64_t> count(kColours + 1, 0);
    for (int64_t s = 0; s < particle_blocks; ++s) ++count[colour(s) + 1];
    Colours found{std::vector<int32_t>(particle_blocks), {0}};
    for (int c = 0; c < kColours; ++c) {
        if (count[c + 1] > 0) found.offsets.push_back(count[c] + count[c + 1]);
        count[c + 1] += count[c];
    }
    for (int64_t s = 0; s < particle_blocks; ++s) found.blocks[count[colour(s)]++] = int32_t(s);
    return found;
}

}  // namespace continua
