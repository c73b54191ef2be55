// Fixed corotated elasticity, valid for every F. J15 section 3.1.3, (6.5)-(6.6).
#pragma once

#include "model.hpp"

namespace continua {

struct FixedCorotated {
    static constexpr std::string_view name = "fixed-corotated";
    static constexpr std::array<std::string_view, 2> parameters{"mu", "lam"};
    static constexpr std::array<std::string_view, 0> states{};

    // Psi = mu sum (s_i - 1)^2 + lam/2 (J - 1)^2
    template <class V, int d>
    static V energy(const Mat<V, d>& F, const V* p, const V*) {
        const Mat<V, d> strain = F - rotation_of(F);
        const V volume = determinant(F) - V(1);
        return p[0] * dot(strain, strain) + V(0.5f) * p[1] * volume * volume;
    }
    // P = 2 mu (F - R) + lam (J - 1) cof F
    template <class V, int d>
    static Mat<V, d> piola(const Mat<V, d>& F, const V* p, const V*) {
        const Mat<V, d> R = rotation_of(F), cof = cofactor(F);
        const V pressure = p[1] * (determinant(F, cof) - V(1)), two_mu = V(2) * p[0];
        Mat<V, d> P;
        for (int k = 0; k < d * d; ++k) P.a[k] = two_mu * (F.a[k] - R.a[k]) + pressure * cof.a[k];
        return P;
    }
    // tau = 2 mu (F - R) F^T + lam (J - 1) J I; (F - R) F^T is symmetric
    template <class V, int d>
    static Mat<V, d> kirchhoff(const Mat<V, d>& F, const V* p, const V*) {
        const V J = determinant(F), pressure = p[1] * (J - V(1)) * J;
        Mat<V, d> tau = (V(2) * p[0]) * symmetric_times_transpose(F - rotation_of(F), F);
        for (int i = 0; i < d; ++i) tau(i, i) += pressure;
        return tau;
    }
    template <class V, int d>
    static Principal<V, d> principal(const Vec<V, d>& s, const V* p, const V*) {
        const V mu2 = V(2) * p[0], lam = p[1], J = product_without(s, -1);
        Principal<V, d> k;
        for (int i = 0; i < d; ++i) {
            const V others = product_without(s, i);
            k.g[i] = mu2 * (s[i] - V(1)) + lam * (J - V(1)) * others;
            k.h(i, i) = mu2 + lam * others * others;
            k.a(i, i) = k.b(i, i) = V(0);
            for (int j = 0; j < d; ++j) {
                if (j == i) continue;
                const V rest = product_without(s, i, j);
                k.h(i, j) = lam * (V(2) * J - V(1)) * rest;
                k.a(i, j) = mu2 - lam * (J - V(1)) * rest;
                k.b(i, j) = mu2 * (V(1) - V(2) / guarded_sum(s, i, j)) + lam * (J - V(1)) * rest;
            }
        }
        return k;
    }
    template <class V, int d>
    static V modulus(const Mat<V, d>&, const V* p, const V*) {
        return p[1] + V(2) * p[0];
    }
};

}  // namespace continua
