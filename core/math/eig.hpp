// Symmetric d x d matrices in closed form: in 2D by half an angle, in 3D by the one eigenvector that lies well apart from
// the other two, which leaves a problem in the plane. No iteration and no branch: every lane stands for itself.
#pragma once

#include <array>

#include "mat.hpp"

namespace continua {

template <class V>
inline V dot(const Vec<V, 3>& x, const Vec<V, 3>& y) {
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}
template <class V>
inline Vec<V, 3> cross(const Vec<V, 3>& x, const Vec<V, 3>& y) {
    return {{x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]}};
}
template <class V>
inline Vec<V, 3> operator*(const Mat<V, 3>& m, const Vec<V, 3>& x) {
    Vec<V, 3> y;
    for (int i = 0; i < 3; ++i) y[i] = m(i, 0) * x[0] + m(i, 1) * x[1] + m(i, 2) * x[2];
    return y;
}

// A rotation of the plane by its cosine and sine.
template <class V>
struct Turn {
    V c, s;

    Turn then(const Turn& other) const { return {c * other.c - s * other.s, s * other.c + c * other.s}; }
};

// Half the angle of (x, y), from -90 to 90 degrees, r = |(x, y)|; about none where that is nothing beside 1.
template <class V>
inline Turn<V> half_angle(const V& x, const V& y, const V& r) {
    using T = Scalar<V>;
    const V longer = r + abs(x) + V(T(std::is_same_v<T, float> ? 1e-18 : 1e-150));  // a number whose square exists
    const V norm = sqrt(longer * longer + y * y), along = longer / norm, across = y / norm;
    const auto obtuse = x < V(0);
    return {select(obtuse, V(abs(across)), along), select(obtuse, select(y < V(0), V(-along), along), across)};
}

// Right-handed orthonormal axes.
template <class V>
struct Frame {
    Vec<V, 3> axis, first, second;

    Frame turned(const Turn<V>& t) const {
        Frame other;
        for (int k = 0; k < 3; ++k) {
            other.axis[k] = axis[k];
            other.first[k] = t.c * first[k] + t.s * second[k];
            other.second[k] = t.c * second[k] - t.s * first[k];
        }
        return other;
    }
};

// The frame whose axis is the direction of w, the next vector without a component along x or z. Where w itself lacks a
// component the frame contains that coordinate axis: a row or column of zeros stays exactly zero in it.
template <class V>
inline Frame<V> frame_around(const Vec<V, 3>& w) {
    const V x2 = w[0] * w[0], y2 = w[1] * w[1], z2 = w[2] * w[2];
    const auto wide = x2 > z2;
    const V inv = V(1) / sqrt(x2 + y2 + z2), across = V(1) / sqrt(max(x2, z2) + y2);
    const V a = w[1] * across, b = select(wide, w[0], w[2]) * across, left = select(wide, w[2], w[0]) * inv;
    const Vec<V, 3> u = {{w[0] * inv, w[1] * inv, w[2] * inv}};
    // wide: (-y, x, 0) and (-z x, -z y, x^2 + y^2); else (0, -z, y) and (y^2 + z^2, -x y, -x z)
    const V up = u[1] * a + select(wide, u[0], u[2]) * b, down = -left * b;
    return {u,
            {{select(wide, V(-a), V(0)), select(wide, b, V(-b)), select(wide, V(0), a)}},
            {{select(wide, down, up), V(-left * a), select(wide, up, down)}}};
}

// The eigenvector of a symmetric matrix whose eigenvalue is farthest from the other two: the largest or the smallest.
template <class V>
struct Isolated {
    Vec<V, 3> v;  // of any length
    V sign;       // 1 where its eigenvalue is the largest, -1 where it is the smallest

    auto largest() const { return sign > V(0); }
};

namespace detail {

// Root x in [sqrt(3), 2] of x^3 - 3 x = 2 r for 0 <= r <= 1, which is 2 cos(acos(r)/3): a polynomial and one step of
// Newton's method, which squares its error of 8e-5 (float) or 4e-9 (double).
template <class V>
inline V outer_root(const V& r) {
    using T = Scalar<V>;
    constexpr bool single = std::is_same_v<T, float>;
    constexpr std::array<double, single ? 4 : 9> coefficients = [] {
        if constexpr (single)
            return std::array{1.732132659, 0.3306607004, -0.08138239485, 0.01863936779};
        else
            return std::array{1.732050811,   0.3333327423,  -0.09620888291,  0.04920859361,  -0.03021455042,
                              0.01876666135, -0.009859382586, 0.003529713895, -0.0006057084405};
    }();
    V x = V(T(coefficients.back()));
    for (int k = int(coefficients.size()) - 2; k >= 0; --k) x = x * r + V(T(coefficients[k]));
    const V x2 = x * x;
    return x - (x * (x2 - V(3)) - V(2) * r) / (V(3) * (x2 - V(1)));
}

}  // namespace detail

// With M = q I + p A, tr A = 0, |A|^2 = 6, the eigenvalues of A are 2 cos of three angles 120 degrees apart, the roots of
// x^3 - 3 x = det A (Sm61). Of +-A, the one with det >= 0 has a root x >= sqrt(3), at least sqrt(3) from the others, and
// adj(A - x I) = (..) v v^T with a factor >= 3. Reads the upper triangle of M.
template <class V>
inline Isolated<V> isolated_eigenvector(const Mat<V, 3>& M) {
    using T = Scalar<V>;
    const V q = (M(0, 0) + M(1, 1) + M(2, 2)) * V(T(1) / T(3));
    const V d0 = M(0, 0) - q, d1 = M(1, 1) - q, d2 = M(2, 2) - q;
    const V off2 = M(0, 1) * M(0, 1) + M(0, 2) * M(0, 2) + M(1, 2) * M(1, 2);
    const V p2 = (d0 * d0 + d1 * d1 + d2 * d2 + V(2) * off2) * V(T(1) / T(6));
    const V inv = V(1) / sqrt(max(p2, V(std::numeric_limits<T>::min())));  // A = 0 gives v along an axis
    const V a00 = inv * d0, a11 = inv * d1, a22 = inv * d2;
    const V a01 = inv * M(0, 1), a02 = inv * M(0, 2), a12 = inv * M(1, 2);
    const V half_det = V(0.5f) * (a00 * (a11 * a22 - a12 * a12) - a01 * (a01 * a22 - a12 * a02) +
                                  a02 * (a01 * a12 - a11 * a02));
    const V sign = select(half_det < V(0), V(-1), V(1));
    const V x = sign * detail::outer_root(V(min(V(abs(half_det)), V(1))));
    const V n0 = a00 - x, n1 = a11 - x, n2 = a22 - x;
    const V c00 = n1 * n2 - a12 * a12, c11 = n0 * n2 - a02 * a02, c22 = n0 * n1 - a01 * a01;
    const V c01 = a02 * a12 - a01 * n2, c02 = a01 * a12 - a02 * n1, c12 = a01 * a02 - a12 * n0;
    Vec<V, 3> column = {{c00, c01, c02}};
    auto better = c11 > c00;
    column = {{select(better, c01, column[0]), select(better, c11, column[1]), select(better, c12, column[2])}};
    better = c22 > max(c00, c11);
    column = {{select(better, c02, column[0]), select(better, c12, column[1]), select(better, c22, column[2])}};
    return {column, sign};
}

// What is left of a symmetric matrix without its negative eigenvalues.
template <class V>
inline Mat<V, 2> positive_part(const Mat<V, 2>& A) {
    const V mean = V(0.5f) * (A(0, 0) + A(1, 1)), x = V(0.5f) * (A(0, 0) - A(1, 1)), y = A(0, 1);
    const V r = sqrt(x * x + y * y), low = max(V(mean - r), V(0)), spread = max(V(mean + r), V(0)) - low;
    const Turn<V> t = half_angle(x, y, r);  // low I + spread t t^T
    const V mixed = spread * t.c * t.s;
    return {{low + spread * t.c * t.c, mixed, mixed, low + spread * t.s * t.s}};
}
template <class V>
inline Mat<V, 3> positive_part(const Mat<V, 3>& A) {
    const Frame<V> f = frame_around(isolated_eigenvector(A).v);
    const Vec<V, 3> first = A * f.first, second = A * f.second;
    const V mixed = dot(f.first, second), value = max(V(dot(f.axis, A * f.axis)), V(0));
    const Mat<V, 2> plane = positive_part(Mat<V, 2>{{dot(f.first, first), mixed, mixed, dot(f.second, second)}});
    Mat<V, 3> out;
    for (int i = 0; i < 3; ++i) {
        const V along = plane(0, 0) * f.first[i] + plane(0, 1) * f.second[i];
        const V beside = plane(1, 0) * f.first[i] + plane(1, 1) * f.second[i];
        for (int j = 0; j < 3; ++j)
            out(i, j) = value * f.axis[i] * f.axis[j] + along * f.first[j] + beside * f.second[j];
    }
    return out;
}

}  // namespace continua
