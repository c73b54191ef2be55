// What a material model provides, and what follows from it for every model.
//
// A model is a struct with
//   name, parameters (names, in order), states (names of history variables, in order)
//   energy(F, p, z)                Psi per unit reference volume [Pa], +inf where F is not admissible
//   piola(F, p, z)                 P = dPsi/dF, +inf where F is not admissible
//   principal(s, p, z)             derivatives of Psi^(s) for the differential (see Principal)
//   modulus(F, p, z)               stiffness lam + 2 mu as it is now, for the wave speed
// and, where the material needs it,
//   flow(F, step, p, z)            plastic or viscous flow: projects the trial F, updates the history z
//   viscosity(p)                   Newtonian viscosity eta [Pa s]: adds 2 eta J sym(grad v) to tau
//   advance(F, step, p, z, tau)    flow and Kirchhoff stress at once, where both share a decomposition
// templated over V = float, double or lanes of them, and d = 2, 3. p and z are arrays of V.
#pragma once

#include <array>
#include <string_view>

#include "../math/elementary.hpp"
#include "tangent.hpp"

namespace continua {

// The step that led to a trial state.
template <class V, int d>
struct TrialStep {
    V dt;
    Mat<V, d> grad_v;
};

template <class Model>
concept Flowing = requires(Mat<double, 2>& F, const TrialStep<double, 2>& step, const double* p, double* z) {
    Model::flow(F, step, p, z);
};
template <class Model>
concept Viscous = requires(const double* p) { Model::viscosity(p); };
template <class Model>
concept Fused = requires(Mat<double, 2>& F, const TrialStep<double, 2>& step, const double* p, double* z) {
    Model::advance(F, step, p, z, F);
};
// Stress that depends on the velocity, or that falls out of the flow, is computed once and kept with the particle.
template <class Model>
concept KeepsStress = Viscous<Model> || Fused<Model>;

template <class V>
inline V infinity() {
    return V(std::numeric_limits<Scalar<V>>::infinity());
}
// +inf in all entries where F is not admissible.
template <class V, int d, class Mask>
inline Mat<V, d> where_feasible(const Mask& feasible, Mat<V, d> P) {
    if (all(feasible)) return P;
    for (auto& e : P.a) e = select(feasible, e, infinity<V>());
    return P;
}

// tau = P F^T, +inf where P is.
template <class V, int d>
inline Mat<V, d> kirchhoff_from(const Mat<V, d>& P, const Mat<V, d>& F) {
    return where_feasible(P.a[0] < infinity<V>(), times_transpose(P, F));
}

// Product of the principal stretches other than i (and j); 1 when none is left.
template <class V, int d>
inline V product_without(const Vec<V, d>& s, int i, int j = -1) {
    V product = V(1);
    for (int k = 0; k < d; ++k)
        if (k != i && k != j) product *= s[k];
    return product;
}

// tau += 2 eta J sym(grad v)                                      J15 section 4.2, stress 2 eta sym(grad v)
template <class V, int d>
inline void add_viscous_stress(const V& eta, const V& J, const Mat<V, d>& grad_v, Mat<V, d>& tau) {
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) tau(i, j) += eta * J * (grad_v(i, j) + grad_v(j, i));
}

// Stress for which a model has a shorter formula than P F^T.
template <class Model>
concept StressesDirectly = requires(const Mat<double, 2>& F, const double* p, const double* z) { Model::kirchhoff(F, p, z); };

template <class Model, class V, int d>
inline Mat<V, d> elastic_stress(const Mat<V, d>& F, const V* p, const V* z) {
    if constexpr (StressesDirectly<Model>)
        return Model::kirchhoff(F, p, z);
    else
        return kirchhoff_from(Mat<V, d>(Model::piola(F, p, z)), F);
}

// Kirchhoff stress of the state F, z while the material moves with the velocity gradient grad_v.
template <class Model, class V, int d>
inline Mat<V, d> kirchhoff_stress(const Mat<V, d>& F, const Mat<V, d>& grad_v, const V* p, const V* z) {
    Mat<V, d> tau = elastic_stress<Model>(F, p, z);
    if constexpr (Viscous<Model>) add_viscous_stress(V(Model::viscosity(p)), determinant(F), grad_v, tau);
    return tau;
}

// Flow of the trial F, then its stress.
template <class Model, class V, int d>
inline void advance_model(Mat<V, d>& F, const TrialStep<V, d>& step, const V* p, V* z, Mat<V, d>& tau) {
    if constexpr (Fused<Model>) {
        Model::advance(F, step, p, z, tau);
    } else {
        if constexpr (Flowing<Model>) Model::flow(F, step, p, z);
        tau = elastic_stress<Model>(F, (const V*)p, (const V*)z);
    }
    if constexpr (Viscous<Model>) add_viscous_stress(V(Model::viscosity(p)), determinant(F), step.grad_v, tau);
}

}  // namespace continua
