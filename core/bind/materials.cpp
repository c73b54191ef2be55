#include "../materials/catalogue.hpp"
#include "material_arrays.hpp"

namespace continua {
namespace {

// f.operator()<T>() for the number type of F.
template <class Function>
void for_precision(nb::handle F, Function&& f) {
    const auto dtype = as_array(F, "F").dtype();
    if (dtype == nb::dtype<float>())
        f.template operator()<float>();
    else if (dtype == nb::dtype<double>())
        f.template operator()<double>();
    else
        throw std::invalid_argument("F: expected float32 or float64");
}
void energy(const std::string& name, nb::object F, nb::object p, nb::object z, nb::object out) {
    for_precision(F, [&]<class T>() { material_energy<T>(name, {F, p, z}, out); });
}
void piola(const std::string& name, nb::object F, nb::object p, nb::object z, nb::object out) {
    for_precision(F, [&]<class T>() { material_piola<T>(name, {F, p, z}, out); });
}
void differential(const std::string& name, nb::object F, nb::object dF, nb::object p, nb::object z, bool positive,
                  nb::object out) {
    for_precision(F, [&]<class T>() { material_differential<T>(name, {F, p, z}, dF, positive, out); });
}
void kirchhoff(const std::string& name, nb::object F, nb::object grad_v, nb::object p, nb::object z, nb::object out) {
    for_precision(F, [&]<class T>() { material_kirchhoff<T>(name, {F, p, z}, grad_v, out); });
}
void flow(const std::string& name, nb::object F, double dt, nb::object grad_v, nb::object p, nb::object z) {
    if (!(dt >= 0)) throw std::invalid_argument("dt: must not be negative");
    for_precision(F, [&]<class T>() { material_flow<T>(name, {F, p, z}, dt, grad_v); });
}
// The largest squared wave speed (lam + 2 mu) V0/m and the largest kinematic viscosity eta V0/m over all particles.
nb::tuple speed_limits(const std::string& name, int dimension, nb::object particles_, nb::object parameters_) {
    double wave = 0, viscous = 0;
    dispatch(particles_.attr("x"), "particles.x", dimension, [&]<class T, int d>() {
        const Particles<T> P = particles_of<T, d>(particles_, "particles");
        const Parameters<T> parameters = parameters_of<T>(parameters_, P);
        BatchFunctions<T, d> material;
        if (!batch_functions<T, d>(name, P, parameters, material))
            throw std::invalid_argument("material: a name is needed");
#pragma omp parallel for reduction(max : wave, viscous) num_threads(team(P.count))
        for (int64_t begin = 0; begin < P.count; begin += kBatch) {
            int32_t index[kBatch];
            const int count = int(std::min<int64_t>(kBatch, P.count - begin));
            for (int j = 0; j < kBatch; ++j) index[j] = int32_t(begin + std::min(j, count - 1));
            const BatchIndices batch(index, 0, count);
            alignas(64) T F[d * d * kBatch], p[kMaxParameters * kBatch], z[kMaxStates * kBatch];
            alignas(64) T stiff[kBatch], eta[kBatch] = {};
            batch.fetch(P.F, P.stride, d * d, F);
            batch.fetch(P.state, P.stride, P.states, z);
            batch.fetch(parameters, p);
            material.modulus(F, p, z, stiff);
            if (material.viscosity) material.viscosity(p, eta);
            for (int j = 0; j < count; ++j) {
                const double per_density = double(P.volume[begin + j]) / double(P.mass[begin + j]);
                wave = std::max(wave, double(stiff[j]) * per_density);
                viscous = std::max(viscous, double(eta[j]) * per_density);
            }
        }
    });
    return nb::make_tuple(wave, viscous);
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
            d["flows"] = Flowing<Model>;
            d["keeps_stress"] = KeepsStress<Model>;
            d["viscous"] = Viscous<Model>;
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
    m.def("material_kirchhoff", &kirchhoff, nb::arg("name"), nb::arg("F"), nb::arg("grad_v"), nb::arg("parameters"),
          nb::arg("state"), nb::arg("out"));
    m.def("material_flow", &flow, nb::arg("name"), nb::arg("F"), nb::arg("dt"), nb::arg("grad_v"), nb::arg("parameters"),
          nb::arg("state"));
    m.def("speed_limits", &speed_limits, nb::arg("name"), nb::arg("dimension"), nb::arg("particles"), nb::arg("parameters"));
}

}  // namespace continua
