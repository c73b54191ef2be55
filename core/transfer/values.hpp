// Vectors at particles and their counterparts at nodes, through the weights alone: how a force or displacement of the
// vertices of a mesh reaches the grid and back. J15 section 3.3
//     gather   u_p = sum_i w_ip u_i          scatter   f_i = sum_p w_ip f_p
#pragma once

#include "scatter.hpp"

namespace continua {

// values: component-major (d, stride), entries of other particles are left alone.
template <class T, int d, int degree>
void gather_values(const Particles<T>& particles, const Lattice<T, d>& lattice, const Blocks& blocks,
                   const int32_t* reach, const T* nodes, T* values, int64_t stride) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(team(particles.count))
    for (int64_t s = 0; s < blocks.count; ++s) {
        alignas(64) T tile[kTileNodes<d, degree> * 4], x[d * kBatch], u[d * kBatch];
        read_tile<T, d, degree>(nodes, reach + s * kCorners<d>, tile);
        const BlockCoords<d> block = block_coords<d>(blocks.keys[s]);
        Stencils<T, d, degree> stencils;
        ModeRecord<T, 1> records[kBatch] = {};
        for (int64_t begin = blocks.offsets[s]; begin < blocks.offsets[s + 1]; begin += kBatch) {
            const BatchIndices batch(blocks.order, begin, blocks.offsets[s + 1]);
            batch.fetch(particles.x, particles.stride, d, x);
            stencils.compute(x, lattice, block, false);
            stencils.for_packs(batch.count, [&]<int G>(int j) { gather_pack<G, ModeSet::value>(tile, stencils, j, records); });
            from_records<T, d>(records->c[0], sizeof(ModeRecord<T, 1>) / sizeof(T), u);
            for (int a = 0; a < d; ++a)
                for (int j = 0; j < batch.count; ++j) values[a * stride + batch.at[j]] = u[a * kBatch + j];
        }
    }
}

// tiles: (blocks, tile nodes, 4), overwritten. With `squared` the weights are w_ip^2, as in the diagonal of W^T K W.
template <class T, int d, int degree>
void scatter_values(const Particles<T>& particles, const Lattice<T, d>& lattice, const Blocks& blocks, const T* values,
                    int64_t stride, bool squared, T* tiles) {
    constexpr int64_t kTile = int64_t(kTileNodes<d, degree>) * 4;
#pragma omp parallel for schedule(dynamic, 1) num_threads(team(particles.count))
    for (int64_t s = 0; s < blocks.count; ++s) {
        alignas(64) T tile[detail::kScatterTile<T, d, degree>] = {}, x[d * kBatch], f[d * kBatch];
        const BlockCoords<d> block = block_coords<d>(blocks.keys[s]);
        Stencils<T, d, degree> stencils;
        ModeRecord<T, 1> records[kBatch] = {};
        for (int64_t begin = blocks.offsets[s]; begin < blocks.offsets[s + 1]; begin += kBatch) {
            const BatchIndices batch(blocks.order, begin, blocks.offsets[s + 1]);
            batch.fetch(particles.x, particles.stride, d, x);
            batch.fetch(values, stride, d, f);
            stencils.compute(x, lattice, block, false);
            if (squared)
                for (int a = 0; a < d; ++a)
                    for (auto& weights : stencils.w[a])
                        for (T& weight : weights) weight *= weight;
            const T* channel[d];
            for (int a = 0; a < d; ++a) channel[a] = f + a * kBatch;
            to_records<T, d>(channel, records->c[0], sizeof(ModeRecord<T, 1>) / sizeof(T));
            stencils.for_packs(
                batch.count, [&]<int G>(int j) { scatter_pack<G, ModeSet::value>(tile, stencils, j, records + j); });
        }
        detail::fold_tile<T, kTileNodes<d, degree>>(tile, tiles + s * kTile);
    }
}

}  // namespace continua
