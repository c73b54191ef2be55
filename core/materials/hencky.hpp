// Quadratic energy of the logarithmic (Hencky) strain, and the plastic models built on it. W20 (3.3)-(3.5).
// In principal logarithmic strains e the stress is linear, tau = 2 mu e + lam sum(e), and plastic flow is a projection of e.
#pragma once

#include "model.hpp"

namespace continua {

struct Hencky {
    static constexpr std::string_view name = "hencky";
    static constexpr std::array<std::string_view, 2> parameters{"mu", "lam"};
    static constexpr std::array<std::string_view, 0> states{};

    template <class V, int d>
    static auto feasible(const Vec<V, d>& s) {
        return s[d - 1] > V(0);
    }
    template <class V, int d>
    static Vec<V, d> strain(const Vec<V, d>& s) {
        Vec<V, d> e;
        for (int i = 0; i < d; ++i) e[i] = log_of(V(select(s[i] > V(0), s[i], V(1))));
        return e;
    }
    template <class V, int d>
    static V sum(const Vec<V, d>& e) {
        V total = e[0];
        for (int i = 1; i < d; ++i) total += e[i];
        return total;
    }
    // Psi = mu sum e_i^2 + lam/2 (sum e_i)^2, +inf unless all stretches are positive
    template <class V, int d>
    static V energy(const Mat<V, d>& F, const V* p, const V*) {
        const Svd<V, d> f = polar_svd(F);
        const Vec<V, d> e = strain(f.s);
        const V total = sum(e);
        V psi = V(0.5f) * p[1] * total * total;
        for (int i = 0; i < d; ++i) psi += p[0] * e[i] * e[i];
        return select(feasible(f.s), psi, infinity<V>());
    }
    template <class V, int d>
    static Vec<V, d> principal_stress(const Vec<V, d>& e, const V* p) {
        Vec<V, d> tau;
        const V pressure = p[1] * sum(e);
        for (int i = 0; i < d; ++i) tau[i] = V(2) * p[0] * e[i] + pressure;
        return tau;
    }
    template <class V, int d>
    static Mat<V, d> piola(const Mat<V, d>& F, const V* p, const V*) {
        const Svd<V, d> f = polar_svd(F);
        Vec<V, d> g = principal_stress(strain(f.s), p);
        for (int i = 0; i < d; ++i) g[i] = g[i] / select(f.s[i] > V(0), f.s[i], V(1));
        return where_feasible(feasible(f.s), compose(f.U, g, f.V_));
    }
    template <class V, int d>
    static Principal<V, d> principal(const Vec<V, d>& s, const V* p, const V*) {
        const Vec<V, d> e = strain(s);
        const V two_mu = V(2) * p[0], lam = p[1], pressure = lam * sum(e);
        Principal<V, d> k;
        for (int i = 0; i < d; ++i) {
            k.g[i] = (two_mu * e[i] + pressure) / s[i];
            k.a(i, i) = k.b(i, i) = V(0);
            for (int j = 0; j < d; ++j) {
                const V ss = s[i] * s[j];
                k.h(i, j) = lam / ss;
                if (j == i) {
                    k.h(i, i) += (two_mu * (V(1) - e[i]) - pressure) / ss;
                } else {
                    const V gj = (two_mu * e[j] + pressure) / s[j], gi = (two_mu * e[i] + pressure) / s[i];
                    k.a(i, j) = (two_mu * (s[j] * log_slope(s[i], s[j]) - e[j]) - pressure) / ss;
                    k.b(i, j) = (gi + gj) / guarded_sum(s, i, j);
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

// Hencky elasticity limited by a yield surface. Yield provides name, parameters (mu, lam first), states and
//   project(e, dt, p, z) -> mask     moves the principal strains e (largest first) back, true where they were moved.
template <class Yield>
struct HenckyPlastic {
    static constexpr std::string_view name = Yield::name;
    static constexpr auto parameters = Yield::parameters;
    static constexpr auto states = Yield::states;
    static constexpr double smallest_stretch = 0.01;  // flattened or inverted material is given this thickness

    template <class V, int d>
    static V energy(const Mat<V, d>& F, const V* p, const V* z) {
        return Hencky::energy(F, p, z);
    }
    template <class V, int d>
    static Mat<V, d> piola(const Mat<V, d>& F, const V* p, const V* z) {
        return Hencky::piola(F, p, z);
    }
    template <class V, int d>
    static Principal<V, d> principal(const Vec<V, d>& s, const V* p, const V* z) {
        return Hencky::principal<V, d>(s, p, z);
    }
    template <class V, int d>
    static V modulus(const Mat<V, d>& F, const V* p, const V* z) {
        return Hencky::modulus(F, p, z);
    }
    // Projects F and returns its rotation U and principal strains.
    template <class V, int d>
    static Vec<V, d> project(Mat<V, d>& F, Svd<V, d>& f, const V& dt, const V* p, V* z) {
        using T = Scalar<V>;
        f = polar_svd(F);
        auto moved = f.s[d - 1] < V(T(smallest_stretch));
        for (int i = 0; i < d; ++i) f.s[i] = max(f.s[i], V(T(smallest_stretch)));
        Vec<V, d> e = Hencky::strain(f.s);
        moved = moved || Yield::template project<V, d>(e, dt, p, z);
        if (!any(moved)) return e;
        for (int i = 0; i < d; ++i) f.s[i] = exp_of(e[i]);
        const Mat<V, d> projected = compose(f.U, f.s, f.V_);
        for (int k = 0; k < d * d; ++k) F.a[k] = select(moved, projected.a[k], F.a[k]);
        return e;
    }
    template <class V, int d>
    static void flow(Mat<V, d>& F, const TrialStep<V, d>& step, const V* p, V* z) {
        Svd<V, d> f;
        project(F, f, step.dt, p, z);
    }
    template <class V, int d>
    static void advance(Mat<V, d>& F, const TrialStep<V, d>& step, const V* p, V* z, Mat<V, d>& tau) {
        Svd<V, d> f;
        const Vec<V, d> e = project(F, f, step.dt, p, z);
        tau = compose(f.U, Hencky::principal_stress(e, p), f.U);
    }
};

// Mean and deviator of principal strains.
template <class V, int d>
struct Deviator {
    V mean, norm;
    Vec<V, d> q;

    explicit Deviator(const Vec<V, d>& e) {
        mean = Hencky::sum(e) / V(d);
        V norm2 = V(0);
        for (int i = 0; i < d; ++i) {
            q[i] = e[i] - mean;
            norm2 += q[i] * q[i];
        }
        norm = sqrt(norm2);
    }
    // q shortened by `cut`, as a factor.
    V shortened(const V& cut) const { return V(1) - cut / select(norm > V(0), norm, V(1)); }
};

}  // namespace continua
