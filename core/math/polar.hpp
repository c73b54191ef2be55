// The rotation R of F = R S, i.e. the rotation that maximises tr(R^T F); valid for inverted F too.
// 2D in closed form. 3D: Newton's method X <- (X + X^-T)/2 (Hi86) where F is near a rotation, which takes two to four steps;
// else in closed form, by what the singular value decomposition begins with.
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

// R = u v^T + [g h] (rotation of C) [e f]^T, see Deflated.
template <class V>
[[gnu::flatten, gnu::noinline]] Mat<V, 3> rotation_by_deflation(const Mat<V, 3>& F) {
    const Deflated<V> f(Unit<V>(F).of(F));
    const Frame<V> left = f.left.turned(Planar<V>(f.C).rotation);
    Mat<V, 3> R;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            R(i, j) = left.axis[i] * f.right.axis[j] + left.first[i] * f.right.first[j] + left.second[i] * f.right.second[j];
    return R;
}

// (X + X^-T)/2 and det X.
template <class V>
inline Mat<V, 3> halfway(const Mat<V, 3>& X, V& J) {
    Mat<V, 3> next = cofactor(X);
    J = determinant(X, next);
    const V factor = V(0.5f) / J;
    for (int k = 0; k < 9; ++k) next.a[k] = V(0.5f) * X.a[k] + factor * next.a[k];
    return next;
}

}  // namespace detail

// After one step all singular values of X are 1 + e, e >= 0, and each further one leaves e^2/2 at most. det X - 1 is above
// every e: while it is below 1, six steps are enough, and below sqrt(epsilon) the next is the last. Lanes that are done keep
// what they have, so that a result does not depend on the other lanes. What is rare stays out of line, so that the rest is
// inlined and R stays in registers, which halves the time.
template <class V>
[[gnu::always_inline]] inline Mat<V, 3> rotation_of(const Mat<V, 3>& F) {
    constexpr Scalar<V> epsilon = std::numeric_limits<Scalar<V>>::epsilon();
    V J0, J;
    const Mat<V, 3> first = detail::halfway(F, J0);
    Mat<V, 3> R = detail::halfway(first, J);
    const auto near = J < V(2) && J0 > V(0.1f) && dot(F, F) < V(12);  // the latter so that rounding does not decide
    auto busy = near;
    for (int step = 2; step < 7; ++step) {
        busy = busy && (J - V(1)) * (J - V(1)) > V(epsilon);
        if (!any(busy)) break;
        const Mat<V, 3> next = detail::halfway(R, J);
        for (int e = 0; e < 9; ++e) R.a[e] = select(busy, next.a[e], R.a[e]);
    }
    if (all(near)) return R;
    const Mat<V, 3> other = detail::rotation_by_deflation(F);
    for (int e = 0; e < 9; ++e) R.a[e] = select(near, R.a[e], other.a[e]);
    return R;
}

}  // namespace continua
