// What a material model provides, and everything derived from it.
//
// A model is a struct with
//   name, parameters (names, in order), states (names, in order)
//   energy(F, p, z)          Psi per unit reference volume [Pa]
//   piola(F, p, z)           P = dPsi/dF
//   principal(s, p, z)       derivatives of Psi^(s) for the differential (J15 section 2.1, see Principal)
//   modulus(p, z)            lam + 2 mu as it is now, for the wave speed
//   flow(F, p, z)            optional: plastic projection of the trial F, updating the state z
// templated over V = float, double or lanes of them, and d = 2, 3. p and z are arrays of V.
#pragma once

#include <array>
#include <string_view>

#include "../math/differentials.hpp"
#include "../math/eig.hpp"
#include "../math/polar.hpp"

namespace continua {

// Isotropic Psi^(s): gradient g_i, Hessian h_ij and the pair coefficients
// a_ij = (g_i - g_j)/(s_i - s_j), b_ij = (g_i + g_j)/(s_i + s_j), the latter two free of cancellation.
template <class V, int d>
struct Principal {
    Vec<V, d> g;
    Mat<V, d> h, a, b;
};

// Product of the principal stretches other than i (and j); 1 when none is left.
template <class V, int d>
inline V product_without(const Vec<V, d>& s, int i, int j = -1) {
    V product = V(1);
    for (int k = 0; k < d; ++k)
        if (k != i && k != j) product *= s[k];
    return product;
}

// dP = U Q V^T for the direction dF, optionally with negative eigenvalues of the tangent removed.
template <class Model, class V, int d>
inline Mat<V, d> piola_differential(const Mat<V, d>& F, const Mat<V, d>& dF, const V* p, const V* z, bool positive) {
    const Svd<V, d> f = polar_svd(F);
    Principal<V, d> k = Model::template principal<V, d>(f.s, p, z);
    if (positive) {
        k.h = positive_part(k.h);
        for (int e = 0; e < d * d; ++e) {
            k.a.a[e] = max(k.a.a[e], V(0));
            k.b.a[e] = max(k.b.a[e], V(0));
        }
    }
    const Mat<V, d> M = transpose(f.U) * dF * f.V_;
    Mat<V, d> Q;
    for (int i = 0; i < d; ++i) {
        V sum = V(0);
        for (int j = 0; j < d; ++j) sum += k.h(i, j) * M(j, j);
        Q(i, i) = sum;
        for (int j = i + 1; j < d; ++j) {
            const V even = V(0.5f) * k.a(i, j) * (M(i, j) + M(j, i));
            const V odd = V(0.5f) * k.b(i, j) * (M(i, j) - M(j, i));
            Q(i, j) = even + odd;
            Q(j, i) = even - odd;
        }
    }
    return times_transpose(Mat<V, d>(f.U * Q), f.V_);
}

// ---- one batch of kBatch particles, component-major: what the transfer kernels call ---------------------------
template <class T, int d>
struct BatchFunctions {
    static constexpr int kSym = d * (d + 1) / 2;
    void (*kirchhoff)(const T* F, const T* p, const T* z, T* tau) = nullptr;  // tau: 00 01 (02) 11 (12 22)
    void (*flow)(T* F, const T* p, T* z) = nullptr;                           // null: elastic
    void (*modulus)(const T* p, const T* z, T* out) = nullptr;
};

template <class Model>
concept Plastic = requires(Mat<double, 2>& F, const double* p, double* z) { Model::flow(F, p, z); };

template <class Model, class T, int d>
struct Batch {
    using V = Lanes<T>;
    static constexpr int kParameters = int(Model::parameters.size());
    static constexpr int kStates = int(Model::states.size());
    static constexpr int kWidth = lanes_of<V>();
    static_assert(kBatch % kWidth == 0);

    template <int n>
    static void read(const T* from, int lane, V* to) {
        for (int k = 0; k < n; ++k) to[k] = load<V>(from + k * kBatch + lane);
    }
    static void kirchhoff(const T* F_, const T* p_, const T* z_, T* tau_) {
        for (int lane = 0; lane < kBatch; lane += kWidth) {
            Mat<V, d> F;
            V p[kParameters], z[kStates + 1];
            read<d * d>(F_, lane, F.a);
            read<kParameters>(p_, lane, p);
            read<kStates>(z_, lane, z);
            const Mat<V, d> P = Model::piola(F, p, z);
            int k = 0;
            for (int i = 0; i < d; ++i)
                for (int j = i; j < d; ++j) {
                    V sum = P(i, 0) * F(j, 0);
                    for (int l = 1; l < d; ++l) sum += P(i, l) * F(j, l);
                    store(sum, tau_ + (k++) * kBatch + lane);
                }
        }
    }
    static void flow(T* F_, const T* p_, T* z_) {
        if constexpr (Plastic<Model>) {
            for (int lane = 0; lane < kBatch; lane += kWidth) {
                Mat<V, d> F;
                V p[kParameters], z[kStates + 1];
                read<d * d>(F_, lane, F.a);
                read<kParameters>(p_, lane, p);
                read<kStates>(z_, lane, z);
                Model::flow(F, p, z);
                for (int k = 0; k < d * d; ++k) store(F.a[k], F_ + k * kBatch + lane);
                for (int k = 0; k < kStates; ++k) store(z[k], z_ + k * kBatch + lane);
            }
        }
    }
    static void modulus(const T* p_, const T* z_, T* out) {
        for (int lane = 0; lane < kBatch; lane += kWidth) {
            V p[kParameters], z[kStates + 1];
            read<kParameters>(p_, lane, p);
            read<kStates>(z_, lane, z);
            store(V(Model::modulus(p, z)), out + lane);
        }
    }
    static constexpr BatchFunctions<T, d> table() {
        return {&kirchhoff, Plastic<Model> ? &flow : nullptr, &modulus};
    }
};

}  // namespace continua
