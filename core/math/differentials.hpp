// Differentials of cofactor, polar factors and singular vectors. J15 section 2.1.
#pragma once

#include "svd.hpp"

namespace continua {

// d cof(F) for the direction dF: polynomial in F, so valid for singular and inverted F.
template <class V, int d>
inline Mat<V, d> cofactor_differential(const Mat<V, d>& F, const Mat<V, d>& dF) {
    if constexpr (d == 2)
        return cofactor(dF);
    else {
        Mat<V, 3> c;
        for (int i = 0; i < 3; ++i) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
            for (int j = 0; j < 3; ++j) {
                const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
                c(i, j) = dF(i1, j1) * F(i2, j2) + F(i1, j1) * dF(i2, j2) - dF(i1, j2) * F(i2, j1) -
                          F(i1, j2) * dF(i2, j1);
            }
        }
        return c;
    }
}

// Denominators s_i + s_j vanish only for inverted F with equal magnitudes; keep them away from zero.
template <class V, int d>
inline V guarded_sum(const Vec<V, d>& s, int i, int j) {
    using T = Scalar<V>;
    const V floor = V(T(std::is_same_v<T, float> ? 1e-5 : 1e-9)) * max(V(1), V(abs(s[0])));
    return max(V(s[i] + s[j]), floor);
}

// dR of F = R S. J15 (2.5)-(2.9): (U^T dR V)_ij = (M_ij - M_ji) / (s_i + s_j), M = U^T dF V.
template <class V, int d>
inline Mat<V, d> rotation_differential(const Svd<V, d>& f, const Mat<V, d>& dF) {
    const Mat<V, d> M = transpose(f.U) * dF * f.V_;
    Mat<V, d> W = Mat<V, d>::zero();
    for (int i = 0; i < d; ++i)
        for (int j = i + 1; j < d; ++j) {
            W(i, j) = (M(i, j) - M(j, i)) / guarded_sum(f.s, i, j);
            W(j, i) = -W(i, j);
        }
    return times_transpose(Mat<V, d>(f.U * W), f.V_);
}

// dU, ds, dV away from ties s_i = +-s_j. J15 (2.1)-(2.4).
template <class V, int d>
inline Svd<V, d> svd_differential(const Svd<V, d>& f, const Mat<V, d>& dF) {
    const Mat<V, d> M = transpose(f.U) * dF * f.V_;
    Mat<V, d> OU = Mat<V, d>::zero(), OV = Mat<V, d>::zero();
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) {
            if (i == j) continue;
            const V gap = f.s[j] * f.s[j] - f.s[i] * f.s[i];
            OU(i, j) = (f.s[j] * M(i, j) + f.s[i] * M(j, i)) / gap;
            OV(i, j) = (f.s[i] * M(i, j) + f.s[j] * M(j, i)) / gap;
        }
    Svd<V, d> out;
    out.U = f.U * OU;
    out.V_ = f.V_ * OV;
    for (int i = 0; i < d; ++i) out.s[i] = M(i, i);
    return out;
}

}  // namespace continua
