// Particles and grid through weights and their gradients only: what an implicit solve does again and again.
//
// Two patterns per axis, the weight w and its slope dw/dx_p: the derivative of a weight along axis a is the mode with
// the slope along a and weights elsewhere (see Modes; pattern 1 is the slope here instead of w r). So d modes carry
//     gather   grad v = sum_i v_i (grad w_i)^T          scatter   node_i += T grad w_i
// which is less work than the gradient set of modes with its separate linear parts and differences.
#pragma once

#include "scatter.hpp"

namespace continua {

template <int G, class T, int d, int degree>
struct SlopeWeights;

template <class T, int d, int degree_>
struct SlopeStencils : Stencils<T, d, degree_> {
    using Base = Stencils<T, d, degree_>;
    static constexpr int degree = degree_, K = Base::K;
    alignas(64) T slope[d][K][kBatch];

    void compute(const T* x, const Lattice<T, d>& lattice, const BlockCoords<d>& block) {
        using V = Lanes<T>;
        using Spline = BSpline<degree>;
        Base::compute(x, lattice, block, false);
        const V inv_dx = V(lattice.inv_dx), share = V(T(Spline::share)) * inv_dx;
        for (int a = 0; a < d; ++a)
            for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
                const V kappa = inv_dx * load<V>(Base::kappa[a] + lane);
                for (int k = 0; k < K; ++k)
                    store(V(share * load<V>(Base::wr[a][k] + lane) + Spline::difference(k, kappa)), slope[a][k] + lane);
            }
    }
    // Squares of both patterns: the squares of weight gradients are tensor products as well.
    void square() {
        for (int a = 0; a < d; ++a)
            for (int k = 0; k < K; ++k)
                for (int j = 0; j < kBatch; ++j) {
                    Base::w[a][k][j] *= Base::w[a][k][j];
                    slope[a][k][j] *= slope[a][k][j];
                }
    }
    template <int G>
    auto scatter_weights(int j, bool) const {
        return SlopeWeights<G, T, d, degree>(*this, j);
    }
    template <int G>
    auto gather_weights(int j, bool) const {
        return SlopeWeights<G, T, d, degree>(*this, j);
    }
};

template <int G, class T, int d, int degree>
struct SlopeWeights {
    using Q = Pack<T, G>;
    static constexpr int K = degree + 1;
    Q w[d][K], slope[d][K];

    SlopeWeights(const SlopeStencils<T, d, degree>& st, int j) {
        for (int a = 0; a < d; ++a)
            for (int k = 0; k < K; ++k) {
                w[a][k] = spread<G>(st.w[a][k] + j);
                slope[a][k] = spread<G>(st.slope[a][k] + j);
            }
    }
    template <int e>
    Q times(int axis, int k, const Q& t) const {
        static_assert(e <= 1);
        if constexpr (e == 0)
            return w[axis][k] * t;
        else
            return slope[axis][k] * t;
    }
};

// Particles of one body in the blocks of the grid.
template <class T, int d>
struct SortedParticles {
    const Particles<T>& particles;
    const Lattice<T, d>& lattice;
    const Blocks& blocks;
    const int32_t* reach;  // node blocks under each tile, needed to read nodes
};

// One batch on its way: positions, the gradient of the node field there, and the stress T for the nodes.
template <class T, int d, int degree>
struct SlopeBatch {
    using Modes_ = Modes<ModeSet::affine, d, degree>;
    using Record = ModeRecord<T, Modes_::count>;
    static constexpr int kStride = sizeof(Record) / sizeof(T);
    alignas(64) T x[d * kBatch], gradient[d * d * kBatch], stress[d * d * kBatch];
    SlopeStencils<T, d, degree> stencils;
    Record records[kBatch] = {};

    void gather(const T* tile, int count) {
        stencils.for_packs(
            count, [&]<int G>(int j) { gather_pack<G, ModeSet::affine>(tile, stencils, j, records); });
        for (int j = count; j < kBatch; ++j) records[j] = records[count - 1];
        alignas(64) T column[d * kBatch];
        for (int a = 0; a < d; ++a) {
            from_records<T, d>(records->c[Modes_::along(a, 1)], kStride, column);
            for (int i = 0; i < d; ++i) std::copy_n(column + i * kBatch, kBatch, gradient + (i * d + a) * kBatch);
        }
    }
    void scatter(T* tile, int count) {
        for (int j = 0; j < kBatch; ++j) Quad<T>(T(0)).copy_to(records[j].c[0], stdx::element_aligned);
        for (int a = 0; a < d; ++a) {
            const T* column[d];
            for (int i = 0; i < d; ++i) column[i] = stress + (i * d + a) * kBatch;
            to_records<T, d>(column, records->c[Modes_::along(a, 1)], kStride);
        }
        stencils.for_packs(
            count, [&]<int G>(int j) { scatter_pack<G, ModeSet::affine>(tile, stencils, j, records + j); });
    }
};

// For all batches: gather from `nodes` (unless null), work(batch, indices, begin, block), scatter to `tiles` (unless
// null; overwritten). work.prefetch(particle, place) is told what comes soon; `begin` and `place` count in block order.
template <class T, int d, int degree, class Work>
void sweep(const SortedParticles<T, d>& on, const T* nodes, T* tiles, const Work& work) {
    const Blocks& blocks = on.blocks;
    constexpr int64_t kTile = int64_t(kTileNodes<d, degree>) * 4;
#pragma omp parallel for schedule(dynamic, 1) num_threads(team(on.particles.count))
    for (int64_t s = 0; s < blocks.count; ++s) {
        alignas(64) T from[kTile], to[detail::kScatterTile<T, d, degree>];
        if (nodes) read_tile<T, d, degree>(nodes, on.reach + s * kCorners<d>, from);
        if (tiles) std::fill(std::begin(to), std::end(to), T(0));
        const BlockCoords<d> block = block_coords<d>(blocks.keys[s]);
        SlopeBatch<T, d, degree> batch;
        for (int64_t begin = blocks.offsets[s]; begin < blocks.offsets[s + 1]; begin += kBatch) {
            const BatchIndices indices(blocks.order, begin, blocks.offsets[s + 1]);
            if (begin + kAhead < on.particles.count) {
                const int64_t next = blocks.order[begin + kAhead];
                prefetch(on.particles.x, on.particles.stride, d, next);
                work.prefetch(next, begin + kAhead);
            }
            indices.fetch(on.particles.x, on.particles.stride, d, batch.x);
            batch.stencils.compute(batch.x, on.lattice, block);
            if (nodes) batch.gather(from, indices.count);
            work(batch, indices, begin, s);
            if (tiles) batch.scatter(to, indices.count);
        }
        if (tiles) detail::fold_tile<T, kTileNodes<d, degree>>(to, tiles + s * kTile);
    }
}

}  // namespace continua
