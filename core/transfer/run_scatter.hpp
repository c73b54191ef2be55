// Particles of one cell to its nodes, with the sums in registers: a tile is touched once per run of particles that share a cell.
//
// With r = k - f at node k, a mode of exponent below the degree is a polynomial in r times the weight of the node (see Modes):
//     node (i, j) += w_i w_j sum_e s_e0(r_i) s_e1(r_j) R_e0,e1
// where R is a row of nodes along the last axis with all their channels, already times the weights there. Linear modes alone go
// from node to node by adding their slopes, R -> R + R_y along j and R -> R + R_x along i, once their value is taken at node 0. The
// highest mode of an axis is a difference D without weights: its particles are summed first and differences taken once per run.
#pragma once

#include "cell_gather.hpp"

namespace continua {

// Weights of a chunk: along the last axis side by side for each particle, products of the outer axes, and these themselves.
template <class T, int d, int degree>
struct RunWeights {
    static constexpr int K = degree + 1, K0 = d == 3 ? K : 1;
    alignas(64) T last[kRow][4] = {};
    alignas(64) T outer[K0 * K][kRow];
    alignas(64) T axis[d][K][kRow];

    // From distances of one batch, particles from `at` on.
    template <class Places>
    void compute(const Places& places, int at) {
        using V = Lanes<T>;
        for (int lane = at; lane < at + kBatch; lane += lanes_of<V>()) {
            V w[d][K];
            for (int a = 0; a < d; ++a) BSpline<degree>::weights(load<V>(places.f[a] + lane), w[a]);
            keep(w, lane);
        }
    }
    void square(int at) {
        using V = Lanes<T>;
        for (int lane = at; lane < at + kBatch; lane += lanes_of<V>()) {
            V w[d][K];
            for (int a = 0; a < d; ++a)
                for (int k = 0; k < K; ++k) w[a][k] = load<V>(axis[a][k] + lane), w[a][k] *= w[a][k];
            keep(w, lane);
        }
    }
    // Weights of the lanes of particles from `lane` on.
    template <class V>
    void keep(const V (&w)[d][K], int lane) {
        for (int a = 0; a < d; ++a)
            for (int k = 0; k < K; ++k) store(w[a][k], axis[a][k] + lane);
        for (int i = 0; i < K0; ++i)
            for (int j = 0; j < K; ++j) store(d == 3 ? V(w[0][i] * w[d - 2][j]) : w[d - 2][j], outer[i * K + j] + lane);
        lanes_to_records(w[d - 1], last[lane], 4);
    }
};

// c0 + c1 r + c2 (r^2 - 1/3) of the coefficients that are there; mode(e) gives them.
template <bool first, bool second, class Q, class Mode>
inline Q at_node(const Q& r, Mode&& mode) {
    using T = Scalar<Q>;
    Q sum = mode(std::integral_constant<int, 0>{});
    if constexpr (first) sum += r * mode(std::integral_constant<int, 1>{});
    if constexpr (second) sum += (r * r - Q(T(1) / T(3))) * mode(std::integral_constant<int, 2>{});
    return sum;
}

// Adds a chunk to a tile. Records of the affine and gradient sets hold their value at node 0 instead of at the particle.
// Everything inlined: GCC 12 would call the small functions of large sets of modes with their registers in memory.
template <class T, int d, int degree, ModeSet set, class Record>
[[gnu::flatten]] inline void scatter_runs(const Places<T, d, degree>& places, const RunWeights<T, d, degree>& weights, int count,
                         const Record* records, T* tile) {
    constexpr int K = degree + 1, K0 = d == 3 ? K : 1, S = kSide + degree, D = degree;
    constexpr bool linear = set < ModeSet::products;
    using M = Modes<set, d, degree>;
    using Spline = BSpline<degree>;
    constexpr int n = M::n;
    for_runs(places.node, count, [&](int begin, int end) {
        T* corner = tile + 4 * places.node[begin];
        for_node_packs<T, K>([&]<int G>(int first) {
            using Q = Pack<T, G>;
            const Q k([&](auto i) { return T(first + int(i) / 4); });
            const Q difference([&](auto i) {
                const int node = first + int(i) / 4;
                return node <= degree ? Spline::difference(node, T(1)) : T(0);
            });
            Q acc[K0][K], along_x[K], along_y[K0], along_both = Q(0);
            for (auto& line : acc)
                for (auto& q : line) q = Q(0);
            for (auto& q : along_x) q = Q(0);
            for (auto& q : along_y) q = Q(0);
            for (int p = begin; p < end; ++p) {
                const Q w = spread<G>(weights.last[p] + first);
                const Q r = linear ? k : Q(k - Q(places.f[d - 1][p]));
                Q R[n][n];
                static_for<n * n>([&](auto e) {
                    constexpr int e0 = e / n, e1 = e % n;
                    if constexpr (M::has(e0, e1, 0)) {
                        auto mode = [&](auto e2) { return repeat<G>(records[p].c[M::slot(e0, e1, e2)]); };
                        R[e0][e1] = w * at_node<(D > 1 && M::has(e0, e1, 1)), (D > 2 && M::has(e0, e1, 2))>(r, mode);
                        if constexpr (M::has(e0, e1, D)) R[e0][e1] += difference * mode(std::integral_constant<int, D>{});
                    }
                });
                if constexpr (M::has(D, 0, 0))
                    for (int j = 0; j < K; ++j) {
                        const Q y = linear ? Q(0) : Q(T(j) - places.f[d - 2][p]);
                        along_x[j] += Q(weights.axis[d - 2][j][p]) *
                                      at_node<(D > 1 && M::has(D, 1, 0)), (D > 2 && M::has(D, 2, 0))>(
                                          y, [&](auto e1) { return R[D][e1]; });
                    }
                if constexpr (M::has(D, D, 0)) along_both += R[D][D];
                for (int i = 0; i < K0; ++i) {
                    const Q x = linear || d == 2 ? Q(0) : Q(T(i) - places.f[0][p]);
                    Q line[n];  // of nodes with number i along the first axis
                    static_for<n>([&](auto e1) {
                        if constexpr (M::has(0, e1, 0)) {
                            if constexpr (linear)
                                line[e1] = R[0][e1];
                            else
                                line[e1] = at_node<(D > 1 && M::has(1, e1, 0)), (D > 2 && M::has(2, e1, 0))>(
                                    x, [&](auto e0) { return R[e0][e1]; });
                        }
                    });
                    if constexpr (M::has(0, D, 0)) along_y[i] += d == 3 ? Q(Q(weights.axis[0][i][p]) * line[D]) : line[D];
                    for (int j = 0; j < K; ++j) {
                        const Q outer = Q(weights.outer[i * K + j][p]);
                        if constexpr (linear) {
                            acc[i][j] += outer * line[0];
                            if constexpr (D > 1 && M::has(0, 1, 0)) line[0] += line[1];
                        } else {
                            const Q y = Q(T(j) - places.f[d - 2][p]);
                            acc[i][j] += outer * at_node<(D > 1 && M::has(0, 1, 0)), (D > 2 && M::has(0, 2, 0))>(
                                                     y, [&](auto e1) { return line[e1]; });
                        }
                    }
                    if constexpr (linear && D > 1 && M::has(1, 0, 0)) R[0][0] += R[1][0];
                }
            }
            for (int i = 0; i < K0; ++i)
                for (int j = 0; j < K; ++j) {
                    Q sum = acc[i][j];
                    if constexpr (M::has(D, 0, 0)) sum += Spline::difference(i, along_x[j]);
                    if constexpr (M::has(0, D, 0)) sum += Spline::difference(j, along_y[i]);
                    if constexpr (M::has(D, D, 0)) sum += Spline::difference(i, Spline::difference(j, along_both));
                    T* to = corner + 4 * ((i * S * (d == 3) + j) * S + first);
                    (Q(to, stdx::element_aligned) + sum).copy_to(to, stdx::element_aligned);
                }
        });
    });
}

}  // namespace continua
