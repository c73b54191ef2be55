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

}  // namespace continua
