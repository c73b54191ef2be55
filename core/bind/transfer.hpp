// Transfer kernels, one translation unit per precision and direction so that they compile side by side.
#pragma once

#include "../transfer/modes.hpp"
#include "arrays.hpp"

namespace continua {

template <class T>
void scatter_arrays(nb::handle particles, nb::handle parameters, const std::string& material, nb::handle lattice,
                    nb::handle order, nb::handle plan, int dimension, int degree, bool gradient, double dt, bool momentum,
                    bool stress, nb::handle tiles);

template <class T>
nb::dict gather_arrays(nb::handle particles, nb::handle out, nb::handle parameters, const std::string& material,
                       nb::handle lattice, nb::handle order, nb::handle plan, nb::handle reach, nb::handle velocity,
                       nb::handle change, int dimension, int degree, bool mls, double dt, bool exponential);

// What a transfer scheme does, as Python describes it (see continua.transfers.Plan).
struct TransferPlan {
    Affine affine = Affine::none;
    double flip = 0, keep = 1, shear_damping = 0, light = 0;
    bool moving_map = false;
    bool linear[3] = {true, true, true};
    HighModes high;
};
TransferPlan plan_of(nb::handle object, int dimension, int degree);

// Particles must have room for exactly the modes of the plan.
template <class T, int d>
inline void check_modes(const Particles<T>& particles, const TransferPlan& plan, const std::string& name) {
    if (particles.mode_count != plan.high.count)
        throw std::invalid_argument(name + ".modes: expected one column for every mode in plan.high");
}

// The smallest set of modes that carries the force (or velocity gradient) in the given form and all modes of the plan.
ModeSet smallest_set(const HighModes& high, int degree, bool gradient);

// f<set>(), with the sets that a degree does not tell apart merged.
template <int degree, class Function>
inline void with_set(ModeSet set, Function&& f) {
    if (degree == 1 && set == ModeSet::affine) set = ModeSet::gradient;
    if (degree == 1 && set == ModeSet::products) set = ModeSet::full;
    switch (set) {
        case ModeSet::affine:
            if constexpr (degree > 1) return f.template operator()<ModeSet::affine>();
            break;
        case ModeSet::gradient: return f.template operator()<ModeSet::gradient>();
        case ModeSet::products:
            if constexpr (degree > 1) return f.template operator()<ModeSet::products>();
            break;
        default: return f.template operator()<ModeSet::full>();
    }
}

}  // namespace continua
