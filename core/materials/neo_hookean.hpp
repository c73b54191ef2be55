// Logarithmic neo-Hookean elasticity, defined for J > 0. J15 section 3.1.2 (with F_ij F_ij in the first invariant).
#pragma once

#include "model.hpp"

namespace continua {

struct NeoHookean {
    static constexpr std::string_view name = "neo-hookean";
    static constexpr std::array<std::string_view, 2> parameters{"mu", "lam"};
    static constexpr std::array<std::string_view, 0> states{};

    // Psi = mu/2 (F:F - d) - mu ln J + lam/2 (ln J)^2, +inf outside J > 0
    template <class V, int d>
    static V energy(const Mat<V, d>& F, const V* p, const V*) {
        const V J = determinant(F);
        const auto feasible = J > V(0);
        const V log_J = log_of(select(feasible, J, V(1)));
        const V psi = V(0.5f) * p[0] * (dot(F, F) - V(d)) + (V(0.5f) * p[1] * log_J - p[0]) * log_J;
        return select(feasible, psi, infinity<V>());
    }
    // P = mu F + (lam ln J - mu) F^-T
    template <class V, int d>
    static Mat<V, d> piola(const Mat<V, d>& F, const V* p, const V*) {
        const Mat<V, d> cof = cofactor(F);
        const V J = determinant(F, cof);
        const auto feasible = J > V(0);
        const V safe_J = select(feasible, J, V(1)), q = (p[1] * log_of(safe_J) - p[0]) / safe_J;
        Mat<V, d> P;
        for (int k = 0; k < d * d; ++k) P.a[k] = p[0] * F.a[k] + q * cof.a[k];
        return where_feasible(feasible, P);
    }
    template <class V, int d>
    static Principal<V, d> principal(const Vec<V, d>& s, const V* p, const V*) {
        const V mu = p[0], lam = p[1], q = lam * log_of(V(product_without(s, -1))) - mu;
        Principal<V, d> k;
        for (int i = 0; i < d; ++i) {
            k.g[i] = mu * s[i] + q / s[i];
            k.a(i, i) = k.b(i, i) = V(0);
            for (int j = 0; j < d; ++j) {
                const V ss = s[i] * s[j];
                k.h(i, j) = lam / ss;
                if (j == i) {
                    k.h(i, i) += mu - q / ss;
                } else {
                    k.a(i, j) = mu - q / ss;
                    k.b(i, j) = mu + q / ss;
                }
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
