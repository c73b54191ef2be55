// The border to Python: every array is checked here (type, shape, contiguity) and errors name the argument.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

#include "../grid/blocks.hpp"
#include "../transfer/particles.hpp"
#include "order.hpp"

namespace nb = nanobind;

namespace continua {

using AnyArray = nb::ndarray<nb::c_contig, nb::device::cpu>;

inline std::string shape_text(const std::vector<int64_t>& shape) {
    std::string text = "(";
    for (size_t i = 0; i < shape.size(); ++i)
        text += (i ? ", " : "") + (shape[i] < 0 ? std::string("any") : std::to_string(shape[i]));
    return text + ")";
}

inline AnyArray as_array(nb::handle object, const std::string& name) {
    AnyArray array;
    if (!nb::try_cast(object, array, false))
        throw std::invalid_argument(name + ": expected a writable C-contiguous NumPy array");
    return array;
}

// Pointer to the data of an array of type T and the given shape (-1 accepts any length).
template <class T>
inline T* checked(nb::handle object, const std::string& name, std::vector<int64_t> shape) {
    const AnyArray array = as_array(object, name);
    if (array.dtype() != nb::dtype<T>()) throw std::invalid_argument(name + ": wrong number type");
    bool fits = array.ndim() == shape.size();
    std::vector<int64_t> found;
    for (size_t i = 0; i < array.ndim(); ++i) {
        found.push_back(int64_t(array.shape(i)));
        if (fits && shape[i] >= 0 && shape[i] != found[i]) fits = false;
    }
    if (!fits)
        throw std::invalid_argument(name + ": expected shape " + shape_text(shape) + ", got " + shape_text(found));
    return static_cast<T*>(array.data());
}
inline int64_t length(nb::handle object, const std::string& name, size_t axis = 0) {
    const AnyArray array = as_array(object, name);
    if (axis >= array.ndim()) throw std::invalid_argument(name + ": too few dimensions");
    return int64_t(array.shape(axis));
}

// A new NumPy array that owns its data.
template <class T>
inline nb::object owned_array(std::vector<T>&& data, std::vector<size_t> shape) {
    auto* heap = new std::vector<T>(std::move(data));
    nb::capsule owner(heap, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(heap->data(), shape.size(), shape.data(), owner));
}

template <class T, int d>
inline Lattice<T, d> lattice_of(nb::handle object) {
    Lattice<T, d> lattice;
    const double* origin = checked<double>(object.attr("origin"), "lattice.origin", {d});
    const int32_t* period = checked<int32_t>(object.attr("period"), "lattice.period", {d});
    const double dx = nb::cast<double>(object.attr("dx"));
    if (!(dx > 0)) throw std::invalid_argument("lattice.dx: must be positive");
    for (int a = 0; a < d; ++a) {
        if (period[a] < 0 || period[a] >= kBias) throw std::invalid_argument("lattice.period: out of range");
        lattice.origin[a] = T(origin[a]);
        lattice.period[a] = period[a];
    }
    lattice.dx = T(dx);
    lattice.inv_dx = T(1.0 / dx);
    return lattice;
}

template <class T, int d>
inline Particles<T> particles_of(nb::handle object, const std::string& name) {
    Particles<T> p;
    const int64_t capacity = length(object.attr("x"), name + ".x", 1);
    const int64_t states = length(object.attr("state"), name + ".state", 0);
    p.x = checked<T>(object.attr("x"), name + ".x", {d, capacity});
    p.v = checked<T>(object.attr("v"), name + ".v", {d, capacity});
    // Columns that nobody asked for have no rows; kernels that need them say so.
    auto rows = [&](const char* column, int64_t n) -> T* {
        const nb::object array = object.attr(column);
        const std::string label = name + "." + column;
        return length(array, label) > 0 ? checked<T>(array, label, {n, capacity}) : nullptr;
    };
    p.C = checked<T>(object.attr("C"), name + ".C", {d * d, capacity});
    p.F = rows("F", d * d);
    p.mass = checked<T>(object.attr("mass"), name + ".mass", {capacity});
    p.volume = length(object.attr("volume"), name + ".volume") > 0 ? checked<T>(object.attr("volume"), name + ".volume", {capacity}) : nullptr;
    p.state = checked<T>(object.attr("state"), name + ".state", {states, capacity});
    p.ids = checked<int32_t>(object.attr("ids"), name + ".ids", {capacity});
    constexpr int64_t kSym = BatchFunctions<T, d>::kSym;
    p.tau = rows("tau", kSym);
    p.mode_count = int(length(object.attr("modes"), name + ".modes", 1));
    p.modes = p.mode_count ? checked<T>(object.attr("modes"), name + ".modes", {capacity, p.mode_count, 4}) : nullptr;
    p.stride = capacity;
    p.count = nb::cast<int64_t>(object.attr("count"));
    p.states = int(states);
    if (p.count < 0 || p.count > capacity) throw std::invalid_argument(name + ".count: exceeds the capacity");
    if (states > kMaxStates) throw std::invalid_argument(name + ".state: too many rows");
    return p;
}

// Kernels that ask for the stress of particles need their volume and F.
template <class T>
inline void need_deformation(const Particles<T>& p, const std::string& name) {
    if (!p.F || !p.volume) throw std::invalid_argument(name + ".F, volume: needed for stress");
}

// parameters.values (n,): uniform values; parameters.rows (n,): row of `state` holding per-particle values, or -1.
template <class T>
inline Parameters<T> parameters_of(nb::handle object, const Particles<T>& particles) {
    Parameters<T> p;
    const int64_t n = length(object.attr("values"), "parameters.values");
    const T* values = checked<T>(object.attr("values"), "parameters.values", {n});
    const int32_t* rows = checked<int32_t>(object.attr("rows"), "parameters.rows", {n});
    if (n > kMaxParameters) throw std::invalid_argument("parameters.values: too many parameters");
    p.count = int(n);
    p.stride = particles.stride;
    for (int i = 0; i < p.count; ++i) {
        if (rows[i] >= particles.states) throw std::invalid_argument("parameters.rows: no such row in state");
        p.at[i] = rows[i] < 0 ? values + i : particles.state + rows[i] * particles.stride;
        p.step[i] = rows[i] < 0 ? 0 : 1;
    }
    return p;
}

// Batch functions of the named model, or nothing for an empty name (stress given from outside).
// Compiled once per precision, with the whole-array functions (material_arrays.hpp).
template <class T, int d>
bool batch_functions(const std::string& name, const Particles<T>& particles, const Parameters<T>& parameters,
                     BatchFunctions<T, d>& out);

// Call f<T, d>() for the number type of `array` and the dimension.
template <class Function>
inline auto dispatch(nb::handle array, const std::string& name, int dimension, Function&& f) {
    const auto dtype = as_array(array, name).dtype();
    const bool single = dtype == nb::dtype<float>();
    if (!single && dtype != nb::dtype<double>()) throw std::invalid_argument(name + ": expected float32 or float64");
    if (dimension != 2 && dimension != 3) throw std::invalid_argument("dimension: must be 2 or 3");
    if (single) return dimension == 2 ? f.template operator()<float, 2>() : f.template operator()<float, 3>();
    return dimension == 2 ? f.template operator()<double, 2>() : f.template operator()<double, 3>();
}
template <class Function>
inline auto with_degree(int degree, Function&& f) {
    switch (degree) {
        case 1: return f.template operator()<1>();
        case 2: return f.template operator()<2>();
        case 3: return f.template operator()<3>();
        default: throw std::invalid_argument("degree: must be 1, 2 or 3");
    }
}

void bind_math(nb::module_& m);
void bind_materials(nb::module_& m);
void bind_grid(nb::module_& m);
void bind_transfer(nb::module_& m);
void bind_contact(nb::module_& m);
void bind_geometry(nb::module_& m);
void bind_faces(nb::module_& m);
void bind_flow(nb::module_& m);
void bind_pressure(nb::module_& m);
void bind_drops(nb::module_& m);
void bind_solids(nb::module_& m);
void bind_viscosity(nb::module_& m);
void bind_mesh(nb::module_& m);
void bind_implicit(nb::module_& m);
void bind_values(nb::module_& m);
void bind_collision(nb::module_& m);

}  // namespace continua
