// Uniform B-splines of degree 1, 2, 3 on K = degree + 1 nodes per axis. J15 (6.19), (6.27), A.6.2.
#pragma once

#include "../math/simd.hpp"

namespace continua {

// Per axis, with r = (x_i - x_p)/dx, the gradient of a weight splits into
//     dx dw/dx_p = share w r + e
// where the first part is the moment that APIC needs anyway (and all that the MLS form keeps) and e = kappa D is a multiple
// of the difference D of the order of the spline: (-1, 1), (1, -2, 1), (-1, 3, -3, 1).
template <int degree>
struct BSpline {
    static_assert(degree >= 1 && degree <= 3);
    static constexpr int K = degree + 1;
    // The first node of the stencil is floor(q - shift), q the position in units of dx.
    static constexpr double shift = 0.5 * (degree - 1);
    // share = dx^2 / sum_i w r^2, the inverse of the constant spread; degree 1 has no constant.
    static constexpr double share = degree == 1 ? 0.0 : degree == 2 ? 4.0 : 3.0;

    // f: distance from the first node in units of dx.
    template <class V>
    static void weights(const V& f, V* w) {
        if constexpr (degree == 1) {
            w[0] = V(1) - f, w[1] = f;
        } else if constexpr (degree == 2) {
            const V z = f - V(1), a = V(0.5f) - z, b = V(0.5f) + z;
            w[0] = V(0.5f) * a * a, w[1] = V(0.75f) - z * z, w[2] = V(0.5f) * b * b;
        } else {
            using T = Scalar<V>;
            const V b = f - V(1), a = V(1) - b, a2 = a * a, b2 = b * b;
            const V sixth = V(T(1) / T(6)), two_thirds = V(T(2) / T(3));
            w[0] = sixth * a2 * a, w[1] = two_thirds - b2 + V(0.5f) * b2 * b;
            w[2] = two_thirds - a2 + V(0.5f) * a2 * a, w[3] = sixth * b2 * b;
        }
    }
    // Their slopes dx dw/dx_p.
    template <class V>
    static void slopes(const V& f, V* g) {
        if constexpr (degree == 1) {
            g[0] = V(-1), g[1] = V(1);
        } else if constexpr (degree == 2) {
            const V z = f - V(1);
            g[0] = z - V(0.5f), g[1] = V(-2) * z, g[2] = z + V(0.5f);
        } else {
            const V b = f - V(1), a = V(1) - b, a2 = a * a, b2 = b * b;
            g[0] = V(-0.5f) * a2, g[1] = V(1.5f) * b2 - V(2) * b, g[2] = V(2) * a - V(1.5f) * a2, g[3] = V(0.5f) * b2;
        }
    }
    // D at node k, times t.
    template <class V>
    static V difference(int k, const V& t) {
        using T = Scalar<V>;
        if constexpr (degree == 1)
            return k == 0 ? V(-t) : t;
        else if constexpr (degree == 2)
            return k == 1 ? V(V(T(-2)) * t) : t;
        else
            return k == 0 ? V(-t) : k == 3 ? t : V(V(T(k == 1 ? 3 : -3)) * t);
    }
    // Factor of D in the gradient.
    template <class V>
    static V kappa(const V& f) {
        if constexpr (degree == 1) {
            return V(1);
        } else if constexpr (degree == 2) {
            const V z = f - V(1);
            return V(0.5f) * z * (V(4) * z * z - V(1));
        } else {
            const V b = (f - V(1)) * (V(2) - f);
            return V(0.5f) * b * b;
        }
    }
    // w s = norm D for the highest orthogonal polynomial s of the nodes, scaled so that its leading coefficient is 1.
    template <class V>
    static V norm(const V* w) {
        using T = Scalar<V>;
        if constexpr (degree == 1)
            return w[0] * w[1];
        else if constexpr (degree == 2)
            return V(2) * w[0] * w[1] * w[2] / (w[1] * w[2] + V(4) * w[0] * w[2] + w[0] * w[1]);
        else {
            const V outer = w[0] * w[3], inner = w[1] * w[2];
            return V(T(6)) * outer * inner / (inner * (w[0] + w[3]) + V(9) * outer * (w[1] + w[2]));
        }
    }
    // c = down sum D v for the same polynomial.
    static constexpr double down = degree == 1 ? 1.0 : degree == 2 ? 0.5 : 1.0 / 6.0;
};

}  // namespace continua
