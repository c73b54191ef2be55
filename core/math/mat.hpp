// d x d matrices and d vectors over scalars or lanes, row-major, d = 2 or 3.
#pragma once

#include "simd.hpp"

namespace continua {

template <class V, int d>
struct Vec {
    V a[d];
    V& operator[](int i) { return a[i]; }
    const V& operator[](int i) const { return a[i]; }
};

template <class V, int d>
struct Mat {
    V a[d * d];
    V& operator()(int i, int j) { return a[i * d + j]; }
    const V& operator()(int i, int j) const { return a[i * d + j]; }

    static Mat zero() {
        Mat m;
        for (auto& e : m.a) e = V(0);
        return m;
    }
    static Mat identity() {
        Mat m = zero();
        for (int i = 0; i < d; ++i) m(i, i) = V(1);
        return m;
    }
};

template <class V, int d>
inline Mat<V, d> operator+(Mat<V, d> x, const Mat<V, d>& y) {
    for (int k = 0; k < d * d; ++k) x.a[k] += y.a[k];
    return x;
}
template <class V, int d>
inline Mat<V, d> operator-(Mat<V, d> x, const Mat<V, d>& y) {
    for (int k = 0; k < d * d; ++k) x.a[k] -= y.a[k];
    return x;
}
template <class V, int d>
inline Mat<V, d> operator*(const V& s, Mat<V, d> x) {
    for (int k = 0; k < d * d; ++k) x.a[k] *= s;
    return x;
}
template <class V, int d>
inline Mat<V, d> operator*(const Mat<V, d>& x, const Mat<V, d>& y) {
    Mat<V, d> z;
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) {
            V sum = x(i, 0) * y(0, j);
            for (int k = 1; k < d; ++k) sum += x(i, k) * y(k, j);
            z(i, j) = sum;
        }
    return z;
}
template <class V, int d>
inline Mat<V, d> transpose(const Mat<V, d>& x) {
    Mat<V, d> z;
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) z(i, j) = x(j, i);
    return z;
}
// x y^T without forming the transpose.
template <class V, int d>
inline Mat<V, d> times_transpose(const Mat<V, d>& x, const Mat<V, d>& y) {
    Mat<V, d> z;
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) {
            V sum = x(i, 0) * y(j, 0);
            for (int k = 1; k < d; ++k) sum += x(i, k) * y(j, k);
            z(i, j) = sum;
        }
    return z;
}
// The same where it is known to be symmetric: half of the sums.
template <class V, int d>
inline Mat<V, d> symmetric_times_transpose(const Mat<V, d>& x, const Mat<V, d>& y) {
    Mat<V, d> z;
    for (int i = 0; i < d; ++i)
        for (int j = i; j < d; ++j) {
            V sum = x(i, 0) * y(j, 0);
            for (int k = 1; k < d; ++k) sum += x(i, k) * y(j, k);
            z(i, j) = z(j, i) = sum;
        }
    return z;
}
// u diag(s) v^T
template <class V, int d>
inline Mat<V, d> compose(const Mat<V, d>& u, const Vec<V, d>& s, const Mat<V, d>& v) {
    Mat<V, d> us = u;
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) us(i, j) *= s[j];
    return times_transpose(us, v);
}
template <class V, int d>
inline V dot(const Mat<V, d>& x, const Mat<V, d>& y) {
    V sum = x.a[0] * y.a[0];
    for (int k = 1; k < d * d; ++k) sum += x.a[k] * y.a[k];
    return sum;
}
template <class V, int d>
inline Mat<V, d> cofactor(const Mat<V, d>& F) {
    if constexpr (d == 2)
        return {{F(1, 1), -F(1, 0), -F(0, 1), F(0, 0)}};
    else {
        Mat<V, 3> c;
        for (int i = 0; i < 3; ++i) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
            for (int j = 0; j < 3; ++j) {
                const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
                c(i, j) = F(i1, j1) * F(i2, j2) - F(i1, j2) * F(i2, j1);
            }
        }
        return c;
    }
}
// det F from the cofactors: one row of F : cof F.
template <class V, int d>
inline V determinant(const Mat<V, d>& F, const Mat<V, d>& cof) {
    V sum = F(0, 0) * cof(0, 0);
    for (int j = 1; j < d; ++j) sum += F(0, j) * cof(0, j);
    return sum;
}
template <class V, int d>
inline V determinant(const Mat<V, d>& F) {
    return determinant(F, cofactor(F));
}

}  // namespace continua
