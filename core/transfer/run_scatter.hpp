// Particles of one cell to its nodes, with the sums in registers: a tile is touched once per run of particles that share a cell.
//
// With r = k - f a mode of exponent below the degree is a polynomial in the number k of a node times its weight (see Modes), so
// along the outer axes values follow from node to node by forward differences:
//     node (i, j) += w_i w_j R,   R -> R + R_y along j,   R -> R + R_x along i
// where R is a row of nodes along the last axis with four channels each, already times the weights there. The highest mode of an
// axis is a difference D without weights: its particles are summed first and differences taken once per run.
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
    void compute(const Places<T, d, degree>& places, int at) {
        using V = Lanes<T>;
        for (int a = 0; a < d; ++a)
            for (int lane = at; lane < at + kBatch; lane += lanes_of<V>()) {
                V w[K];
                BSpline<degree>::weights(load<V>(places.f[a] + lane), w);
                for (int k = 0; k < K; ++k) store(w[k], axis[a][k] + lane);
            }
        combine(at);
    }
    // After a change of the weights of axes.
    void combine(int at) {
        using V = Lanes<T>;
        for (int lane = at; lane < at + kBatch; lane += lanes_of<V>())
            for (int i = 0; i < K0; ++i)
                for (int j = 0; j < K; ++j) {
                    V w = load<V>(axis[d - 2][j] + lane);
                    if constexpr (d == 3) w *= load<V>(axis[0][i] + lane);
                    store(w, outer[i * K + j] + lane);
                }
        const T* rows[K];
        for (int k = 0; k < K; ++k) rows[k] = axis[d - 1][k] + at;
        to_records<T, K>(reinterpret_cast<const T* const(&)[K]>(rows), last[at], 4);
    }
};

// Records hold, for exponents below the degree, forward differences from node 0 (see `to_differences`).
template <class T, int d, int degree, ModeSet set, class Record>
inline void scatter_runs(const Places<T, d, degree>& places, const RunWeights<T, d, degree>& weights, int count,
                         const Record* records, T* tile) {
    constexpr int K = degree + 1, K0 = d == 3 ? K : 1, S = Places<T, d, degree>::S;
    using M = Modes<set, d, degree>;
    constexpr int n = M::n, D = degree;
    for_runs(places.node, count, [&](int begin, int end) {
        T* corner = tile + 4 * places.node[begin];
        for_node_packs<T, K>([&]<int G>(int first) {
            using Q = Pack<T, G>;
            // Polynomials in the node number k and differences along the last axis: 1, k, k (k - 1) / 2 and D.
            const Q k([&](auto i) { return T(first + int(i) / 4); });
            const Q pairs = Q(T(0.5)) * k * (k - Q(1));
            const Q difference([&](auto i) {
                const int node = first + int(i) / 4;
                return node <= degree ? BSpline<degree>::difference(node, T(1)) : T(0);
            });
            Q acc[K0][K], along_x[K], along_y[K0], along_both = Q(0);
            for (auto& line : acc)
                for (auto& q : line) q = Q(0);
            for (auto& q : along_x) q = Q(0);
            for (auto& q : along_y) q = Q(0);
            for (int p = begin; p < end; ++p) {
                const Q w = spread<G>(weights.last[p] + first);
                auto row = [&]<int e0, int e1>() {
                    auto mode = [&](int slot) { return repeat<G>(records[p].c[slot]); };
                    Q r = mode(M::slot(e0, e1, 0));
                    if constexpr (degree > 1 && M::has(e0, e1, 1)) r += k * mode(M::slot(e0, e1, 1));
                    if constexpr (degree > 2 && M::has(e0, e1, 2)) r += pairs * mode(M::slot(e0, e1, 2));
                    r *= w;
                    if constexpr (M::has(e0, e1, D)) r += difference * mode(M::slot(e0, e1, D));
                    return r;
                };
                Q R[n][n];
                static_for<n * n>([&](auto e) {
                    if constexpr (M::has(e / n, e % n, 0)) R[e / n][e % n] = row.template operator()<e / n, e % n>();
                });
                if constexpr (M::has(D, 0, 0)) {
                    for (int j = 0; j < K; ++j) {
                        along_x[j] += Q(weights.axis[d - 2][j][p]) * R[D][0];
                        static_for<D>([&](auto e) {
                            if constexpr (e + 1 < D && M::has(D, e + 1, 0)) R[D][e] += R[D][e + 1];
                        });
                    }
                    if constexpr (M::has(D, D, 0)) along_both += R[D][D];
                }
                for (int i = 0; i < K0; ++i) {
                    if constexpr (M::has(0, D, 0)) {
                        if constexpr (d == 3)
                            along_y[i] += Q(weights.axis[0][i][p]) * R[0][D];
                        else
                            along_y[i] += R[0][D];
                    }
                    Q r[n];
                    static_for<D>([&](auto e) {
                        if constexpr (M::has(0, e, 0)) r[e] = R[0][e];
                    });
                    for (int j = 0; j < K; ++j) {
                        acc[i][j] += Q(weights.outer[i * K + j][p]) * r[0];
                        static_for<D>([&](auto e) {
                            if constexpr (e + 1 < D && M::has(0, e + 1, 0)) r[e] += r[e + 1];
                        });
                    }
                    static_for<n * n>([&](auto e) {
                        constexpr int e0 = e / n, e1 = e % n;
                        if constexpr (e0 + 1 < D && M::has(e0 + 1, e1, 0)) R[e0][e1] += R[e0 + 1][e1];
                    });
                }
            }
            for (int i = 0; i < K0; ++i)
                for (int j = 0; j < K; ++j) {
                    Q sum = acc[i][j];
                    if constexpr (M::has(D, 0, 0)) sum += BSpline<degree>::difference(i, along_x[j]);
                    if constexpr (M::has(0, D, 0)) sum += BSpline<degree>::difference(j, along_y[i]);
                    if constexpr (M::has(D, D, 0))
                        sum += BSpline<degree>::difference(i, BSpline<degree>::difference(j, along_both));
                    T* to = corner + 4 * ((i * S * (d == 3) + j) * S + first);
                    (Q(to, stdx::element_aligned) + sum).copy_to(to, stdx::element_aligned);
                }
        });
    });
}

// Modes in powers of r = k - f to forward differences over k from node 0, along every axis in turn: of c0 + c1 r + c2 (r^2 - 1/3)
// these are c0 - f c1 + (f^2 - 1/3) c2, c1 + (1 - 2 f) c2 and 2 c2.
template <class T, int d, int degree, ModeSet set, class Record>
inline void to_differences(const Places<T, d, degree>& places, int count, Record* records) {
    using M = Modes<set, d, degree>;
    constexpr int n = M::n;
    for (int p = 0; p < count; ++p) {
        auto quad = [&](int slot) { return Quad<T>(records[p].c[slot], stdx::element_aligned); };
        static_for<3 - (3 - d)>([&](auto axis) {
            constexpr int at = axis + 3 - d;
            const T f = places.f[axis][p];
            static_for<n * n>([&](auto e) {
                constexpr int u = e / n, v = e % n;  // exponents of the other axes
                auto slot = [](int own) {
                    const int e0 = at == 0 ? own : u, e1 = at == 1 ? own : at == 0 ? u : v, e2 = at == 2 ? own : v;
                    return M::has(e0, e1, e2) ? M::slot(e0, e1, e2) : -1;
                };
                if constexpr (degree > 1 && slot(1) >= 0) {
                    Quad<T> c0 = quad(slot(0)) - f * quad(slot(1));
                    if constexpr (degree == 3 && slot(2) >= 0) {
                        const Quad<T> c2 = quad(slot(2));
                        c0 += (f * f - T(1) / T(3)) * c2;
                        (quad(slot(1)) + (T(1) - T(2) * f) * c2).copy_to(records[p].c[slot(1)], stdx::element_aligned);
                        (T(2) * c2).copy_to(records[p].c[slot(2)], stdx::element_aligned);
                    }
                    c0.copy_to(records[p].c[slot(0)], stdx::element_aligned);
                }
            });
        });
    }
}

}  // namespace continua
