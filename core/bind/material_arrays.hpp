// Whole-array material functions, compiled once per precision (material_kernels.hpp): F (d*d, n), parameters (np, n), state (ns, n),
// component-major.
#pragma once

#include "arrays.hpp"

namespace continua {

// Arrays of one call, as Python gave them.
struct MaterialArrays {
    nb::handle F, parameters, state;
};

template <class T>
void material_energy(const std::string& name, const MaterialArrays& in, nb::handle out);
template <class T>
void material_piola(const std::string& name, const MaterialArrays& in, nb::handle out);
template <class T>
void material_differential(const std::string& name, const MaterialArrays& in, nb::handle dF, bool positive, nb::handle out);
template <class T>
void material_kirchhoff(const std::string& name, const MaterialArrays& in, nb::handle grad_v, nb::handle out);
template <class T>
void material_flow(const std::string& name, const MaterialArrays& in, double dt, nb::handle grad_v);

}  // namespace continua
