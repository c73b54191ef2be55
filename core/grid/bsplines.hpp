// Uniform B-splines of degree 1, 2, 3 on K = degree + 1 nodes per axis. J15 (6.19), (6.27), A.6.2.
#pragma once

#include "../math/simd.hpp"

namespace continua {

template <int degree>
struct BSpline {
    static_assert(degree >= 1 && degree <= 3);
    static constexpr int K = degree + 1;
    // The first node of the stencil is floor(q - shift), q the position in units of dx.
    static constexpr double shift = 0.5 * (degree - 1);
    // sum_i w r r^T = spread dx^2 I for degree 2 and 3; degree 1 has no constant and uses gradients instead.
    static constexpr double spread = degree == 2 ? 0.25 : 1.0 / 3.0;

    // f: distance from the first node in units of dx. dw is the derivative in the particle position times dx.
    template <class V>
    static void weights(const V& f, V* w, V* dw) {
        if constexpr (degree == 1) {
            w[0] = V(1) - f, w[1] = f;
            dw[0] = V(-1), dw[1] = V(1);
        } else if constexpr (degree == 2) {
            const V z = f - V(1), a = V(0.5f) - z, b = V(0.5f) + z;
            w[0] = V(0.5f) * a * a, w[1] = V(0.75f) - z * z, w[2] = V(0.5f) * b * b;
            dw[0] = -a, dw[1] = V(-2) * z, dw[2] = b;
        } else {
            using T = Scalar<V>;
            const V b = f - V(1), a = V(1) - b, a2 = a * a, b2 = b * b;
            const V sixth = V(T(1) / T(6)), two_thirds = V(T(2) / T(3));
            w[0] = sixth * a2 * a, w[1] = two_thirds - b2 + V(0.5f) * b2 * b;
            w[2] = two_thirds - a2 + V(0.5f) * a2 * a, w[3] = sixth * b2 * b;
            dw[0] = V(-0.5f) * a2, dw[1] = V(1.5f) * b2 - V(2) * b;
            dw[2] = V(2) * a - V(1.5f) * a2, dw[3] = V(0.5f) * b2;
        }
    }
};

}  // namespace continua
