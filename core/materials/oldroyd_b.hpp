// Oldroyd-B viscoelasticity whose plastic flow keeps the volume. J15 chapter 4.
//
// The conformation b relaxes towards I with the relaxation time Wi while the flow carries it along; the elastic strain is
// bE = (J^2/det b)^(1/d) b. F is a root of it, F F^T = bE and det F = J, so that one number per particle remembers the
// rest: b = scale F F^T. Because only F F^T matters, F is replaced by the Cholesky factor after each step.
//
// Update over dt with A = dt grad v, r = 1 - exp(-dt/Wi):
//   b <- (1 - r) (I + A) b (I + A)^T + r I       keeps b positive definite for every dt (default)
//   b <- b + dt/Wi (I - b) + A b + b A^T         as printed, J15 (4.13); where it loses definiteness the default is used
// Energy, stress and differential take the relaxation r of the step to come as a parameter (0: the state as it is); with
// r > 0 they are those of the incremental potential that an implicit step minimises, still isotropic in F.
#pragma once

#include "neo_hookean.hpp"

namespace continua {

struct OldroydB {
    static constexpr std::string_view name = "oldroyd-b";
    static constexpr std::array<std::string_view, 6> parameters{"mu", "lam", "viscosity", "rate", "printed", "relaxed"};
    static constexpr std::array<std::string_view, 1> states{"stretch_scale"};

    template <class V>
    static V viscosity(const V* p) {
        return p[2];
    }
    // Eigenvalues beta of the conformation after relaxation, and M = (J^2/det)^(1/d).
    template <class V, int d>
    struct Relaxed {
        V r, growth, J, M, sum;  // growth = (1 - r) scale
        Vec<V, d> beta;

        Relaxed(const Vec<V, d>& s, const V* p, const V* z) : r(p[5]), growth((V(1) - p[5]) * z[0]), J(V(1)), sum(V(0)) {
            V product = V(1);
            for (int i = 0; i < d; ++i) {
                beta[i] = growth * s[i] * s[i] + r;
                J *= s[i];
                product *= beta[i];
                sum += beta[i];
            }
            if (!all(product > V(0))) J = select(product > V(0), J, V(0));  // too flat for its numbers
            const auto feasible = J > V(0);
            M = exp_of(V(log_of(V(select(feasible, V(J * J / product), V(1)))) / V(d)));
        }
    };
    // Psi = mu/2 (M sum(beta) - d) - mu ln J + lam/2 (J - 1)^2
    template <class V, int d>
    static V energy(const Mat<V, d>& F, const V* p, const V* z) {
        const Relaxed<V, d> k(polar_svd(F).s, p, z);
        const auto feasible = k.J > V(0);
        const V log_J = log_of(V(select(feasible, k.J, V(1)))), volume = k.J - V(1);
        const V psi = p[0] * (V(0.5f) * (k.M * k.sum - V(d)) - log_J) + V(0.5f) * p[1] * volume * volume;
        return select(feasible, psi, infinity<V>());
    }
    template <class V, int d>
    static Mat<V, d> piola(const Mat<V, d>& F, const V* p, const V* z) {
        const Svd<V, d> f = polar_svd(F);
        const Relaxed<V, d> k(f.s, p, z);
        const auto feasible = k.J > V(0);
        Vec<V, d> g;
        for (int i = 0; i < d; ++i) g[i] = stretch_force(k, i, p) / select(feasible, f.s[i], V(1));
        return where_feasible(feasible, compose(f.U, g, f.V_));
    }
    // s_i dPsi/ds_i without the part that all directions share
    template <class V, int d>
    static V shape_force(const Relaxed<V, d>& k, int i) {
        return k.sum / V(d) * k.r / k.beta[i] + k.beta[i] - k.r;
    }
    template <class V, int d>
    static V stretch_force(const Relaxed<V, d>& k, int i, const V* p) {
        return p[0] * (k.M * shape_force(k, i) - V(1)) + p[1] * (k.J - V(1)) * k.J;
    }
    template <class V, int d>
    static Principal<V, d> principal(const Vec<V, d>& s, const V* p, const V* z) {
        const Relaxed<V, d> k(s, p, z);
        const V mu = p[0], lam = p[1], share = V(2) / V(d), mu_M = mu * k.M;
        const V q = lam * (k.J - V(1)) * k.J - mu, volume = lam * (V(2) * k.J - V(1)) * k.J;
        Principal<V, d> out;
        for (int i = 0; i < d; ++i) {
            out.g[i] = stretch_force(k, i, p) / s[i];
            out.a(i, i) = out.b(i, i) = V(0);
            for (int j = 0; j < d; ++j) {
                const V ss = s[i] * s[j], bi = k.beta[i], bj = k.beta[j];
                const V change = share * k.r / bj * shape_force(k, i) + share * (bj - k.r) * k.r / bi;
                out.h(i, j) = (mu_M * change + volume) / ss;
                if (j == i) {
                    const V own = V(2) * (bi - k.r) * (V(1) - k.sum / V(d) * k.r / (bi * bi));
                    out.h(i, i) += (mu_M * own - stretch_force(k, i, p)) / ss;
                } else {
                    const V square = s[i] * s[i] + s[j] * s[j], mixed = k.sum / V(d) * k.r / (bi * bj * ss);
                    out.a(i, j) = mu_M * (k.growth - mixed * (k.growth * (square + ss) + k.r)) - q / ss;
                    out.b(i, j) = mu_M * (k.growth + mixed * (k.growth * (square - ss) + k.r)) + q / ss;
                }
            }
        }
        return out;
    }
    // Stretched polymer is stiffer: 2 mu times the largest eigenvalue of bE at most.
    template <class V, int d>
    static V modulus(const Mat<V, d>& F, const V* p, const V*) {
        const V J = determinant(F), stretch = max(V(1), V(dot(F, F) - V(d - 1)));
        return V(2) * p[0] * stretch + p[1] * max(V(1), V((V(2) * J - V(1)) * J));
    }
    // Lower triangle L with L L^T = S; the mask tells where S is positive definite.
    template <class V, int d>
    static auto cholesky(const Mat<V, d>& S, Mat<V, d>& L) {
        L = Mat<V, d>::zero();
        auto definite = S(0, 0) > V(0);
        for (int j = 0; j < d; ++j) {
            V pivot = S(j, j);
            for (int k = 0; k < j; ++k) pivot -= L(j, k) * L(j, k);
            const auto positive = pivot > V(0);
            definite = definite && positive;
            L(j, j) = sqrt(V(select(positive, pivot, V(1))));
            for (int i = j + 1; i < d; ++i) {
                V entry = S(i, j);
                for (int k = 0; k < j; ++k) entry -= L(i, k) * L(j, k);
                L(i, j) = entry / L(j, j);
            }
        }
        return definite;
    }
    template <class V, int d>
    static Mat<V, d> printed_update(const Mat<V, d>& F, const TrialStep<V, d>& step, const V* p, const V* z) {
        const Mat<V, d> A = step.dt * step.grad_v, I = Mat<V, d>::identity(), map = I + A, cof = cofactor(map);
        const Mat<V, d> old = (V(1) / determinant(map, cof)) * (transpose(cof) * F);
        const Mat<V, d> b = z[0] * times_transpose(old, old), Ab = A * b;
        return b + (step.dt * p[3]) * (I - b) + Ab + transpose(Ab);
    }
    template <class V, int d>
    static void flow(Mat<V, d>& F, const TrialStep<V, d>& step, const V* p, V* z) {
        const V J = determinant(F);
        const auto printed = p[4] > V(0), elastic = (p[3] * step.dt == V(0) && !printed) || !(J > V(0));
        if (all(elastic)) return;
        const V kept = exp_of(V(-step.dt * p[3]));
        Mat<V, d> S = (kept * z[0]) * times_transpose(F, F), L;
        for (int i = 0; i < d; ++i) S(i, i) += V(1) - kept;
        cholesky(S, L);
        if (any(printed)) {
            Mat<V, d> other;
            const auto definite = cholesky(printed_update(F, step, p, z), other) && printed;
            for (int k = 0; k < d * d; ++k) L.a[k] = select(definite, other.a[k], L.a[k]);
        }
        V root = L(0, 0);  // of det b
        for (int i = 1; i < d; ++i) root *= L(i, i);
        const V size = exp_of(V(log_of(V(select(elastic, V(1), V(J / root)))) / V(d)));
        for (int k = 0; k < d * d; ++k) F.a[k] = select(elastic, F.a[k], V(size * L.a[k]));
        z[0] = select(elastic, z[0], V(V(1) / (size * size)));
    }
    template <class V, int d>
    static void advance(Mat<V, d>& F, const TrialStep<V, d>& step, const V* p, V* z, Mat<V, d>& tau) {
        flow(F, step, p, z);
        tau = QuadraticNeoHookean::kirchhoff(F, p, z);
    }
};

}  // namespace continua
