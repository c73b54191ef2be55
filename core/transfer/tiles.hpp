// Tiles: the nodes that the particles of one block reach, in the first-level cache; read from the grid and added to it.
#pragma once

#include "../grid/nodes.hpp"

namespace continua {

// The tiles of some particle blocks on a grid, and in which order they may be added to it (see Colours).
struct Tiles {
    const int32_t* reach;  // (particle blocks, 2^d) grid blocks
    const int32_t* coloured;
    const int64_t* offsets;
    int colours;
};

// Kernels handle rows of nodes in packs, of which the last may reach beyond the end.
template <int d, int overlap>
inline constexpr int kPaddedTile = kTileNodes<d, overlap> * 4 + 16;

// function(s) for all particle blocks: those at work at the same time share no node.
template <class Function>
inline void for_coloured(const Tiles& tiles, int64_t particles, Function&& function) {
#pragma omp parallel num_threads(team(particles))
    for (int c = 0; c < tiles.colours; ++c) {
#pragma omp for schedule(dynamic, 1)
        for (int64_t k = tiles.offsets[c]; k < tiles.offsets[c + 1]; ++k) function(int64_t(tiles.coloured[k]));
    }
}

template <class T, int d, int overlap>
inline void add_tile(const T* tile, const int32_t* reach, T* nodes) {
    for (int corner = 0; corner < kCorners<d>; ++corner) {
        T* block = nodes + int64_t(reach[corner]) * kBlockNodes<d> * 4;
        for_shared_rows<d, overlap>(corner, [&](int from, int to, int count) {
            for (int k = 0; k < 4 * count; ++k) block[4 * to + k] += tile[4 * from + k];
        });
    }
}

// Node arrays are set to zero before tiles are added.
template <class T>
inline void clear_nodes(T* nodes, int64_t blocks, int64_t numbers_per_block) {
#pragma omp parallel for schedule(static) num_threads(team(blocks, kBlocksPerThread))
    for (int64_t b = 0; b < blocks; ++b) std::fill_n(nodes + b * numbers_per_block, numbers_per_block, T(0));
}

}  // namespace continua
