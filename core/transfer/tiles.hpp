// Tiles: the nodes that the particles of one block reach, in the first-level cache; read from the grid and added to it.
#pragma once

#include <atomic>

#include "../grid/links.hpp"
#include "../grid/nodes.hpp"
#include "../math/pack.hpp"

namespace continua {

// The tiles of some particle blocks on a grid, and in which order they may be added to it.
struct Tiles {
    const int32_t* reach;  // (particle blocks, 2^d) grid blocks
    const Colours& colours;
};

// Kernels handle rows of nodes in packs, of which the last may reach beyond the end.
template <int d, int overlap>
inline constexpr int kPaddedTile = kTileNodes<d, overlap> * 4 + 16;

// One thread takes tasks from `cursor` on, always knowing its next one: function(task, next or -1).
template <class Function>
inline void take_tasks(std::atomic<int64_t>& cursor, int64_t end, Function&& function) {
    for (int64_t k = cursor++; k < end;) {
        const int64_t next = cursor++;
        function(k, next < end ? next : int64_t(-1));
        k = next;
    }
}

// function(s, next) for all particle blocks, where `next` is the one that the same thread takes next, or -1: it can be fetched ahead.
template <class Function>
inline void for_blocks(int64_t count, int64_t particles, Function&& function) {
    std::atomic<int64_t> cursor{0};
#pragma omp parallel num_threads(team(particles))
    take_tasks(cursor, count, function);
}
// The same so that blocks at work at the same time share no node.
template <class Function>
inline void for_coloured(const Colours& colours, int64_t particles, Function&& function) {
    std::vector<std::atomic<int64_t>> cursors(colours.count());
    for (int c = 0; c < colours.count(); ++c) cursors[c] = colours.offsets[c];
#pragma omp parallel num_threads(team(particles))
    for (int c = 0; c < colours.count(); ++c) {
        take_tasks(cursors[c], colours.offsets[c + 1], [&](int64_t group, int64_t after) {
            const int64_t end = colours.end[group], beyond = after < 0 ? -1 : int64_t(colours.begin[after]);
            for (int64_t s = colours.begin[group]; s < end; ++s) function(s, s + 1 < end ? s + 1 : beyond);
        });
#pragma omp barrier
    }
}

// The grid nodes of a tile, which is read or added to later.
template <class T, int d, int overlap>
inline void prefetch_tile(const T* nodes, const int32_t* reach) {
    static_corners<d>([&](auto corner) {
        const T* block = nodes + int64_t(reach[corner]) * kBlockNodes<d> * 4;
        for_shared_rows<d, overlap, corner>([&](int, int row, auto count) {
            for (int k = 0; k < 4 * count; k += 64 / int(sizeof(T))) prefetch_line(block + 4 * row + k);
        });
    });
}
template <class T, int d, int overlap>
inline void add_tile(const T* tile, const int32_t* reach, T* nodes) {
    static_corners<d>([&](auto corner) {
        T* block = nodes + int64_t(reach[corner]) * kBlockNodes<d> * 4;
        for_shared_rows<d, overlap, corner>([&](int from, int to, auto count) {
            for (int k = 0; k < 4 * count; ++k) block[4 * to + k] += tile[4 * from + k];
        });
    });
}
// Copy the nodes of the tile of one particle block from the grid blocks it reaches.
template <class T, int d, int overlap>
inline void read_tile(const T* nodes, const int32_t* reach, T* tile) {
    static_corners<d>([&](auto corner) {
        const T* block = nodes + int64_t(reach[corner]) * kBlockNodes<d> * 4;
        for_shared_rows<d, overlap, corner>([&](int to, int from, auto count) {
            for (int k = 0; k < 4 * count; ++k) tile[4 * to + k] = block[4 * from + k];
        });
    });
}

// Node arrays are set to zero before tiles are added.
template <class T>
inline void clear_nodes(T* nodes, int64_t blocks, int64_t numbers_per_block) {
#pragma omp parallel for schedule(static) num_threads(team(blocks, kBlocksPerThread))
    for (int64_t b = 0; b < blocks; ++b) std::fill_n(nodes + b * numbers_per_block, numbers_per_block, T(0));
}

}  // namespace continua
