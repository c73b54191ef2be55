// Particles and grid through the gradients of weights only: what an implicit solve does again and again.
//     gather   grad v = sum_i v_i (grad w_i)^T          scatter   node_i += T grad w_i
// The gather knows the slopes of the interpolated field; the scatter is that of the force of an explicit step without momentum,
// dx grad w = share w r + kappa D along each axis (see BSpline).
#pragma once

#include "scatter.hpp"

namespace continua {

// Particles of one body in the blocks of the grid.
template <class T, int d>
struct SortedParticles {
    const Particles<T>& particles;
    const Lattice<T, d>& lattice;
    const Blocks& blocks;
};

// One batch on its way: positions, the gradient of the node field there, and the stress T for the nodes.
template <class T, int d>
struct SlopeBatch {
    alignas(64) T x[d * kBatch], gradient[d * d * kBatch], stress[d * d * kBatch];
};

// Stress of the particles of a chunk, to be added to a tile.
template <class T, int d, int degree>
struct SlopeScatter {
    static constexpr ModeSet set = ModeSet::gradient;
    using M = Modes<set, d, degree>;
    using Record = ModeRecord<T, M::count>;
    static constexpr int kStride = sizeof(Record) / sizeof(T);
    RunWeights<T, d, degree> weights;
    BatchFactors<T, d, degree> factors;
    Record records[kChunk + 1] = {};

    void take(const SlopeBatch<T, d>& batch, const Places<T, d, degree>& places, T inv_dx, int at) {
        using V = Lanes<T>;
        alignas(64) T value[3][kBatch] = {}, linear[d][3][kBatch] = {}, difference[d][3][kBatch] = {};
        weights.compute(places, at);
        factors.compute(places, at, false);
        const V share = V(T(degree == 1 ? 1.0 : BSpline<degree>::share) * inv_dx);
        for (int lane = 0; lane < kBatch; lane += lanes_of<V>())
            for (int i = 0; i < d; ++i) {
                V first = V(0);
                for (int a = 0; a < d; ++a) {
                    const V stress = load<V>(batch.stress + (i * d + a) * kBatch + lane), slope = share * stress;
                    store(slope, linear[a][i] + lane);
                    if constexpr (degree > 1) {
                        first -= load<V>(places.f[a] + at + lane) * slope;
                        store(V(V(inv_dx) * load<V>(factors.kappa[a] + lane) * stress), difference[a][i] + lane);
                    }
                }
                store(first, value[i] + lane);
            }
        to_records<T, 3>({value[0], value[1], value[2]}, records[at].c[0], kStride);
        for (int a = 0; a < d; ++a) {
            to_records<T, 3>({linear[a][0], linear[a][1], linear[a][2]}, records[at].c[M::along(a, 1)], kStride);
            if constexpr (degree > 1)
                to_records<T, 3>({difference[a][0], difference[a][1], difference[a][2]}, records[at].c[M::along(a, degree)],
                                 kStride);
        }
    }
    void add(const Places<T, d, degree>& places, int count, T* tile) const {
        scatter_runs<T, d, degree, set>(places, weights, count, records, tile);
    }
};

// The same with the squares of the gradients of weights, which are tensor products as well: node_i += sum_a T_a (d_a w_i)^2.
template <class T, int d, int degree>
struct SquareScatter {
    RunWeights<T, d, degree> weights[d];
    ModeRecord<T, 1> records[d][kChunk + 1] = {};

    void take(const SlopeBatch<T, d>& batch, const Places<T, d, degree>& places, T inv_dx, int at) {
        using V = Lanes<T>;
        using Spline = BSpline<degree>;
        for (int a = 0; a < d; ++a) {
            weights[a].compute(places, at);
            for (int lane = at; lane < at + kBatch; lane += lanes_of<V>()) {
                const V f = load<V>(places.f[a] + lane), kappa = Spline::kappa(f);
                for (int k = 0; k <= degree; ++k) {
                    T* weight = weights[a].axis[a][k] + lane;
                    const V moment = V(T(Spline::share)) * load<V>(weight) * (V(T(k)) - f);
                    store(V(V(inv_dx) * (moment + Spline::difference(k, kappa))), weight);
                }
            }
            weights[a].square(at);
            const T* channel[d];
            for (int i = 0; i < d; ++i) channel[i] = batch.stress + (i * d + a) * kBatch;
            to_records<T, d>(channel, records[a][at].c[0], sizeof(ModeRecord<T, 1>) / sizeof(T));
        }
    }
    void add(const Places<T, d, degree>& places, int count, T* tile) const {
        for (int a = 0; a < d; ++a) scatter_runs<T, d, degree, ModeSet::value>(places, weights[a], count, records[a], tile);
    }
};

// For all batches: gather from `from` (unless null), work(batch, indices, begin, block), scatter to `to` (unless null, added to).
// work.prefetch(particle, place) is told what comes soon; `begin` and `place` count in block order.
template <class T, int d, int degree, class Scatter = SlopeScatter<T, d, degree>, class Work>
void sweep(const SortedParticles<T, d>& on, const Tiles& tiles, const T* from, T* to, const Work& work) {
    using M = Modes<ModeSet::affine, d, degree>;
    const Blocks& blocks = on.blocks;
    auto block_at_work = [&](int64_t s, int64_t next) {
        const Ahead ahead(blocks, s, next);
        const BlockCoords<d> block = block_coords<d>(blocks.keys[s]);
        alignas(64) T read[kPaddedTile<d, degree>] = {}, written[kPaddedTile<d, degree>] = {};
        alignas(64) T sums[M::count][d][kRow] = {};
        SlopeBatch<T, d> batches[kChunk / kBatch];
        BatchIndices indices[kChunk / kBatch];
        Places<T, d, degree> places;
        Scatter scatter;
        if (from) read_tile<T, d, degree>(from, tiles.reach + s * kCorners<d>, read);
        for_chunks(blocks, s, [&](int64_t begin, int64_t end) {
            const int count = int(end - begin);
            for (int at = 0; at < count; at += kBatch) {
                ahead.from(begin + at, [&](int64_t place) {
                    prefetch(on.particles.x, on.particles.stride, d, blocks.order[place]);
                    work.prefetch(blocks.order[place], place);
                });
                indices[at / kBatch] = BatchIndices(blocks.order, begin + at, end);
                indices[at / kBatch].fetch(on.particles.x, on.particles.stride, d, batches[at / kBatch].x);
                places.compute(batches[at / kBatch].x, on.lattice, block, at);
            }
            if (from) gather_cells<T, d, degree, ModeSet::affine, Linear::slope>(read, places, count, sums);
            for (int at = 0; at < count; at += kBatch) {
                SlopeBatch<T, d>& batch = batches[at / kBatch];
                const int own = indices[at / kBatch].count;
                for (int i = 0; i < d; ++i)
                    for (int a = 0; a < d; ++a) {
                        T* gradient = batch.gradient + (i * d + a) * kBatch;
                        const T* sum = sums[M::along(a, 1)][i] + at;
                        for (int j = 0; j < kBatch; ++j) gradient[j] = on.lattice.inv_dx * sum[j];
                        std::fill(gradient + own, gradient + kBatch, gradient[own - 1]);
                    }
                work(batch, indices[at / kBatch], begin + at, s);
                if (to) scatter.take(batch, places, on.lattice.inv_dx, at);
            }
            if (to) scatter.add(places, count, written);
        });
        if (to) add_tile<T, d, degree>(written, tiles.reach + s * kCorners<d>, to);
    };
    if (to)
        for_coloured(tiles.colours, on.particles.count, block_at_work);
    else
        for_blocks(blocks.count, on.particles.count, block_at_work);
}

}  // namespace continua
