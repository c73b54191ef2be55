// Face transfers, one translation unit per precision and direction so that they compile side by side.
#pragma once

#include "../transfer/faces.hpp"
#include "transfer.hpp"

namespace continua {

template <class T>
void scatter_faces_arrays(nb::handle particles, nb::handle lattice, const Order& order, nb::handle plan, const Links& links,
                          int dimension, int degree, bool add, nb::handle momentum, nb::handle mass);

template <class T>
nb::dict gather_faces_arrays(nb::handle particles, nb::handle out, nb::handle lattice, const Order& order, nb::handle plan,
                             const Links& links, nb::handle velocity, nb::handle change, nb::handle shift, int dimension,
                             int degree, double dt, double crowded, uint64_t seed);

// f<set>(): without stress, faces need the affine modes or all of them.
template <int degree, class Function>
inline void with_face_set(const HighModes& high, Function&& f) {
    if (high.count) return f.template operator()<ModeSet::full>();
    if constexpr (degree == 1)
        f.template operator()<ModeSet::gradient>();
    else
        f.template operator()<ModeSet::affine>();
}

}  // namespace continua
