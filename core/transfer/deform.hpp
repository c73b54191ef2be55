// F <- A(dt L) F. A = I + dt L as long as that keeps det > 0, else the map of half the step squared (J15 6.4.9);
// or A = exp(dt L), which never inflates the volume of spinning material.
#pragma once

#include "../math/mat.hpp"

namespace continua {

// R(M) = I + M if det(I + M) > 0 else R(M/2)^2.
template <class T, int d>
inline Mat<T, d> safe_map(const Mat<T, d>& M, int depth = 0) {
    const Mat<T, d> A = Mat<T, d>::identity() + M;
    if (determinant(A) > T(0) || depth >= 24) return A;
    const Mat<T, d> half = safe_map(T(0.5) * M, depth + 1);
    return half * half;
}

template <class V, int d>
inline Mat<V, d> safe_map_lanes(const Mat<V, d>& M) {
    Mat<V, d> A = Mat<V, d>::identity() + M;
    const auto good = determinant(A) > V(0);
    if (all(good)) return A;
    using T = Scalar<V>;
    for (int lane = 0; lane < lanes_of<V>(); ++lane) {
        if (good[lane]) continue;
        Mat<T, d> m;
        for (int k = 0; k < d * d; ++k) m.a[k] = M.a[k][lane];
        const Mat<T, d> safe = safe_map(m);
        for (int k = 0; k < d * d; ++k) A.a[k][lane] = safe.a[k];
    }
    return A;
}

// Scaling and squaring with a Taylor polynomial: |M| <= 1 leaves |M/16| <= 1/16, where degree 7 is exact to 1e-16.
template <class V, int d>
inline Mat<V, d> exponential(const Mat<V, d>& M) {
    using T = Scalar<V>;
    constexpr int kSquarings = 4, kDegree = 8;
    const Mat<V, d> X = V(T(1.0 / (1 << kSquarings))) * M, I = Mat<V, d>::identity();
    Mat<V, d> E = I;
    for (int k = kDegree; k >= 1; --k) E = I + V(T(1) / T(k)) * (X * E);
    for (int k = 0; k < kSquarings; ++k) E = E * E;
    return E;
}

}  // namespace continua
