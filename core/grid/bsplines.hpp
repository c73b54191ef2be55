// Uniform B-splines of degree 1, 2, 3 on K = degree + 1 nodes per axis. J15 (6.19), (6.27), A.6.2.
#pragma once

#include "../math/simd.hpp"

namespace continua {

// Per axis, with r = (x_i - x_p)/dx, the gradient of a weight splits into
//     dx dw/dx_p = share w r + e
// where the first part is the moment that APIC needs anyway (and all that the MLS form keeps) and e is a correction
// without sum and first moment: kappa (1, -2, 1) for degree 2, and for degree 1 the whole gradient (-1, 1).
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
    // The factor of the constant pattern of e (degree 1 and 2).
    template <class V>
    static V kappa(const V& f) {
        if constexpr (degree == 2) {
            const V z = f - V(1);
            return V(0.5f) * z * (V(4) * z * z - V(1));
        } else {
            return V(1);
        }
    }
    // e itself for degree 3, from the derivative of the weights.
    template <class V>
    static void correction(const V& f, const V* w, V* e) {
        static_assert(degree == 3);
        const V b = f - V(1), a = V(1) - b, a2 = a * a, b2 = b * b;
        const V slope[4] = {V(-0.5f) * a2, V(1.5f) * b2 - V(2) * b, V(2) * a - V(1.5f) * a2, V(0.5f) * b2};
        for (int k = 0; k < 4; ++k) e[k] = slope[k] - V(3) * w[k] * (V(Scalar<V>(k)) - f);
    }
};

}  // namespace continua
