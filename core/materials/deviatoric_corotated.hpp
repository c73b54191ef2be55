// Fixed corotated energy of the volume-free part of F plus a separate volume term. J15 (6.7)-(6.8), appendix D.
// Shear and volume do not mix: mu only resists changes of shape. The volume term has the modulus kappa = lam + 2 mu/d, so
// that small strains obey Hooke's law with the same mu and lam as all other models.
#pragma once

#include "model.hpp"

namespace continua {

struct DeviatoricCorotated {
    static constexpr std::string_view name = "deviatoric-corotated";
    static constexpr std::array<std::string_view, 2> parameters{"mu", "lam"};
    static constexpr std::array<std::string_view, 0> states{};

    // J^(-1/d), 1 outside the domain J > 0
    template <int d, class V>
    static V unit_scale(const V& J) {
        return exp_of(V(log_of(V(select(J > V(0), J, V(1)))) / V(-d)));
    }
    template <int d, class V>
    static V kappa(const V* p) {
        return p[1] + V(2) * p[0] / V(d);
    }
    // Psi = mu |J^(-1/d) F - R|^2 + kappa/2 (J - 1)^2, +inf outside J > 0
    template <class V, int d>
    static V energy(const Mat<V, d>& F, const V* p, const V*) {
        const V J = determinant(F), volume = J - V(1);
        const Mat<V, d> strain = unit_scale<d>(J) * F - rotation_of(F);
        return select(J > V(0), V(p[0] * dot(strain, strain) + V(0.5f) * kappa<d>(p) * volume * volume), infinity<V>());
    }
    // With t = J^(-1/d) s and W = sum t (t - 1): P = 2 mu [J^(-1/d) (J^(-1/d) F - R) - W/d F^-T] + kappa (J - 1) cof F,
    // where W = G:(G - R) for G = J^(-1/d) F.
    template <class V, int d>
    static Mat<V, d> piola(const Mat<V, d>& F, const V* p, const V*) {
        const Mat<V, d> cof = cofactor(F), R = rotation_of(F);
        const V J = determinant(F, cof), scale = unit_scale<d>(J), two_mu = V(2) * p[0];
        const auto feasible = J > V(0);
        const Mat<V, d> G = scale * F, strain = G - R;
        const V q = kappa<d>(p) * (J - V(1)) - two_mu * dot(G, strain) / (V(d) * select(feasible, J, V(1)));
        Mat<V, d> P;
        for (int k = 0; k < d * d; ++k) P.a[k] = two_mu * scale * strain.a[k] + q * cof.a[k];
        return where_feasible(feasible, P);
    }
    template <class V, int d>
    static Principal<V, d> principal(const Vec<V, d>& s, const V* p, const V*) {
        const V two_mu = V(2) * p[0], lam = kappa<d>(p), J = product_without(s, -1), scale = unit_scale<d>(J);
        const V share = V(-1) / V(d);
        V t[d], W = V(0), Y = V(0);
        for (int i = 0; i < d; ++i) {
            t[i] = scale * s[i];
            W += t[i] * (t[i] - V(1));
            Y += t[i] * (V(2) * t[i] - V(1));
        }
        Principal<V, d> k;
        for (int i = 0; i < d; ++i) {
            const V others = product_without(s, i);
            k.g[i] = two_mu * (scale * (t[i] - V(1)) + share * W / s[i]) + lam * (J - V(1)) * others;
            k.a(i, i) = k.b(i, i) = V(0);
            for (int j = 0; j < d; ++j) {
                const V ss = s[i] * s[j], dW = t[j] * (V(2) * t[j] - V(1)) + share * Y;
                V h = share * scale * (V(2) * t[i] - V(1)) / s[j] + share * dW / ss;
                if (j == i) {
                    h += scale * t[i] / s[i] - share * W / ss;
                    k.h(i, i) = two_mu * h + lam * others * others;
                } else {
                    const V rest = lam * product_without(s, i, j), pair = share * W / ss;
                    k.h(i, j) = two_mu * h + rest * (V(2) * J - V(1));
                    k.a(i, j) = two_mu * (scale * scale - pair) - rest * (J - V(1));
                    k.b(i, j) = two_mu * (scale * scale - V(2) * scale / guarded_sum(s, i, j) + pair) + rest * (J - V(1));
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
