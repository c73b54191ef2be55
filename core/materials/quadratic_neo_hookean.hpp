// Neo-Hookean elasticity with a quadratic volume term, the elastic part of the viscoelastic model. J15 (4.7)-(4.8).
#pragma once

#include "model.hpp"

namespace continua {

struct QuadraticNeoHookean {
    static constexpr std::string_view name = "quadratic-neo-hookean";
    static constexpr std::array<std::string_view, 2> parameters{"mu", "lam"};
    static constexpr std::array<std::string_view, 0> states{};

    // Psi = mu/2 (F:F - d) - mu ln J + lam/2 (J - 1)^2, +inf outside J > 0
    template <class V, int d>
    static V energy(const Mat<V, d>& F, const V* p, const V*) {
        const V J = determinant(F), volume = J - V(1);
        const auto feasible = J > V(0);
        const V log_J = log_of(V(select(feasible, J, V(1))));
        const V psi = p[0] * (V(0.5f) * (dot(F, F) - V(d)) - log_J) + V(0.5f) * p[1] * volume * volume;
        return select(feasible, psi, infinity<V>());
    }
    // P = mu (F - F^-T) + lam (J - 1) cof F
    template <class V, int d>
    static Mat<V, d> piola(const Mat<V, d>& F, const V* p, const V*) {
        const Mat<V, d> cof = cofactor(F);
        const V J = determinant(F, cof);
        const auto feasible = J > V(0);
        const V q = p[1] * (J - V(1)) - p[0] / select(feasible, J, V(1));
        Mat<V, d> P;
        for (int k = 0; k < d * d; ++k) P.a[k] = p[0] * F.a[k] + q * cof.a[k];
        return where_feasible(feasible, P);
    }
    template <class V, int d>
    static Principal<V, d> principal(const Vec<V, d>& s, const V* p, const V*) {
        const V mu = p[0], lam = p[1], J = product_without(s, -1), q = lam * (J - V(1)) * J - mu;
        Principal<V, d> k;
        for (int i = 0; i < d; ++i) {
            k.g[i] = mu * s[i] + q / s[i];
            k.a(i, i) = k.b(i, i) = V(0);
            for (int j = 0; j < d; ++j) {
                const V ss = s[i] * s[j];
                k.h(i, j) = lam * (V(2) * J - V(1)) * J / ss;
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
