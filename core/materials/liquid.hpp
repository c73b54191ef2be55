// Weakly compressible liquid: Tait's equation of state and Newtonian viscosity. Only the volume ratio J is remembered,
// as F = diag(J, 1, 1).
#pragma once

#include "model.hpp"

namespace continua {

struct Liquid {
    static constexpr std::string_view name = "liquid";
    static constexpr std::array<std::string_view, 4> parameters{"bulk", "exponent", "viscosity", "tension"};
    static constexpr std::array<std::string_view, 0> states{};

    template <class V>
    static V viscosity(const V* p) {
        return p[2];
    }
    // Where the liquid resists: always in compression, in expansion only if it bears tension.
    template <class V>
    static auto loaded(const V& J, const V* p) {
        return J <= V(1) || p[3] > V(0);
    }
    template <class V>
    static V inverse_power(const V& J, const V& exponent) {
        return exp_of(V(-exponent * log_of(V(select(J > V(0), J, V(1))))));
    }
    // p = bulk/exponent (J^-exponent - 1); exponent 1 is linear in the density
    template <class V>
    static V pressure(const V& J, const V* p) {
        return select(loaded(J, p), V(p[0] / p[1] * (inverse_power(J, p[1]) - V(1))), V(0));
    }
    template <class V, int d>
    static V energy(const Mat<V, d>& F, const V* p, const V*) {
        const V J = determinant(F), above = p[1] - V(1);
        const auto feasible = J > V(0);
        const auto linear = above == V(0);
        const V log_J = log_of(V(select(feasible, J, V(1)))), safe = select(linear, V(1), above);
        const V spread = select(linear, V(-log_J), V((exp_of(V(-safe * log_J)) - V(1)) / safe));
        const V psi = select(loaded(J, p), V(p[0] / p[1] * (spread + J - V(1))), V(0));
        return select(feasible, psi, infinity<V>());
    }
    template <class V, int d>
    static Mat<V, d> piola(const Mat<V, d>& F, const V* p, const V*) {
        const Mat<V, d> cof = cofactor(F);
        const V J = determinant(F, cof);
        return where_feasible(J > V(0), Mat<V, d>(V(-pressure(J, p)) * cof));
    }
    template <class V, int d>
    static Principal<V, d> principal(const Vec<V, d>& s, const V* p, const V*) {
        const V J = product_without(s, -1), q = -pressure(J, p) * J;
        const V stiff = select(loaded(J, p), V(p[0] * inverse_power(J, p[1]) * J), V(0));
        Principal<V, d> k;
        for (int i = 0; i < d; ++i) {
            k.g[i] = q / s[i];
            k.a(i, i) = k.b(i, i) = V(0);
            for (int j = 0; j < d; ++j) {
                const V ss = s[i] * s[j];
                k.h(i, j) = (q + stiff) / ss;
                if (j == i) {
                    k.h(i, i) -= q / ss;
                } else {
                    k.a(i, j) = -q / ss;
                    k.b(i, j) = q / ss;
                }
            }
        }
        return k;
    }
    template <class V, int d>
    static V modulus(const Mat<V, d>& F, const V* p, const V*) {
        const V J = determinant(F);
        return p[0] * max(V(1), V(inverse_power(J, p[1]) * J));
    }
    template <class V, int d>
    static void flow(Mat<V, d>& F, const TrialStep<V, d>&, const V*, V*) {
        const V J = determinant(F);
        F = Mat<V, d>::identity();
        F(0, 0) = J;
    }
    template <class V, int d>
    static void advance(Mat<V, d>& F, const TrialStep<V, d>& step, const V* p, V* z, Mat<V, d>& tau) {
        flow(F, step, p, z);
        const V pressure_J = pressure(F(0, 0), p) * F(0, 0);
        tau = Mat<V, d>::zero();
        for (int i = 0; i < d; ++i) tau(i, i) = -pressure_J;
    }
};

}  // namespace continua
