// Whole-array material functions: F (d*d, n), parameters (np, n), state (ns, n), component-major.
#include "arrays.hpp"

namespace continua {
namespace {

template <class T>
struct Inputs {
    const T *F, *p, *z;
    int64_t n;
};

template <class Model, class T, int d>
Inputs<T> inputs(nb::handle F, nb::handle p, nb::handle z) {
    const int64_t n = length(F, "F", 1);
    return {checked<T>(F, "F", {d * d, n}), checked<T>(p, "parameters", {int64_t(Model::parameters.size()), n}),
            checked<T>(z, "state", {int64_t(Model::states.size()), n}), n};
}

// f<V>(F, p, z, i) for all particles, lanes first and the ragged end as scalars.
template <class Model, class T, int d, class Function>
void for_particles(const Inputs<T>& in, Function&& f) {
    auto at = [&]<class V>(int64_t i) {
        Mat<V, d> F;
        V p[Model::parameters.size() + 1] = {}, z[Model::states.size() + 1] = {};
        for (int k = 0; k < d * d; ++k) F.a[k] = load<V>(in.F + k * in.n + i);
        for (size_t k = 0; k < Model::parameters.size(); ++k) p[k] = load<V>(in.p + k * in.n + i);
        for (size_t k = 0; k < Model::states.size(); ++k) z[k] = load<V>(in.z + k * in.n + i);
        f(F, p, z, i);
    };
    constexpr int width = lanes_of<Lanes<T>>();
    const int64_t whole = in.n / width;
#pragma omp parallel for schedule(static) num_threads(team(in.n))
    for (int64_t k = 0; k < whole; ++k) at.template operator()<Lanes<T>>(k * width);
    for (int64_t i = whole * width; i < in.n; ++i) at.template operator()<T>(i);
}

template <class Function>
void dispatch_model(const std::string& name, nb::handle F, Function&& f) {
    const int64_t rows = length(F, "F");
    if (rows != 4 && rows != 9) throw std::invalid_argument("F: expected 4 or 9 rows (one per matrix entry)");
    with_model(name, [&]<class Model>() {
        dispatch(F, "F", rows == 4 ? 2 : 3, [&]<class T, int d>() { f.template operator()<Model, T, d>(); });
    });
}

void energy(const std::string& name, nb::object F, nb::object p, nb::object z, nb::object out) {
    dispatch_model(name, F, [&]<class Model, class T, int d>() {
        const auto in = inputs<Model, T, d>(F, p, z);
        T* psi = checked<T>(out, "out", {in.n});
        for_particles<Model, T, d>(in, [&](auto& A, auto* q, auto* s, int64_t i) {
            store(Model::energy(A, q, s), psi + i);
        });
    });
}
void piola(const std::string& name, nb::object F, nb::object p, nb::object z, nb::object out) {
    dispatch_model(name, F, [&]<class Model, class T, int d>() {
        const auto in = inputs<Model, T, d>(F, p, z);
        T* to = checked<T>(out, "out", {d * d, in.n});
        for_particles<Model, T, d>(in, [&](auto& A, auto* q, auto* s, int64_t i) {
            const auto P = Model::piola(A, q, s);
            for (int k = 0; k < d * d; ++k) store(P.a[k], to + k * in.n + i);
        });
    });
}
void differential(const std::string& name, nb::object F, nb::object dF, nb::object p, nb::object z, bool positive,
                  nb::object out) {
    dispatch_model(name, F, [&]<class Model, class T, int d>() {
        const auto in = inputs<Model, T, d>(F, p, z);
        const T* df = checked<T>(dF, "dF", {d * d, in.n});
        T* to = checked<T>(out, "out", {d * d, in.n});
        for_particles<Model, T, d>(in, [&](auto& A, auto* q, auto* s, int64_t i) {
            auto dA = A;
            using V = std::remove_cvref_t<decltype(A.a[0])>;
            for (int k = 0; k < d * d; ++k) dA.a[k] = load<V>(df + k * in.n + i);
            const auto dP = piola_differential<Model>(A, dA, (const V*)q, (const V*)s, positive);
            for (int k = 0; k < d * d; ++k) store(dP.a[k], to + k * in.n + i);
        });
    });
}
// Plastic flow in place on F and state.
void flow(const std::string& name, nb::object F, nb::object p, nb::object z) {
    dispatch_model(name, F, [&]<class Model, class T, int d>() {
        const auto in = inputs<Model, T, d>(F, p, z);
        if constexpr (Plastic<Model>)
            for_particles<Model, T, d>(in, [&](auto& A, auto* q, auto* s, int64_t i) {
                Model::flow(A, q, s);
                for (int k = 0; k < d * d; ++k) store(A.a[k], const_cast<T*>(in.F) + k * in.n + i);
                for (size_t k = 0; k < Model::states.size(); ++k) store(s[k], const_cast<T*>(in.z) + k * in.n + i);
            });
    });
}
// The largest (lam + 2 mu) V0 / m over all particles: squared wave speed.
double max_wave_speed2(const std::string& name, int dimension, nb::object particles_, nb::object parameters_) {
    return dispatch(particles_.attr("x"), "particles.x", dimension, [&]<class T, int d>() {
        const Particles<T> P = particles_of<T, d>(particles_, "particles");
        const Parameters<T> parameters = parameters_of<T>(parameters_, P);
        BatchFunctions<T, d> material;
        if (!batch_functions<T, d>(name, P, parameters, material))
            throw std::invalid_argument("material: a name is needed");
        double most = 0;
#pragma omp parallel for reduction(max : most) num_threads(team(P.count))
        for (int64_t begin = 0; begin < P.count; begin += kBatch) {
            int32_t index[kBatch];
            const int count = int(std::min<int64_t>(kBatch, P.count - begin));
            for (int j = 0; j < kBatch; ++j) index[j] = int32_t(begin + std::min(j, count - 1));
            const BatchIndices batch(index, 0, count);
            alignas(64) T p[kMaxParameters * kBatch], z[kMaxStates * kBatch], stiff[kBatch];
            batch.fetch(P.state, P.stride, P.states, z);
            batch.fetch(parameters, p);
            material.modulus(p, z, stiff);
            for (int j = 0; j < count; ++j)
                most = std::max(most, double(stiff[j]) * double(P.volume[begin + j]) / double(P.mass[begin + j]));
        }
        return most;
    });
}
nb::list catalogue() {
    nb::list list;
    [&]<class... Models>(std::tuple<Models...>*) {
        auto add = [&]<class Model>() {
            nb::dict d;
            nb::list parameters, states;
            for (auto name : Model::parameters) parameters.append(std::string(name));
            for (auto name : Model::states) states.append(std::string(name));
            d["name"] = std::string(Model::name);
            d["parameters"] = parameters;
            d["states"] = states;
            d["plastic"] = Plastic<Model>;
            list.append(d);
        };
        (add.template operator()<Models>(), ...);
    }((Catalogue*)nullptr);
    return list;
}

}  // namespace

void bind_materials(nb::module_& m) {
    m.def("material_catalogue", &catalogue);
    m.def("material_energy", &energy, nb::arg("name"), nb::arg("F"), nb::arg("parameters"), nb::arg("state"), nb::arg("out"));
    m.def("material_piola", &piola, nb::arg("name"), nb::arg("F"), nb::arg("parameters"), nb::arg("state"), nb::arg("out"));
    m.def("material_differential", &differential, nb::arg("name"), nb::arg("F"), nb::arg("dF"), nb::arg("parameters"),
          nb::arg("state"), nb::arg("positive"), nb::arg("out"));
    m.def("material_flow", &flow, nb::arg("name"), nb::arg("F"), nb::arg("parameters"), nb::arg("state"));
    m.def("max_wave_speed2", &max_wave_speed2, nb::arg("name"), nb::arg("dimension"), nb::arg("particles"), nb::arg("parameters"));
}

}  // namespace continua
