// Transfer kernels, one translation unit per precision and direction so that they compile side by side.
#pragma once

#include "arrays.hpp"

namespace continua {

template <class T>
void scatter_arrays(nb::handle particles, nb::handle parameters, const std::string& material, nb::handle lattice,
                    nb::handle order, int dimension, int degree, bool gradient, double dt, bool momentum, bool affine,
                    bool stress, nb::handle tiles);

template <class T>
nb::dict gather_arrays(nb::handle particles, nb::handle out, nb::handle parameters, const std::string& material,
                       nb::handle lattice, nb::handle order, nb::handle reach, nb::handle velocity, nb::handle change,
                       int dimension, int degree, bool mls, double dt, bool affine, double flip, bool exponential);

}  // namespace continua
