// The rotation R of F = R S, i.e. the rotation that maximises tr(R^T F); valid for inverted F too.
// 2D in closed form. 3D: tr(R^T F) = q^T K q for the unit quaternion q of R, so q is the eigenvector of the
// largest eigenvalue of the symmetric traceless 4 x 4 matrix K; that eigenvalue (s_1 + s_2 + s_3) is the largest
// root of  z^4 - 2|F|^2 z^2 - 8 det(F) z + |F|^4 - 4|cof F|^2.
#pragma once

#include "svd.hpp"

namespace continua {

template <class V>
inline Mat<V, 2> rotation_of(const Mat<V, 2>& F) {
    const V a = F(0, 0) + F(1, 1), b = F(1, 0) - F(0, 1);
    const V r = sqrt(a * a + b * b);
    const auto ok = r > V(0);
    const V inv = V(1) / select(ok, r, V(1));
    const V c = select(ok, V(a * inv), V(1)), s = b * inv;
    return {{c, -s, s, c}};
}

namespace detail {

template <class V>
inline Mat<V, 3> rotation_of_quaternion(const V& w, const V& x, const V& y, const V& z) {
    const V two = V(2) / (w * w + x * x + y * y + z * z);
    return {{V(1) - two * (y * y + z * z), two * (x * y - w * z), two * (x * z + w * y),
             two * (x * y + w * z), V(1) - two * (x * x + z * z), two * (y * z - w * x),
             two * (x * z - w * y), two * (y * z + w * x), V(1) - two * (x * x + y * y)}};
}

// Largest root of the quartic for |F| = 1: Newton from the upper bound sqrt(3) decreases monotonically by ever smaller
// steps; one that grows is rounding near a double root and is not taken.
template <class V>
inline V largest_root(const V& J, const V& cofactor_norm2) {
    using T = Scalar<V>;
    const V c1 = V(-8) * J, c0 = V(1) - V(4) * cofactor_norm2;
    V z = V(T(1.7320508075688772935)), last = V(1);
    for (int iteration = 0; iteration < 40; ++iteration) {
        const V z2 = z * z;
        const V value = (z2 - V(2)) * z2 + c1 * z + c0;
        const V slope = V(4) * z * (z2 - V(1)) + c1;
        const V step = value / select(slope > V(0), slope, V(1));
        const auto take = slope > V(0) && abs(step) < last;
        z -= select(take, step, V(0));
        last = select(take, V(abs(step)), V(0));
        if (all(last <= V(2 * std::numeric_limits<T>::epsilon()))) break;
    }
    return z;
}

}  // namespace detail

template <class V>
inline Mat<V, 3> rotation_of(const Mat<V, 3>& F) {
    using T = Scalar<V>;
    const V norm2 = dot(F, F);
    const auto usable = norm2 > V(std::numeric_limits<T>::min() * T(1e6));
    const V inv = V(1) / sqrt(select(usable, norm2, V(1)));
    const Mat<V, 3> A = inv * F;
    const Mat<V, 3> cof = cofactor(A);
    const V z = detail::largest_root(V(determinant(A, cof)), V(dot(cof, cof)));
    // M = K - z I in the order (w, x, y, z); its adjugate is a multiple of q q^T.
    const V m00 = A(0, 0) + A(1, 1) + A(2, 2) - z, m11 = A(0, 0) - A(1, 1) - A(2, 2) - z;
    const V m22 = A(1, 1) - A(0, 0) - A(2, 2) - z, m33 = A(2, 2) - A(0, 0) - A(1, 1) - z;
    const V m01 = A(2, 1) - A(1, 2), m02 = A(0, 2) - A(2, 0), m03 = A(1, 0) - A(0, 1);
    const V m12 = A(0, 1) + A(1, 0), m13 = A(0, 2) + A(2, 0), m23 = A(1, 2) + A(2, 1);
    // 2 x 2 minors of rows (2,3) and of rows (0,1)
    const V p01 = m02 * m13 - m12 * m03, p02 = m02 * m23 - m22 * m03, p03 = m02 * m33 - m23 * m03;
    const V p12 = m12 * m23 - m22 * m13, p13 = m12 * m33 - m23 * m13, p23 = m22 * m33 - m23 * m23;
    const V q01 = m00 * m11 - m01 * m01, q02 = m00 * m12 - m02 * m01, q03 = m00 * m13 - m03 * m01;
    const V q12 = m01 * m12 - m02 * m11, q13 = m01 * m13 - m03 * m11;
    const V a00 = m11 * p23 - m12 * p13 + m13 * p12;
    const V a01 = -(m01 * p23 - m12 * p03 + m13 * p02);
    const V a02 = m01 * p13 - m11 * p03 + m13 * p01;
    const V a03 = -(m01 * p12 - m11 * p02 + m12 * p01);
    const V a11 = m00 * p23 - m02 * p03 + m03 * p02;
    const V a12 = -(m00 * p13 - m01 * p03 + m03 * p01);
    const V a13 = m00 * p12 - m01 * p02 + m02 * p01;
    const V a22 = m33 * q01 - m13 * q03 + m03 * q13;
    const V a23 = -(m23 * q01 - m13 * q02 + m03 * q12);
    const V a33 = m22 * q01 - m12 * q02 + m02 * q12;
    // Take the column with the largest diagonal entry.
    V w = a00, x = a01, y = a02, k = a03, best = abs(a00);
    auto better = abs(a11) > best;
    w = select(better, a01, w), x = select(better, a11, x), y = select(better, a12, y), k = select(better, a13, k);
    best = max(best, V(abs(a11)));
    better = abs(a22) > best;
    w = select(better, a02, w), x = select(better, a12, x), y = select(better, a22, y), k = select(better, a23, k);
    best = max(best, V(abs(a22)));
    better = abs(a33) > best;
    w = select(better, a03, w), x = select(better, a13, x), y = select(better, a23, y), k = select(better, a33, k);
    best = max(best, V(abs(a33)));
    // Nearly equal largest eigenvalues (rank <= 1, or inverted with equal magnitudes): use the decomposition instead.
    const auto good = best > V(T(std::is_same_v<T, float> ? 1e-1 : 1e-3));
    Mat<V, 3> R = detail::rotation_of_quaternion(w, x, y, k);
    if (!all(good)) {
        const Svd<V, 3> svd = polar_svd(F);
        const Mat<V, 3> robust = times_transpose(svd.U, svd.V_);
        for (int e = 0; e < 9; ++e) R.a[e] = select(good, R.a[e], robust.a[e]);
    }
    return R;
}

}  // namespace continua
