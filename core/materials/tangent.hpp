// The derivative dP/dF of an isotropic energy at one point, kept as numbers so that any direction can follow later
// without another decomposition: F = U diag(s) V^T, and in the frames U, V the derivative is a d x d block h for the
// diagonal and one pair (a, b) of coefficients for the symmetric and skew part of every two axes. J15 section 2.1, 3.2
#pragma once

#include "../math/differentials.hpp"
#include "../math/eig.hpp"
#include "../math/polar.hpp"

namespace continua {

// Isotropic Psi^(s): gradient g_i, Hessian h_ij and the pair coefficients
// a_ij = (g_i - g_j)/(s_i - s_j), b_ij = (g_i + g_j)/(s_i + s_j), the latter two free of cancellation.
template <class V, int d>
struct Principal {
    Vec<V, d> g;
    Mat<V, d> h, a, b;
};

// Where a tangent keeps its numbers: U, V, h (00 01 (02) 11 (12 22)), then a and b for 01 (02 12).
template <int d>
struct TangentLayout {
    static constexpr int pairs = d * (d - 1) / 2;
    static constexpr int U = 0, V = d * d, h = 2 * d * d, a = h + d + pairs, b = a + pairs, count = b + pairs;
};
template <int d>
inline constexpr int kTangent = TangentLayout<d>::count;  // 13 in 2D, 30 in 3D

// Negative eigenvalues of a symmetric matrix set to zero; definite ones (by their leading minors) stay as they are.
template <class V, int d>
inline Mat<V, d> without_negative(const Mat<V, d>& h) {
    auto definite = h(0, 0) > V(0) && h(0, 0) * h(1, 1) > h(0, 1) * h(1, 0);
    if constexpr (d == 3) definite = definite && determinant(h) > V(0);
    if (all(definite)) return h;
    Mat<V, d> clamped = positive_part(h);
    for (int e = 0; e < d * d; ++e) clamped.a[e] = select(definite, h.a[e], clamped.a[e]);
    return clamped;
}

// Tangent of a model at F, optionally with negative eigenvalues removed. Not finite where F is not admissible.
template <class Model, class V, int d>
inline void tangent_at(const Mat<V, d>& F, const V* p, const V* z, bool positive, V* tangent) {
    using At = TangentLayout<d>;
    const Svd<V, d> f = polar_svd(F);
    Principal<V, d> k = Model::template principal<V, d>(f.s, p, z);
    if (positive) k.h = without_negative(k.h);
    for (int e = 0; e < d * d; ++e) tangent[At::U + e] = f.U.a[e], tangent[At::V + e] = f.V_.a[e];
    int entry = At::h, pair = 0;
    for (int i = 0; i < d; ++i)
        for (int j = i; j < d; ++j) {
            tangent[entry++] = k.h(i, j);
            if (i == j) continue;
            tangent[At::a + pair] = positive ? V(max(k.a(i, j), V(0))) : k.a(i, j);
            tangent[At::b + pair] = positive ? V(max(k.b(i, j), V(0))) : k.b(i, j);
            ++pair;
        }
}

// dP = U Q V^T for the direction dF.
template <class V, int d>
inline Mat<V, d> apply_tangent(const V* tangent, const Mat<V, d>& dF) {
    using At = TangentLayout<d>;
    Mat<V, d> U, W;
    for (int e = 0; e < d * d; ++e) U.a[e] = tangent[At::U + e], W.a[e] = tangent[At::V + e];
    const Mat<V, d> M = transpose(U) * dF * W;
    Mat<V, d> Q = Mat<V, d>::zero();
    int entry = At::h, pair = 0;
    for (int i = 0; i < d; ++i)
        for (int j = i; j < d; ++j) {
            const V h = tangent[entry++];
            Q(i, i) += h * M(j, j);
            if (i == j) continue;
            Q(j, j) += h * M(i, i);
            const V even = V(0.5f) * tangent[At::a + pair] * (M(i, j) + M(j, i));
            const V odd = V(0.5f) * tangent[At::b + pair] * (M(i, j) - M(j, i));
            Q(i, j) = even + odd;
            Q(j, i) = even - odd;
            ++pair;
        }
    return times_transpose(Mat<V, d>(U * Q), W);
}

// dP for one direction, +inf where F is not admissible.
template <class Model, class V, int d>
inline Mat<V, d> piola_differential(const Mat<V, d>& F, const Mat<V, d>& dF, const V* p, const V* z, bool positive) {
    V tangent[kTangent<d>];
    tangent_at<Model>(F, p, z, positive, tangent);
    Mat<V, d> dP = apply_tangent((const V*)tangent, dF);
    for (auto& e : dP.a) e = select(e == e, e, V(std::numeric_limits<Scalar<V>>::infinity()));
    return dP;
}

}  // namespace continua
