// Velocity modes of a particle: tensor products of one pattern per axis. G20 (2.1), (2.14), appendix A.
//
// In units of dx, with r = (x_i - x_p)/dx, the patterns of a spline of degree p on its p + 1 nodes are
//   0        w               constant velocity
//   1        w r             linear (p >= 2)
//   2        w (r^2 - 1/3)   quadratic (p = 3)
//   p        D               the p-th difference: (-1, 1), (1, -2, 1) or (-1, 3, -3, 1)
// They are mass-orthogonal to each other: pattern k is w s_k up to a factor, s_k the k-th orthogonal polynomial, and D is so for
// the highest one without any division. The same patterns serve both ways:
//   P2G  node momentum = sum_e m c_e prod_a up(e_a) pattern(e_a)       G2P  c_e = sum_nodes prod_a down(e_a) pattern(e_a) v
// The gradient of a weight is dx dw/dx_p = share w r + kappa D (see BSpline), so forces and velocity gradients are modes too.
#pragma once

#include "particles.hpp"

namespace continua {

// How C becomes node momentum. For degree 1 the spread D of a particle changes as it moves, so it matters what is kept.
enum class Affine {
    none,
    gradient,  // C: v + C r
    moment,    // degree 1: B = C D, conserves angular momentum (J15 5.8)
    spin       // degree 1: skew part of B only, turned into a rotation (RPIC, J15 5.4)
};

// Which modes a kernel carries; each set contains the ones before it.
enum class ModeSet {
    value,     // constants
    affine,    // and one linear factor
    gradient,  // and one difference D: what the gradient form of the force needs
    products,  // and products of linear factors
    full       // all (degree + 1)^d
};

template <int count, class Function>
constexpr void static_for(Function&& function) {
    [&]<int... i>(std::integer_sequence<int, i...>) {
        (function(std::integral_constant<int, i>{}), ...);
    }(std::make_integer_sequence<int, count>{});
}

template <ModeSet set, int d, int degree>
struct Modes {
    static constexpr int n = degree + 1;
    static constexpr int box = d == 2 ? n * n : n * n * n;

    // Exponents of the axes; in 2D the first one is 0.
    static constexpr bool has(int e0, int e1, int e2) {
        const int used = (e0 > 0) + (e1 > 0) + (e2 > 0), sum = e0 + e1 + e2;
        const bool linear = e0 <= 1 && e1 <= 1 && e2 <= 1;
        if (d == 2 && e0 > 0) return false;
        switch (set) {
            case ModeSet::value: return used == 0;
            case ModeSet::affine: return used <= 1 && linear;
            case ModeSet::gradient: return used <= 1 && (linear || sum == degree);
            case ModeSet::products: return linear || (used == 1 && sum == degree);
            default: return true;
        }
    }
    static constexpr bool has_plane(int e1, int e2) { return has(0, e1, e2); }
    static constexpr bool has_row(int e2) { return has(0, 0, e2); }

    static constexpr int index(int e0, int e1, int e2) { return (e0 * n + e1) * n + e2; }
    struct Slots {
        int of[n * n * n] = {};
        int count = 0;
    };
    static constexpr Slots slots = [] {
        Slots s;
        for (int e0 = 0; e0 < n; ++e0)
            for (int e1 = 0; e1 < n; ++e1)
                for (int e2 = 0; e2 < n; ++e2) s.of[index(e0, e1, e2)] = has(e0, e1, e2) ? s.count++ : -1;
        return s;
    }();
    static constexpr int count = slots.count;
    static constexpr int slot(int e0, int e1, int e2) { return slots.of[index(e0, e1, e2)]; }
    // The mode with exponent e along one axis (of d).
    static constexpr int along(int axis, int e) {
        const int at = axis + 3 - d;
        return slot(at == 0 ? e : 0, at == 1 ? e : 0, at == 2 ? e : 0);
    }
};

// One record of four channels per mode: what a particle gives to its nodes, or their sums.
template <class T, int count>
struct alignas(64) ModeRecord {
    T c[count][4];
};

// Factors on the channels of a mode, one for all of them or one for each velocity component.
template <class T, int factors>
struct ComponentFactors {
    alignas(64) T of[factors][kBatch];

    Quad<T> quad(int j) const {
        if constexpr (factors == 1)
            return Quad<T>(of[0][j]);
        else
            return Quad<T>([&](auto c) { return c < factors ? of[c < factors ? int(c) : 0][j] : T(0); });
    }
};

// Adds G records, of particles from j on that share their nodes, to a tile.
template <int G, ModeSet set, class Stencil, class Record>
inline void scatter_pack(typename Stencil::Scalar* tile, const Stencil& stencils, int j, const Record* records) {
    using T = typename Stencil::Scalar;
    using Q = Pack<T, G>;
    constexpr int d = Stencil::dimension, K = Stencil::K, S = Stencil::S, A = d - 2, B = d - 1, kNode = Stencil::kNode;
    using M = Modes<set, d, Stencil::degree>;
    constexpr int n = M::n, stride = sizeof(Record) / sizeof(T);
    const auto st = stencils.template scatter_weights<G>(j, set == ModeSet::full);
    T* node = tile + kNode * stencils.node[j];
    auto mode = [&](int slot) { return load_records<G>(records->c[slot], stride); };
    auto rows = [&](T* at, const Q(&plane)[n][n]) {
        for (int a = 0; a < K; ++a) {
            Q row[n];
            static_for<n>([&](auto e2) {
                if constexpr (M::has_row(e2)) {
                    row[e2] = st.template times<0>(A, a, plane[0][e2]);
                    static_for<n>([&](auto e1) {
                        if constexpr (e1 > 0 && M::has_plane(e1, e2)) row[e2] += st.template times<e1>(A, a, plane[e1][e2]);
                    });
                }
            });
            for (int b = 0; b < K; ++b) {
                T* to = at + kNode * (a * S + b);
                Q sum(to, stdx::element_aligned);
                static_for<n>([&](auto e2) {
                    if constexpr (M::has_row(e2)) sum += st.template times<e2>(B, b, row[e2]);
                });
                sum.copy_to(to, stdx::element_aligned);
            }
        }
    };
    Q plane[n][n];
    if constexpr (d == 2) {
        static_for<n * n>([&](auto k) {
            constexpr int e1 = k / n, e2 = k % n;
            if constexpr (M::has_plane(e1, e2)) plane[e1][e2] = mode(M::slot(0, e1, e2));
        });
        rows(node, plane);
    } else {
        for (int i = 0; i < K; ++i) {
            static_for<n * n>([&](auto k) {
                constexpr int e1 = k / n, e2 = k % n;
                if constexpr (M::has_plane(e1, e2)) {
                    plane[e1][e2] = st.template times<0>(0, i, mode(M::slot(0, e1, e2)));
                    static_for<n>([&](auto e0) {
                        if constexpr (e0 > 0 && M::has(e0, e1, e2))
                            plane[e1][e2] += st.template times<e0>(0, i, mode(M::slot(e0, e1, e2)));
                    });
                }
            });
            rows(node + kNode * i * S * S, plane);
        }
    }
}

// Sums over the nodes of particles j ... j + G - 1, which share them: one per mode. With `lightest` also the
// smallest value of each channel, the mass among them.
template <int G, ModeSet set, bool lightest = false, class Stencil, class Record>
inline void gather_pack(const typename Stencil::Scalar* tile, const Stencil& stencils, int j, Record* records,
                        ModeRecord<typename Stencil::Scalar, 1>* smallest = nullptr) {
    using T = typename Stencil::Scalar;
    using Q = Pack<T, G>;
    constexpr int d = Stencil::dimension, K = Stencil::K, S = Stencil::S, A = d - 2, B = d - 1;
    using M = Modes<set, d, Stencil::degree>;
    constexpr int n = M::n, stride = sizeof(Record) / sizeof(T);
    const auto st = stencils.template gather_weights<G>(j, set == ModeSet::full);
    const T* node = tile + 4 * stencils.node[j];
    [[maybe_unused]] Q least = Q(std::numeric_limits<T>::max());
    auto rows = [&](const T* at, Q(&plane)[n][n]) {
        for (int a = 0; a < K; ++a) {
            Q row[n];
            static_for<n>([&](auto e2) { row[e2] = Q(0); });
            for (int b = 0; b < K; ++b) {
                const Q v = repeat<G>(at + 4 * (a * S + b));
                if constexpr (lightest) least = select(v < least, v, least);
                static_for<n>([&](auto e2) {
                    if constexpr (M::has_row(e2)) row[e2] += st.template times<e2>(B, b, v);
                });
            }
            static_for<n * n>([&](auto k) {
                constexpr int e1 = k / n, e2 = k % n;
                if constexpr (M::has_plane(e1, e2)) plane[e1][e2] += st.template times<e1>(A, a, row[e2]);
            });
        }
    };
    Q sums[M::count];
    for (auto& sum : sums) sum = Q(0);
    auto clear = [](Q(&plane)[n][n]) {
        for (auto& line : plane)
            for (auto& q : line) q = Q(0);
    };
    Q plane[n][n];
    if constexpr (d == 2) {
        clear(plane);
        rows(node, plane);
        static_for<n * n>([&](auto k) {
            if constexpr (M::has_plane(k / n, k % n)) sums[M::slot(0, k / n, k % n)] = plane[k / n][k % n];
        });
    } else {
        for (int i = 0; i < K; ++i) {
            clear(plane);
            rows(node + 4 * i * S * S, plane);
            static_for<n * n>([&](auto k) {
                constexpr int e1 = k / n, e2 = k % n;
                static_for<n>([&](auto e0) {
                    if constexpr (M::has(e0, e1, e2))
                        sums[M::slot(e0, e1, e2)] += st.template times<e0>(0, i, plane[e1][e2]);
                });
            });
        }
    }
    for (int k = 0; k < M::count; ++k) store_records<G, T>(sums[k], records[j].c[k], stride);
    if constexpr (lightest) store_records<G, T>(least, smallest[j].c[0], sizeof(ModeRecord<T, 1>) / sizeof(T));
}

}  // namespace continua
