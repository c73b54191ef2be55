// Sums over the nodes of many particles of one cell at once.
//
// All particles of a cell share their nodes, and a spline interpolates the node values of a cell by one polynomial. So the
// nodes are turned into its coefficients along the first axes once per cell, and every lane of a vector is one particle:
//     degree 2, g = f - 1:  c0 = v1 + c2/4,  c1 = (v2 - v0)/2,  c2 = (v0 - 2 v1 + v2)/2
//         value  c0 + g (c1 + g c2)      linear  c1 + g (3 - 4 g^2) c2      slope  c1 + 2 g c2      highest  c2
// "linear" is share sum w r v, the C of APIC; "slope" the derivative of the interpolated field; the coefficients themselves are
// the higher modes of PolyPIC (see Modes). Along the last axis nodes lie side by side, where weights are cheaper.
#pragma once

#include "modes.hpp"
#include "runs.hpp"

namespace continua {

// What stands for the exponent 1 of a mode.
enum class Linear { moment, slope };

// Patterns of lanes of particles along one axis whose nodes have become polynomial coefficients.
template <class L, int degree, Linear kind>
struct PolynomialAxis {
    using T = Scalar<L>;
    static constexpr int n = degree + 1;
    L g, second, third, square;  // factors of the coefficients 2 and 3 in the linear pattern, of 3 in the quadratic one

    PolynomialAxis(const L& f, bool quadratic) {
        g = degree == 1 ? f : L(f - L(1));
        if constexpr (degree == 2) second = kind == Linear::slope ? L(g + g) : L(g * (L(3) - L(4) * g * g));
        if constexpr (degree == 3) {
            const L g3 = L(3) * g * g;
            second = g + g;
            third = kind == Linear::slope ? g3 : L(g3 * g * (L(2) - g));
            if (quadratic) {
                L w[n], norm = L(0);
                BSpline<degree>::weights(f, w);
                for (int k = 0; k < n; ++k) {
                    const L r = L(T(k)) - f, s = r * r - L(T(1) / T(3));
                    norm += w[k] * s * s;
                }
                square = g * g * g * ((L(2) - g) * (L(2) - g) - L(T(1) / T(3))) / norm;
            }
        }
    }
    // Node values to coefficients.
    template <class V>
    static void transform(V* v) {
        if constexpr (degree == 1) {
            v[1] -= v[0];
        } else if constexpr (degree == 2) {
            const V half = V(T(0.5)), c2 = half * (v[0] + v[2]) - v[1], c1 = half * (v[2] - v[0]);
            v[0] = v[1] + V(T(0.25)) * c2, v[1] = c1, v[2] = c2;
        } else {
            const V half = V(T(0.5)), sixth = V(T(1) / T(6));
            const V c1 = half * (v[2] - v[0]), c2 = half * (v[0] + v[2]) - v[1];
            const V c3 = sixth * (v[3] - v[0]) + half * (v[1] - v[2]);
            v[0] = v[1] + V(T(1) / T(3)) * c2, v[1] = c1, v[2] = c2, v[3] = c3;
        }
    }
    template <int e, class Coefficient>
    L sum(Coefficient&& c) const {
        if constexpr (e == 0) {
            if constexpr (degree == 1)
                return c(0) + g * c(1);
            else if constexpr (degree == 2)
                return c(0) + g * (c(1) + g * c(2));
            else
                return c(0) + g * (c(1) + g * (c(2) + g * c(3)));
        } else if constexpr (e == degree) {
            return c(degree);
        } else if constexpr (e == 1) {
            if constexpr (degree == 2)
                return c(1) + second * c(2);
            else
                return c(1) + second * c(2) + third * c(3);
        } else {
            return c(2) + square * c(3);
        }
    }
};

// Patterns of lanes of particles on n nodes along one axis.
template <class L, int n_, int degree>
struct WeightedAxis {
    static constexpr int n = n_;
    L w[n], linear[n], square[degree == 3 ? n : 1], highest[n];

    template <int e>
    const L& at(int k) const {
        if constexpr (e == 0)
            return w[k];
        else if constexpr (e == degree)
            return highest[k];
        else if constexpr (e == 1)
            return linear[k];
        else
            return square[k];
    }
    template <int e, class Value>
    L sum(Value&& v) const {
        L total = at<e>(0) * v(0);
        for (int k = 1; k < n; ++k) total += at<e>(k) * v(k);
        return total;
    }
};

// The patterns of a particle at distance f from the first of its degree + 1 nodes.
template <class L, int degree, Linear kind>
inline WeightedAxis<L, degree + 1, degree> weighted_axis(const L& f, bool quadratic) {
    using T = Scalar<L>;
    using Spline = BSpline<degree>;
    WeightedAxis<L, degree + 1, degree> axis;
    Spline::weights(f, axis.w);
    const L kappa = kind == Linear::slope ? Spline::kappa(f) : L(0);
    L norm = L(0);
    for (int k = 0; k <= degree; ++k) {
        const L r = L(T(k)) - f;
        axis.highest[k] = Spline::difference(k, L(T(Spline::down)));
        if constexpr (degree > 1) {
            axis.linear[k] = L(T(Spline::share)) * axis.w[k] * r;
            if constexpr (kind == Linear::slope) axis.linear[k] += Spline::difference(k, kappa);
        }
        if constexpr (degree == 3)
            if (quadratic) {
                const L s = r * r - L(T(1) / T(3));
                axis.square[k] = axis.w[k] * s;
                norm += axis.square[k] * s;
            }
    }
    if constexpr (degree == 3)
        if (quadratic)
            for (auto& s : axis.square) s /= norm;
    return axis;
}

// In 2D there is no first axis.
template <class L>
struct NoAxis {
    static constexpr int n = 1;
    template <int e, class Value>
    L sum(Value&& v) const {
        return v(0);
    }
};

// All sums of a set of modes: value(i, j, k) are coefficients or nodes along the three axes; put(slot, sum).
template <ModeSet set, int d, int degree, class L, class X, class Y, class Z, class Value, class Put>
inline void contract(const X& x, const Y& y, const Z& z, Value&& value, Put&& put) {
    using M = Modes<set, d, degree>;
    constexpr int n = M::n;
    L sums[M::count];
    static_for<Z::n>([&](auto k) {
        L line[n][Y::n];
        static_for<n>([&](auto e0) {
            if constexpr (M::has(e0, 0, 0))
                for (int j = 0; j < Y::n; ++j) line[e0][j] = x.template sum<e0>([&](int i) { return value(i, j, k); });
        });
        static_for<n * n>([&](auto e) {
            constexpr int e0 = e / n, e1 = e % n;
            if constexpr (M::has(e0, e1, 0)) {
                const L plane = y.template sum<e1>([&](int j) { return line[e0][j]; });
                static_for<n>([&](auto e2) {
                    if constexpr (M::has(e0, e1, e2)) {
                        L& sum = sums[M::slot(e0, e1, e2)];
                        if constexpr (k == 0)
                            sum = z.template at<e2>(k) * plane;
                        else
                            sum += z.template at<e2>(k) * plane;
                    }
                });
            }
        });
    });
    static_for<M::count>([&](auto slot) { put(slot, sums[slot]); });
}

// f<G>(first) for packs of G nodes that cover a row of them from `first` on; the last pack may reach beyond the row.
template <class T, int nodes, class Function>
inline void for_node_packs(Function&& f) {
    constexpr int kWidest = lanes_of<Lanes<T>>() >= 16 ? 4 : lanes_of<Lanes<T>>() >= 8 ? 2 : 1;
    auto next = [&]<int first>(auto& self, std::integral_constant<int, first>) {
        constexpr int left = nodes - first;
        if constexpr (left > 0) {
            constexpr int G = kWidest >= 4 && left > 2 ? 4 : kWidest >= 2 && left > 1 ? 2 : 1;
            f.template operator()<G>(first);
            self(self, std::integral_constant<int, first + G>{});
        }
    };
    next(next, std::integral_constant<int, 0>{});
}

// Numbers in a row of nodes with what the last pack reaches beyond it.
template <int nodes>
inline constexpr int kRowNumbers = 4 * (nodes <= 2 ? nodes : nodes <= 4 ? 4 : nodes + 3);

// What the particles of a chunk find on the grid, component-major: one row per mode and component.
template <class T, int d, int modes>
struct ChunkSums {
    alignas(64) T of[modes][d][kRow] = {};
    alignas(64) T change[d][kRow], shift[d][kRow];  // of the velocity, and of places
    alignas(64) T lightest[kRow], crowd[kRow];      // mass of the lightest node, mass of the cell
    bool shifted = false;

    // Lanes of a batch without a particle repeat its last one.
    void pad(int at, int count) {
        using V = Lanes<T>;
        if (count == kBatch) return;
        auto repeat_last = [&](T* row) {
            for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
                T* own = row + at + lane;
                store(select(first_lanes<V>(count - lane), load<V>(own), V(row[at + count - 1])), own);
            }
        };
        for (auto& mode : of)
            for (auto& row : mode) repeat_last(row);
        for (int i = 0; i < d; ++i) repeat_last(change[i]), repeat_last(shift[i]);
        repeat_last(lightest), repeat_last(crowd);
    }
};

// sums (modes, d, kRow): what the particles of a chunk find in a tile, one row per mode of the set and component.
template <class T, int d, int degree, ModeSet set, Linear kind>
inline void gather_cells(const T* tile, const Places<T, d, degree>& places, int count, T (*sums)[d][kRow]) {
    using L = CellLanes<T>;
    using Axis = PolynomialAxis<L, degree, kind>;
    constexpr int K = degree + 1, K0 = d == 3 ? K : 1, S = Places<T, d, degree>::S;
    constexpr bool quadratic = set == ModeSet::full;
    alignas(64) T c[K0][K][kRowNumbers<K>];
    for_runs(places.node, count, [&](int begin, int end) {
        const T* corner = tile + 4 * places.node[begin];
        for_node_packs<T, K>([&]<int G>(int first) {
            using Q = Pack<T, G>;
            Q v[K0][K];
            for (int i = 0; i < K0; ++i) {
                for (int j = 0; j < K; ++j) v[i][j] = Q(corner + 4 * ((i * S + j) * S * (d == 3) + (d == 2) * j * S + first), stdx::element_aligned);
                Axis::transform(v[i]);
            }
            for (int j = 0; j < K; ++j) {
                Q column[K0];
                for (int i = 0; i < K0; ++i) column[i] = v[i][j];
                if constexpr (d == 3) Axis::transform(column);
                for (int i = 0; i < K0; ++i) column[i].copy_to(c[i][j] + 4 * first, stdx::element_aligned);
            }
        });
        for (int p = begin; p < end; p += lanes_of<L>()) {
            auto at = [&](int a) { return load<L>(places.f[a] + p); };
            const auto x = [&] {
                if constexpr (d == 3)
                    return Axis(at(0), quadratic);
                else
                    return NoAxis<L>{};
            }();
            const Axis y(at(d - 2), quadratic);
            const auto z = weighted_axis<L, degree, kind>(at(d - 1), quadratic);
            for (int a = 0; a < d; ++a)
                contract<set, d, degree, L>(
                    x, y, z, [&](int i, int j, int k) { return L(c[i][j][4 * k + a]); },
                    [&](int slot, const L& sum) { store(sum, sums[slot][a] + p); });
        }
    });
}

// Velocities at nodes.
template <class T, int d, int degree_>
struct NodeGrid {
    using Scalar = T;
    static constexpr int dimension = d, degree = degree_, kReach = degree;
    using Places = continua::Places<T, d, degree>;
    using Factors = BatchFactors<T, d, degree>;

    template <ModeSet set>
    static void gather(const T* tile, const Places& places, int count, T (*sums)[d][kRow]) {
        gather_cells<T, d, degree, set, Linear::moment>(tile, places, count, sums);
    }
    // The smallest of the last channel, the mass, over the nodes of every particle.
    static void lightest(const T* tile, const Places& places, int count, T* least) {
        constexpr int K = degree + 1, S = Places::S;
        for_runs(places.node, count, [&](int begin, int end) {
            T found = std::numeric_limits<T>::max();
            for (int i = 0; i < (d == 3 ? K : 1); ++i)
                for (int j = 0; j < K; ++j)
                    for (int k = 0; k < K; ++k)
                        found = std::min(found, tile[4 * (places.node[begin] + (i * S * (d == 3) + j) * S + k) + 3]);
            std::fill(least + begin, least + end, found);
        });
    }
    static void crowd(const T*, const Places&, int, T*) {}
};

}  // namespace continua
