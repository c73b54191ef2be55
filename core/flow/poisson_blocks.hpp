// Blocks of one multigrid level, and the order of cells inside them: cells of even coordinate sum ("red") first, then
// the odd ones ("black"), so that half a Gauss-Seidel sweep reads one half and writes the other.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "../grid/blocks.hpp"
#include "../grid/nodes.hpp"
#include "../parallel.hpp"
#include "cell_bits.hpp"

namespace continua {

template <int d>
inline constexpr int kHalf = kBlockNodes<d> / 2;
inline constexpr int kPlane = kSide * kSide / 2;  // cells of one colour in a plane across the last two axes

// Place of the cell with local coordinates l in the colour order. Along the last axis every other cell has the same
// colour, so it counts half.
template <int d>
constexpr int colour_place(const std::array<int, 3>& l) {
    int sum = 0, slot = 0;
    for (int a = 0; a < d; ++a) sum += l[a];
    for (int a = 0; a < d - 1; ++a) slot = slot * kSide + l[a];
    return (sum & 1) * kHalf<d> + slot * (kSide / 2) + l[d - 1] / 2;
}
template <int d>
constexpr std::array<int, 3> cell_coords(int cell) {
    std::array<int, 3> l{};
    for (int a = d - 1; a >= 0; --a, cell /= kSide) l[a] = cell % kSide;
    return l;
}
// Colour order of all cells.
template <int d>
inline constexpr auto kPlace = [] {
    std::array<int, kBlockNodes<d>> place{};
    for (int cell = 0; cell < kBlockNodes<d>; ++cell) place[cell] = colour_place<d>(cell_coords<d>(cell));
    return place;
}();
// And the other way round.
template <int d>
inline constexpr auto kCell = [] {
    std::array<int, kBlockNodes<d>> cells{};
    for (int cell = 0; cell < kBlockNodes<d>; ++cell) cells[kPlace<d>[cell]] = cell;
    return cells;
}();
// kParent[corner][cell]: the cell of a coarse block that holds a cell of the fine block in that corner of it.
template <int d>
inline constexpr auto kParent = [] {
    std::array<std::array<int, kBlockNodes<d>>, kCorners<d>> parent{};
    for (int corner = 0; corner < kCorners<d>; ++corner)
        for (int cell = 0; cell < kBlockNodes<d>; ++cell) {
            const std::array<int, 3> l = cell_coords<d>(cell);
            int& into = parent[corner][cell];
            for (int a = 0; a < d; ++a) into = into * kSide + l[a] / 2 + kSide / 2 * ((corner >> (d - 1 - a)) & 1);
        }
    return parent;
}();
// The same from place to place in the colour order.
template <int d>
inline constexpr auto kParentPlace = [] {
    std::array<std::array<int, kBlockNodes<d>>, kCorners<d>> parent{};
    for (int corner = 0; corner < kCorners<d>; ++corner)
        for (int cell = 0; cell < kBlockNodes<d>; ++cell)
            parent[corner][kPlace<d>[cell]] = kPlace<d>[kParent<d>[corner][cell]];
    return parent;
}();

// Sorted blocks of a level. Block number count() is an empty one: it stands for missing neighbours and holds zeros.
template <int d>
struct LevelBlocks {
    std::vector<uint64_t> keys;
    std::vector<int32_t> around;  // (blocks, 2d): face neighbours, lower then upper along every axis
    std::array<int32_t, d> period{};
    int level = 0;  // key coordinates are biased by kBias / 2^level

    int64_t count() const { return int64_t(keys.size()); }
    int32_t bias() const { return kBias >> level; }

    BlockCoords<d> coords(uint64_t key) const {
        BlockCoords<d> b = block_coords<d>(key);
        for (int a = 0; a < d; ++a) b[a] += kBias - bias();
        return b;
    }
    // Number of the block with these coordinates, or count().
    int32_t find(BlockCoords<d> b) const {
        for (int a = 0; a < d; ++a) {
            if (period[a] > 0) b[a] = (b[a] % period[a] + period[a]) % period[a];
            if (b[a] < -bias() || b[a] >= bias()) return int32_t(count());
            b[a] += bias() - kBias;
        }
        const uint64_t key = morton_key<d>(b);
        const auto found = std::lower_bound(keys.begin(), keys.end(), key);
        return int32_t(found != keys.end() && *found == key ? found - keys.begin() : count());
    }
    void link() {
        around.resize(size_t(count()) * 2 * d);
#pragma omp parallel for schedule(static) num_threads(team(count(), kBlocksPerThread))
        for (int64_t b = 0; b < count(); ++b)
            for (int side = 0; side < 2 * d; ++side) {
                BlockCoords<d> there = coords(keys[b]);
                there[side / 2] += side % 2 ? 1 : -1;
                around[b * 2 * d + side] = find(there);
            }
    }
    // From the blocks around each (blocks, 3^d), as neighbour_table finds them.
    void link(const int32_t* neighbours) {
        around.resize(size_t(count()) * 2 * d);
        for (int64_t b = 0; b < count(); ++b)
            for (int side = 0; side < 2 * d; ++side) {
                const int32_t there = neighbours[b * kNeighbours<d> + face_neighbour<d>(side / 2, side % 2)];
                around[b * 2 * d + side] = there < 0 ? int32_t(count()) : there;
            }
    }
    // Coarser blocks are twice as wide. Along an axis with an odd period they go around twice, which solves the same
    // problem in two copies, and every block has a parent in both.
    int copies() const {
        int count = 1;
        for (int a = 0; a < d; ++a) count <<= period[a] % 2;
        return count;
    }
    BlockCoords<d> copy_coords(uint64_t key, int copy) const {
        BlockCoords<d> b = coords(key);
        for (int a = 0; a < d; ++a) {
            if (period[a] % 2 == 0) continue;
            b[a] += copy % 2 * period[a];
            copy /= 2;
        }
        return b;
    }
    // Keys have room for a coarser level.
    bool can_coarsen() const {
        bool room = bias() > 2;
        for (int a = 0; a < d; ++a) room &= period[a] <= bias() / 2;
        return room;
    }
    // The coarser blocks above those for which keep(block) is true.
    template <class Function>
    LevelBlocks coarser(Function&& keep) const {
        LevelBlocks coarse;
        coarse.level = level + 1;
        for (int a = 0; a < d; ++a) coarse.period[a] = period[a] % 2 ? period[a] : period[a] / 2;
        for (int64_t b = 0; b < count(); ++b)
            for (int copy = 0; keep(b) && copy < copies(); ++copy) {
                BlockCoords<d> there = copy_coords(keys[b], copy);
                for (int a = 0; a < d; ++a) there[a] = (there[a] >> 1) + coarse.bias() - kBias;
                coarse.keys.push_back(morton_key<d>(there));
            }
        std::sort(coarse.keys.begin(), coarse.keys.end());
        coarse.keys.erase(std::unique(coarse.keys.begin(), coarse.keys.end()), coarse.keys.end());
        coarse.link();
        return coarse;
    }
};

}  // namespace continua
