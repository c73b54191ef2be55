// Particles and grid through the gradients of weights only: what an implicit solve does again and again.
//     gather   grad v = sum_i v_i (grad w_i)^T          scatter   node_i += T grad w_i
// Weights w along one axis add up to 1 and their slopes g to 0: sums over nodes are sums over differences of nodes, and what one node
// gets follows from what the others get. That takes two thirds of the arithmetic of momentum and its modes (see Modes), so these
// kernels are of their own.
#pragma once

#include "../math/transpose.hpp"
#include "cell_gather.hpp"
#include "tiles.hpp"

namespace continua {

// Particles of one body in the blocks of the grid.
template <class T, int d>
struct SortedParticles {
    const Particles<T>& particles;
    const Lattice<T, d>& lattice;
    const Blocks& blocks;
};

// One batch on its way: the gradient of the node field, rows (i, a) of d v_i / d x_a that are kRow apart, and the stress T for the
// nodes, in rows of kBatch.
template <class T, int d>
struct SlopeBatch {
    const T* gradient;
    alignas(64) T stress[d * d * kBatch];
};

// The gradients for a chunk of particles in a tile whose nodes are in units of dx. Along the last axis, with D_k = v_k+1 - v_k,
//     sum_k w_k v_k = v_1 - w_0 D_0 + (w_2 + w_3) D_1 + w_3 D_2         sum_k g_k v_k = -g_0 D_0 + (g_2 + g_3) D_1 + g_3 D_2
// so v_1 has no weight and no slope. Along the others nodes are turned into polynomials, see cell_gather.hpp.
template <class T, int d, int degree>
inline void gather_slopes(const T* tile, const Places<T, d, degree>& places, int count, T* gradient) {
    using L = CellLanes<T>;
    using Axis = PolynomialAxis<L, degree, Linear::slope>;
    constexpr int K = degree + 1, K0 = d == 3 ? K : 1, S = Places<T, d, degree>::S;
    alignas(64) T middle[K0][K][4], difference[K0][K][kRowNumbers<degree>];
    for_runs(places.node, count, [&](int begin, int end) {
        const T* corner = tile + 4 * places.node[begin];
        auto transform = [&]<int G>(std::integral_constant<int, G>, auto&& node_row, auto&& put) {
            using Q = Pack<T, G>;
            Q v[K0][K];
            for (int i = 0; i < K0; ++i) {
                for (int j = 0; j < K; ++j) v[i][j] = node_row(corner + 4 * (i * S * (d == 3) + j) * S);
                Axis::transform(v[i]);
            }
            for (int j = 0; j < K; ++j) {
                Q column[K0];
                for (int i = 0; i < K0; ++i) column[i] = v[i][j];
                if constexpr (d == 3) Axis::transform(column);
                for (int i = 0; i < K0; ++i) column[i].copy_to(put(i, j), stdx::element_aligned);
            }
        };
        transform(
            std::integral_constant<int, 1>{}, [](const T* row) { return Quad<T>(row + 4, stdx::element_aligned); },
            [&](int i, int j) { return middle[i][j]; });
        for_node_packs<T, degree>([&]<int G>(int first) {
            using Q = Pack<T, G>;
            transform(
                std::integral_constant<int, G>{},
                [&](const T* row) { return Q(row + 4 * first + 4, stdx::element_aligned) - Q(row + 4 * first, stdx::element_aligned); },
                [&](int i, int j) { return difference[i][j] + 4 * first; });
        });
        for (int p = begin; p < end; p += lanes_of<L>()) {
            auto f = [&](int a) { return load<L>(places.f[a] + p); };
            const auto x = [&] {
                if constexpr (d == 3)
                    return Axis(f(0), false);
                else
                    return NoAxis<L>{};
            }();
            const Axis y(f(d - 2), false);
            L w[K], g[K];  // of D_k, k < degree
            BSpline<degree>::weights(f(d - 1), w);
            BSpline<degree>::slopes(f(d - 1), g);
            w[0] = -w[0], g[0] = -g[0];
            for (int k = 1; k < degree; ++k) w[k] = w[k + 1], g[k] = g[k + 1];
            for (int k = degree - 2; k > 0; --k) w[k] += w[k + 1], g[k] += g[k + 1];
            for (int a = 0; a < d; ++a) {
                L along[3];  // the three axes
                auto add = [&](auto&& value, auto is_difference, int k) {
                    L line[K];
                    if constexpr (d == 3) {
                        for (int j = 0; j < K; ++j) line[j] = x.template sum<1>([&](int i) { return value(i, j); });
                        const L slope = y.template sum<0>([&](int j) { return line[j]; });
                        along[0] = is_difference ? L(along[0] + w[k] * slope) : slope;
                    }
                    for (int j = 0; j < K; ++j) line[j] = x.template sum<0>([&](int i) { return value(i, j); });
                    const L slope = y.template sum<1>([&](int j) { return line[j]; });
                    along[1] = is_difference ? L(along[1] + w[k] * slope) : slope;
                    if constexpr (is_difference) {
                        const L plane = y.template sum<0>([&](int j) { return line[j]; });
                        along[2] = k > 0 ? L(along[2] + g[k] * plane) : L(g[k] * plane);
                    }
                };
                add([&](int i, int j) { return L(middle[i][j][a]); }, std::false_type{}, 0);
                for (int k = 0; k < degree; ++k)
                    add([&](int i, int j) { return L(difference[i][j][4 * k + a]); }, std::true_type{}, k);
                for (int axis = 0; axis < d; ++axis) store(along[axis + 3 - d], gradient + (a * d + axis) * kRow + p);
            }
        }
    });
}

// Stress T of the particles of a chunk, to be added to a tile:
//     node (i, j, k) += g_i w_j w_k T_x + w_i g_j w_k T_y + w_i w_j g_k T_z
// where a row along k takes its factors w_k T and g_k T first. Over all i this adds up to the last two terms without w_i, over all
// j likewise, so node 1 of an axis, which has much weight unless splines are linear and have steep slopes anyway, gets what the
// others leave. Squares of w and g do not add up so.
template <class T, int d, int degree, bool squares = false>
struct SlopeScatter {
    static constexpr int K = degree + 1, K0 = d == 3 ? K : 1, kRest = squares ? -1 : 1;
    using Record = ModeRecord<T, 2 + d>;  // for each particle w and g along the last axis, and T of each axis
    alignas(64) T w[d - 1][K][kChunk], g[d - 1][K][kChunk];
    Record records[kChunk + 1];

    // Those of one batch, particles from `at` on.
    void patterns(const Places<T, d, degree>& places, T inv_dx, int at) {
        using V = Lanes<T>;
        alignas(64) T last_w[K][kBatch], last_g[K][kBatch];
        for (int a = 0; a < d; ++a)
            for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
                V weights[K], slopes[K];
                BSpline<degree>::weights(load<V>(places.f[a] + at + lane), weights);
                BSpline<degree>::slopes(load<V>(places.f[a] + at + lane), slopes);
                for (int k = 0; k < K; ++k) {
                    slopes[k] *= V(inv_dx);
                    if constexpr (squares) weights[k] *= weights[k], slopes[k] *= slopes[k];
                    store(weights[k], (a < d - 1 ? w[a][k] + at : last_w[k]) + lane);
                    store(slopes[k], (a < d - 1 ? g[a][k] + at : last_g[k]) + lane);
                }
            }
        put<K>(last_w[0], kBatch, at, 0);
        put<K>(last_g[0], kBatch, at, 1);
    }
    void take(const SlopeBatch<T, d>& batch, int at) {
        for (int a = 0; a < d; ++a) put<d>(batch.stress + a * kBatch, d * kBatch, at, 2 + a);
    }
    // n columns of a batch, `stride` apart, into the records.
    template <int n>
    void put(const T* column, int stride, int at, int entry) {
        const T* columns[n];
        for (int k = 0; k < n; ++k) columns[k] = column + k * stride;
        to_records<T, n>(reinterpret_cast<const T* const(&)[n]>(columns), records[at].c[entry], sizeof(Record) / sizeof(T));
    }
    void add(const Places<T, d, degree>& places, int count, T* tile) const {
        constexpr int S = Places<T, d, degree>::S;
        for_runs(places.node, count, [&](int begin, int end) {
            T* corner = tile + 4 * places.node[begin];
            for_node_packs<T, K>([&]<int G>(int first) {
                using Q = Pack<T, G>;
                Q sum[K0][K];
                for (auto& line : sum)
                    for (auto& q : line) q = Q(0);
                for (int p = begin; p < end; ++p) {
                    const Q w_k = spread<G>(records[p].c[0] + first), g_k = spread<G>(records[p].c[1] + first);
                    auto stress = [&](int axis) { return repeat<G>(records[p].c[2 + axis]); };
                    const Q y = w_k * stress(d - 2), z = g_k * stress(d - 1);
                    Q x = Q(0);
                    if constexpr (d == 3) x = w_k * stress(0);
                    for (int i = 0; i < K0; ++i) {
                        Q weight = z, slope = y;  // what w_j and g_j take
                        if (d == 3 && i != kRest) {
                            weight = Q(w[0][i][p]) * z;
                            weight += Q(g[0][i][p]) * x;
                            slope = Q(w[0][i][p]) * y;
                        }
                        for (int j = 0; j < K; ++j) {
                            if (j == kRest) {
                                sum[i][j] += weight;
                                continue;
                            }
                            sum[i][j] += Q(w[d - 2][j][p]) * weight;
                            sum[i][j] += Q(g[d - 2][j][p]) * slope;
                        }
                    }
                }
                if constexpr (!squares) {
                    for (auto& line : sum)
                        for (int j = 0; j < K; ++j)
                            if (j != kRest) line[kRest] -= line[j];
                    for (int i = 0; i < K0; ++i)
                        for (int j = 0; j < K; ++j)
                            if (d == 3 && i != kRest) sum[kRest][j] -= sum[i][j];
                }
                for (int i = 0; i < K0; ++i)
                    for (int j = 0; j < K; ++j) {
                        T* to = corner + 4 * ((i * S * (d == 3) + j) * S + first);
                        (Q(to, stdx::element_aligned) + sum[i][j]).copy_to(to, stdx::element_aligned);
                    }
            });
        });
    }
};

// For all batches: gather from `from` (unless null), work(batch, indices, begin, block), scatter to `to` (unless null, added to).
// work.prefetch(particle, place) is told what comes soon; `begin` and `place` count in block order. Every block has its own copy of
// `work`, which may remember things from batch to batch.
template <class T, int d, int degree, class Scatter = SlopeScatter<T, d, degree>, class Work>
void sweep(const SortedParticles<T, d>& on, const Tiles& tiles, const T* from, T* to, const Work& all_work) {
    constexpr int kTile = kPaddedTile<d, degree>;
    const Blocks& blocks = on.blocks;
    auto block_at_work = [&](int64_t s, int64_t next) {
        const Ahead ahead(blocks, s, next);
        Work work = all_work;
        auto fetch_ahead = [&](int64_t begin) {
            ahead.from(begin, [&](int64_t place) { work.prefetch(blocks.order[place], place); });
        };
        const BlockCoords<d> block = block_coords<d>(blocks.keys[s]);
        alignas(64) T read[kTile], written[kTile], gradient[d * d * kRow];
        SlopeBatch<T, d> batch{};
        BatchIndices indices[kChunk / kBatch];
        Places<T, d, degree> places;
        Scatter scatter;
        if (from) {
            read_tile<T, d, degree>(from, tiles.reach + s * kCorners<d>, read);
            for (int k = 0; k < kTile - 16; ++k) read[k] *= on.lattice.inv_dx;
        }
        if (from && next >= 0) prefetch_tile<T, d, degree>(from, tiles.reach + next * kCorners<d>);
        if (to) prefetch_tile<T, d, degree>(to, tiles.reach + s * kCorners<d>);
        if (to) std::fill(std::begin(written), std::end(written), T(0));
        for_chunks(blocks, s, [&](int64_t begin, int64_t end) {
            const int count = int(end - begin);
            for (int at = 0; at < count; at += kBatch) {
                ahead.from(begin + at, [&](int64_t place) {
                    prefetch(on.particles.x, on.particles.stride, d, blocks.order[place]);
                });
                alignas(64) T x[d * kBatch];
                indices[at / kBatch] = BatchIndices(blocks.order, begin + at, end);
                indices[at / kBatch].fetch(on.particles.x, on.particles.stride, d, x);
                places.compute(x, on.lattice, block, at);
            }
            fetch_ahead(begin);
            if (from) gather_slopes(read, places, count, gradient);
            if (to)  // between gather and work, so that gradients are through to the cache when they are asked for
                for (int at = 0; at < count; at += kBatch) scatter.patterns(places, on.lattice.inv_dx, at);
            for (int at = 0; at < count; at += kBatch) {
                const int own = indices[at / kBatch].count;
                if (own < kBatch)
                    for (T* row = gradient + at; row < std::end(gradient); row += kRow)
                        std::fill(row + own, row + kBatch, row[own - 1]);
                batch.gradient = gradient + at;
                work(batch, indices[at / kBatch], begin + at, s);
                if (to) scatter.take(batch, at);
            }
            if (count > kBatch) fetch_ahead(begin + kBatch);
            if (to) scatter.add(places, count, written);
        });
        if (to) add_tile<T, d, degree>(written, tiles.reach + s * kCorners<d>, to);
        stream_end();  // work may have stored past the cache
    };
    if (to)
        for_coloured(tiles.colours, on.particles.count, block_at_work);
    else
        for_blocks(blocks.count, on.particles.count, block_at_work);
}

}  // namespace continua
