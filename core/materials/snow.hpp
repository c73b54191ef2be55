// Snow: fixed corotated elasticity in the elastic part, singular values clamped, moduli hardened by plastic
// compression. J15 section 3.2.
#pragma once

#include "fixed_corotated.hpp"

namespace continua {

struct Snow {
    static constexpr std::string_view name = "snow";
    static constexpr std::array<std::string_view, 6> parameters{"mu", "lam", "lower", "upper", "hardening", "preserve"};
    static constexpr std::array<std::string_view, 1> states{"Jp"};

    // exp(xi (1 - Jp)), limited to a factor of 100 either way so that crushed snow keeps a usable time step.
    template <class V>
    static V hardening(const V* p, const V* z) {
        using T = Scalar<V>;
        const V limit = V(T(4.605170185988092));
        return exp_of(V(min(max(V(p[4] * (V(1) - z[0])), V(-limit)), limit)));
    }
    template <class V>
    static std::array<V, 2> moduli(const V* p, const V* z) {
        const V factor = hardening(p, z);
        return {p[0] * factor, p[1] * factor};
    }
    template <class V, int d>
    static V energy(const Mat<V, d>& F, const V* p, const V* z) {
        return FixedCorotated::energy(F, moduli(p, z).data(), z);
    }
    template <class V, int d>
    static Mat<V, d> piola(const Mat<V, d>& F, const V* p, const V* z) {
        return FixedCorotated::piola(F, moduli(p, z).data(), z);
    }
    template <class V, int d>
    static Mat<V, d> kirchhoff(const Mat<V, d>& F, const V* p, const V* z) {
        return FixedCorotated::kirchhoff(F, moduli(p, z).data(), z);
    }
    template <class V, int d>
    static Principal<V, d> principal(const Vec<V, d>& s, const V* p, const V* z) {
        return FixedCorotated::principal<V, d>(s, moduli(p, z).data(), z);
    }
    template <class V, int d>
    static V modulus(const Mat<V, d>&, const V* p, const V* z) {
        return (p[1] + V(2) * p[0]) * hardening(p, z);
    }
    // Whether all leading minors of a symmetric matrix are positive: Sylvester's criterion.
    template <class V, int d>
    static auto positive_definite(const Mat<V, d>& m) {
        const V second = m(0, 0) * m(1, 1) - m(0, 1) * m(1, 0);
        if constexpr (d == 2)
            return m(0, 0) > V(0) && second > V(0);
        else
            return m(0, 0) > V(0) && second > V(0) && determinant(m) > V(0);
    }
    // Squared stretches are eigenvalues of F^T F: half of all snow is known to be inside its limits without a decomposition.
    template <class V, int d>
    static auto clearly_elastic(const Mat<V, d>& F, const V* p) {
        const V rounding = V(Scalar<V>(16) * std::numeric_limits<Scalar<V>>::epsilon()), one = V(1);
        const Mat<V, d> squared = transpose(F) * F, identity = Mat<V, d>::identity();
        return positive_definite(squared - (p[2] * p[2] * (one + rounding)) * identity) &&
               positive_definite((p[3] * p[3] * (one - rounding)) * identity - squared) && determinant(F) > V(0);
    }
    // Clamp the stretches to [lower, upper]; what is cut off goes into the plastic volume ratio Jp, or, where `preserve`
    // is set, back into the elastic part as a pure dilation, so that plastic flow keeps the volume (J15 section 6.4.1).
    template <class V, int d>
    static void flow(Mat<V, d>& F, const TrialStep<V, d>&, const V* p, V* z) {
        if (all(clearly_elastic(F, p))) return;
        Svd<V, d> f = polar_svd(F);
        V trial = V(1), kept = V(1);
        auto inside = f.s[0] == f.s[0];
        for (int i = 0; i < d; ++i) {
            const V clamped = min(max(f.s[i], p[2]), p[3]);
            inside = inside && clamped == f.s[i];
            trial *= f.s[i];
            kept *= clamped;
            f.s[i] = clamped;
        }
        // Elastic states are left untouched to the last bit.
        if (all(inside)) return;
        const V ratio = abs(trial) / kept;
        const auto preserve = p[5] > V(0) && ratio > V(0);
        if (any(preserve)) {
            const V dilation = exp_of(V(log_of(V(select(preserve, ratio, V(1)))) / V(d)));
            for (int i = 0; i < d; ++i) f.s[i] *= dilation;
        }
        const Mat<V, d> projected = compose(f.U, f.s, f.V_);
        for (int k = 0; k < d * d; ++k) F.a[k] = select(inside, F.a[k], projected.a[k]);
        z[0] = select(inside || preserve, z[0], V(z[0] * ratio));
    }
};

}  // namespace continua
