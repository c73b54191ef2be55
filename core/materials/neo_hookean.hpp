// Neo-Hookean elasticity, defined for J > 0, with one of two energies of the volume:
//     Psi = mu/2 (F:F - d) - mu ln J + lam U(J)
// U = (ln J)^2/2, J15 section 3.1.2 (with F_ij F_ij in the first invariant), or U = (J - 1)^2/2, J15 (4.7)-(4.8).
#pragma once

#include "model.hpp"

namespace continua {

// t - ln(1 + t) for |t| < 1/4, by ln(1 + t) = 2 artanh(t / (2 + t)): nine terms are exact.
template <class V>
V without_logarithm(const V& t) {
    const V s = t / (V(2) + t), ss = s * s;
    V series(0);
    for (int k = 19; k >= 3; k -= 2) series = V(1) / V(float(k)) + ss * series;
    return t * s - V(2) * s * ss * series;
}

// U, of J - 1 and ln J; then J U' and J (J U')'.
struct LogarithmicVolume {
    static constexpr std::string_view name = "neo-hookean";
    template <class V>
    static V energy(const V&, const V& log_J) {
        return V(0.5f) * log_J * log_J;
    }
    template <class V>
    static V slope(const V& J) {
        return log_of(J);
    }
    template <class V>
    static V stiffness(const V&) {
        return V(1);
    }
};
struct QuadraticVolume {
    static constexpr std::string_view name = "quadratic-neo-hookean";
    template <class V>
    static V energy(const V& growth, const V&) {
        return V(0.5f) * growth * growth;
    }
    template <class V>
    static V slope(const V& J) {
        return (J - V(1)) * J;
    }
    template <class V>
    static V stiffness(const V& J) {
        return (V(2) * J - V(1)) * J;
    }
};

template <class Volume>
struct NeoHookeanModel {
    static constexpr std::string_view name = Volume::name;
    static constexpr std::array<std::string_view, 2> parameters{"mu", "lam"};
    static constexpr std::array<std::string_view, 0> states{};

    template <class V, int d>
    static V energy(const Mat<V, d>& F, const V* p, const V*) {
        const V J = determinant(F);
        const auto feasible = J > V(0);
        const V log_J = log_of(V(select(feasible, J, V(1))));
        const V psi = p[0] * (V(0.5f) * (dot(F, F) - V(d)) - log_J) + p[1] * Volume::energy(V(J - V(1)), log_J);
        return select(feasible, energy_of_small_strain(F, J, psi, p), infinity<V>());
    }
    // Psi is of second order in the strain but its parts are not: they cancel, and their rounding errors hide what a
    // small strain costs. With E = (F^T F - I)/2, m the sum of its principal minors and J^2 - 1 = t = 2 tr E + 4 m +
    // 8 det E (2D: the last left out), (F:F - d)/2 - ln J = (t - ln(1 + t))/2 - 2 m - 4 det E has no such parts.
    template <class V, int d>
    static V energy_of_small_strain(const Mat<V, d>& F, const V& J, const V& otherwise, const V* p) {
        Mat<V, d> E = V(0.5f) * (transpose(F) * F);
        V trace(0), minors(0);
        for (int i = 0; i < d; ++i) {
            E(i, i) -= V(0.5f);
            trace += E(i, i);
            for (int j = 0; j < i; ++j) minors += E(i, i) * E(j, j) - E(i, j) * E(i, j);
        }
        const V third = d == 3 ? V(4) * determinant(E) : V(0);
        const V t = V(2) * trace + V(4) * minors + V(2) * third;
        const auto small = (dot(E, E) < V(0.01f)) & (t * t < V(0.0625f)) & (J > V(0));
        const V safe = select(small, t, V(0)), rest = without_logarithm(safe), log_J = V(0.5f) * (safe - rest);
        const V growth = safe / (select(small, J, V(1)) + V(1));
        const V psi = p[0] * (V(0.5f) * rest - V(2) * minors - third) + p[1] * Volume::energy(growth, log_J);
        return select(small, psi, otherwise);
    }
    // P = mu F + (lam J U' - mu) F^-T
    template <class V, int d>
    static Mat<V, d> piola(const Mat<V, d>& F, const V* p, const V*) {
        const Mat<V, d> cof = cofactor(F);
        const V J = determinant(F, cof);
        const auto feasible = J > V(0);
        const V safe_J = select(feasible, J, V(1)), q = (p[1] * Volume::slope(safe_J) - p[0]) / safe_J;
        Mat<V, d> P;
        for (int k = 0; k < d * d; ++k) P.a[k] = p[0] * F.a[k] + q * cof.a[k];
        return where_feasible(feasible, P);
    }
    // tau = mu F F^T + (lam J U' - mu) I
    template <class V, int d>
    static Mat<V, d> kirchhoff(const Mat<V, d>& F, const V* p, const V*) {
        const V J = determinant(F);
        const auto feasible = J > V(0);
        const V q = p[1] * Volume::slope(V(select(feasible, J, V(1)))) - p[0];
        Mat<V, d> tau = p[0] * symmetric_times_transpose(F, F);
        for (int i = 0; i < d; ++i) tau(i, i) += q;
        return where_feasible(feasible, tau);
    }
    template <class V, int d>
    static Principal<V, d> principal(const Vec<V, d>& s, const V* p, const V*) {
        const V mu = p[0], lam = p[1], J = product_without(s, -1), q = lam * Volume::slope(J) - mu;
        Principal<V, d> k;
        for (int i = 0; i < d; ++i) {
            k.g[i] = mu * s[i] + q / s[i];
            k.a(i, i) = k.b(i, i) = V(0);
            for (int j = 0; j < d; ++j) {
                const V ss = s[i] * s[j];
                k.h(i, j) = lam * Volume::stiffness(J) / ss;
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

using NeoHookean = NeoHookeanModel<LogarithmicVolume>;
using QuadraticNeoHookean = NeoHookeanModel<QuadraticVolume>;

}  // namespace continua
