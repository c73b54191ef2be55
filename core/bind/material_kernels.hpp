// Definitions of the functions in material_arrays.hpp and of the batch tables, for all models of the catalogue.
#pragma once

#include "../materials/catalogue.hpp"
#include "material_arrays.hpp"

namespace continua {

namespace detail {

template <class T>
struct Inputs {
    const T *F, *p, *z;
    int64_t n;
};

template <class Model, class T, int d>
Inputs<T> inputs(const MaterialArrays& in) {
    const int64_t n = length(in.F, "F", 1);
    return {checked<T>(in.F, "F", {d * d, n}), checked<T>(in.parameters, "parameters", {int64_t(Model::parameters.size()), n}),
            checked<T>(in.state, "state", {int64_t(Model::states.size()), n}), n};
}
template <class V, int d>
Mat<V, d> matrix_at(const Scalar<V>* from, int64_t n, int64_t i) {
    Mat<V, d> m;
    for (int k = 0; k < d * d; ++k) m.a[k] = load<V>(from + k * n + i);
    return m;
}
template <class V, int d>
void put_matrix(const Mat<V, d>& m, Scalar<V>* to, int64_t n, int64_t i) {
    for (int k = 0; k < d * d; ++k) store(m.a[k], to + k * n + i);
}

// f<V>(F, p, z, i) for all particles, lanes first and the ragged end as scalars.
template <class Model, class T, int d, class Function>
void for_particles(const Inputs<T>& in, Function&& f) {
    auto at = [&]<class V>(int64_t i) {
        Mat<V, d> F = matrix_at<V, d>(in.F, in.n, i);
        V p[Model::parameters.size() + 1] = {}, z[Model::states.size() + 1] = {};
        for (size_t k = 0; k < Model::parameters.size(); ++k) p[k] = load<V>(in.p + k * in.n + i);
        for (size_t k = 0; k < Model::states.size(); ++k) z[k] = load<V>(in.z + k * in.n + i);
        f(F, (const V*)p, z, i);
    };
    constexpr int width = lanes_of<Lanes<T>>();
    const int64_t whole = in.n / width;
#pragma omp parallel for schedule(static) num_threads(team(in.n))
    for (int64_t k = 0; k < whole; ++k) at.template operator()<Lanes<T>>(k * width);
    for (int64_t i = whole * width; i < in.n; ++i) at.template operator()<T>(i);
}

template <class T, class Function>
void dispatch_model(const std::string& name, nb::handle F, Function&& f) {
    const int64_t rows = length(F, "F");
    if (rows != 4 && rows != 9) throw std::invalid_argument("F: expected 4 or 9 rows (one per matrix entry)");
    with_model(name, [&]<class Model>() {
        if (rows == 4)
            f.template operator()<Model, 2>();
        else
            f.template operator()<Model, 3>();
    });
}

}  // namespace detail

template <class T>
void material_energy(const std::string& name, const MaterialArrays& arrays, nb::handle out) {
    detail::dispatch_model<T>(name, arrays.F, [&]<class Model, int d>() {
        const auto in = detail::inputs<Model, T, d>(arrays);
        T* psi = checked<T>(out, "out", {in.n});
        detail::for_particles<Model, T, d>(
            in, [&](auto& F, auto* p, auto* z, int64_t i) { store(Model::energy(F, p, z), psi + i); });
    });
}
template <class T>
void material_piola(const std::string& name, const MaterialArrays& arrays, nb::handle out) {
    detail::dispatch_model<T>(name, arrays.F, [&]<class Model, int d>() {
        const auto in = detail::inputs<Model, T, d>(arrays);
        T* to = checked<T>(out, "out", {d * d, in.n});
        detail::for_particles<Model, T, d>(
            in, [&](auto& F, auto* p, auto* z, int64_t i) { detail::put_matrix(Model::piola(F, p, z), to, in.n, i); });
    });
}
template <class T>
void material_differential(const std::string& name, const MaterialArrays& arrays, nb::handle dF, bool positive,
                           nb::handle out) {
    detail::dispatch_model<T>(name, arrays.F, [&]<class Model, int d>() {
        const auto in = detail::inputs<Model, T, d>(arrays);
        const T* df = checked<T>(dF, "dF", {d * d, in.n});
        T* to = checked<T>(out, "out", {d * d, in.n});
        detail::for_particles<Model, T, d>(in, [&](auto& F, auto* p, auto* z, int64_t i) {
            using V = std::remove_cvref_t<decltype(F.a[0])>;
            const Mat<V, d> dA = detail::matrix_at<V, d>(df, in.n, i);
            detail::put_matrix(piola_differential<Model>(F, dA, p, (const V*)z, positive), to, in.n, i);
        });
    });
}
template <class T>
void material_kirchhoff(const std::string& name, const MaterialArrays& arrays, nb::handle grad_v, nb::handle out) {
    detail::dispatch_model<T>(name, arrays.F, [&]<class Model, int d>() {
        const auto in = detail::inputs<Model, T, d>(arrays);
        const T* rate = checked<T>(grad_v, "grad_v", {d * d, in.n});
        T* to = checked<T>(out, "out", {d * d, in.n});
        detail::for_particles<Model, T, d>(in, [&](auto& F, auto* p, auto* z, int64_t i) {
            using V = std::remove_cvref_t<decltype(F.a[0])>;
            const Mat<V, d> L = detail::matrix_at<V, d>(rate, in.n, i);
            detail::put_matrix(kirchhoff_stress<Model>(F, L, p, (const V*)z), to, in.n, i);
        });
    });
}
// In place on F and state.
template <class T>
void material_flow(const std::string& name, const MaterialArrays& arrays, double dt, nb::handle grad_v) {
    detail::dispatch_model<T>(name, arrays.F, [&]<class Model, int d>() {
        const auto in = detail::inputs<Model, T, d>(arrays);
        const T* rate = checked<T>(grad_v, "grad_v", {d * d, in.n});
        if constexpr (Flowing<Model>)
            detail::for_particles<Model, T, d>(in, [&](auto& F, auto* p, auto* z, int64_t i) {
                using V = std::remove_cvref_t<decltype(F.a[0])>;
                Model::flow(F, TrialStep<V, d>{V(T(dt)), detail::matrix_at<V, d>(rate, in.n, i)}, p, z);
                detail::put_matrix(F, const_cast<T*>(in.F), in.n, i);
                for (size_t k = 0; k < Model::states.size(); ++k) store(z[k], const_cast<T*>(in.z) + k * in.n + i);
            });
    });
}

template <class T, int d>
bool batch_functions(const std::string& name, const Particles<T>& particles, const Parameters<T>& parameters,
                     BatchFunctions<T, d>& out) {
    if (name.empty()) return false;
    with_model(name, [&]<class Model>() {
        if (parameters.count != int(Model::parameters.size()))
            throw std::invalid_argument("parameters: wrong number for material '" + name + "'");
        if (particles.states < int(Model::states.size()))
            throw std::invalid_argument("particles.state: too few rows for material '" + name + "'");
        out = Batch<Model, T, d>::table();
    });
    return true;
}

}  // namespace continua
