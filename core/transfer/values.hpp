// Vectors at particles and their counterparts at nodes, through the weights alone: how a force or displacement of the
// vertices of a mesh reaches the grid and back. J15 section 3.3
//     gather   u_p = sum_i w_ip u_i          scatter   f_i = sum_p w_ip f_p
// and through the gradients of the weights, for matrices:
//     gather   G_p = sum_i u_i (grad w_ip)^T scatter   f_i = sum_p T_p grad w_ip
#pragma once

#include "scatter.hpp"
#include "slopes.hpp"

namespace continua {

// values: component-major (d, stride), entries of other particles are left alone.
template <class T, int d, int degree>
void gather_values(const Particles<T>& particles, const Lattice<T, d>& lattice, const Blocks& blocks,
                   const int32_t* reach, const T* nodes, T* values, int64_t stride) {
    for_blocks(blocks.count, particles.count, [&](int64_t s, int64_t) {
        alignas(64) T tile[kPaddedTile<d, degree>] = {}, x[d * kBatch], u[1][d][kRow];
        read_tile<T, d, degree>(nodes, reach + s * kCorners<d>, tile);
        const BlockCoords<d> block = block_coords<d>(blocks.keys[s]);
        Places<T, d, degree> places;
        for_chunks(blocks, s, [&](int64_t begin, int64_t end) {
            for (int at = 0; begin + at < end; at += kBatch) {
                const BatchIndices batch(blocks.order, begin + at, end);
                batch.fetch(particles.x, particles.stride, d, x);
                places.compute(x, lattice, block, at);
            }
            gather_cells<T, d, degree, ModeSet::value, Linear::moment>(tile, places, int(end - begin), u);
            for (int a = 0; a < d; ++a)
                for (int64_t k = begin; k < end; ++k) values[a * stride + blocks.order[k]] = u[0][a][k - begin];
        });
    });
}

// nodes (grid blocks, 4^d, 4): added to. With `squared` the weights are w_ip^2, as in the diagonal of W^T K W.
template <class T, int d, int degree>
void scatter_values(const Particles<T>& particles, const Lattice<T, d>& lattice, const Blocks& blocks, const Tiles& tiles,
                    const T* values, int64_t stride, bool squared, T* nodes) {
    for_coloured(tiles.colours, particles.count, [&](int64_t s, int64_t) {
        alignas(64) T tile[kPaddedTile<d, degree>] = {}, x[d * kBatch], f[d * kBatch];
        const BlockCoords<d> block = block_coords<d>(blocks.keys[s]);
        Places<T, d, degree> places;
        RunWeights<T, d, degree> weights;
        ModeRecord<T, 1> records[kChunk + 1] = {};
        for_chunks(blocks, s, [&](int64_t begin, int64_t end) {
            for (int at = 0; begin + at < end; at += kBatch) {
                const BatchIndices batch(blocks.order, begin + at, end);
                batch.fetch(particles.x, particles.stride, d, x);
                batch.fetch(values, stride, d, f);
                places.compute(x, lattice, block, at);
                weights.compute(places, at);
                if (squared) weights.square(at);
                const T* channel[d];
                for (int a = 0; a < d; ++a) channel[a] = f + a * kBatch;
                to_records<T, d>(channel, records[at].c[0], sizeof(ModeRecord<T, 1>) / sizeof(T));
            }
            scatter_runs<T, d, degree, ModeSet::value>(places, weights, int(end - begin), records, tile);
        });
        add_tile<T, d, degree>(tile, tiles.reach + s * kCorners<d>, nodes);
    });
}

namespace detail {
// One batch of `sweep`: gradients to values, or matrices from them; component-major (d d, stride).
template <class T, int d>
struct MatrixWork {
    T* gradients;        // null where nothing is gathered
    const T* matrices;   // null where nothing is scattered
    int64_t stride;

    void prefetch(int64_t, int64_t) const {}
    void operator()(SlopeBatch<T, d>& batch, const BatchIndices& indices, int64_t, int64_t) const {
        if (matrices) indices.fetch(matrices, stride, d * d, batch.stress);
        if (gradients)
            for (int c = 0; c < d * d; ++c)
                for (int k = 0; k < indices.count; ++k) gradients[c * stride + indices.at[k]] = batch.gradient[c * kRow + k];
    }
};
}  // namespace detail

template <class T, int d, int degree>
void gather_gradients(const Particles<T>& particles, const Lattice<T, d>& lattice, const Blocks& blocks, const Tiles& tiles,
                      const T* nodes, T* values, int64_t stride) {
    sweep<T, d, degree>({particles, lattice, blocks}, tiles, nodes, static_cast<T*>(nullptr),
                        detail::MatrixWork<T, d>{values, nullptr, stride});
}
// nodes (grid blocks, 4^d, 4): added to.
template <class T, int d, int degree>
void scatter_matrices(const Particles<T>& particles, const Lattice<T, d>& lattice, const Blocks& blocks, const Tiles& tiles,
                      const T* values, int64_t stride, T* nodes) {
    sweep<T, d, degree>({particles, lattice, blocks}, tiles, static_cast<const T*>(nullptr), nodes,
                        detail::MatrixWork<T, d>{nullptr, values, stride});
}

}  // namespace continua
