// Transfer kernels, one translation unit per precision and direction so that they compile side by side.
#pragma once

#include "../transfer/gather.hpp"
#include "arrays.hpp"

namespace continua {

inline bool is_single(nb::handle particles) {
    return as_array(particles.attr("x"), "particles.x").dtype() == nb::dtype<float>();
}

template <class T>
void scatter_arrays(nb::handle particles, nb::handle parameters, const std::string& material, nb::handle lattice,
                    const Order& order, nb::handle plan, const Links& links, int dimension, int degree, bool gradient, double dt,
                    bool momentum, bool stress, bool add, nb::handle nodes);

template <class T>
nb::dict gather_arrays(nb::handle particles, nb::handle out, nb::handle parameters, const std::string& material,
                       nb::handle lattice, const Order& order, nb::handle plan, const Links& links, nb::handle velocity,
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

// What the plan and the lattice say of grid to particles; the rest is up to the kind of grid.
template <class T, int d>
inline GatherOptions<T> gather_options(const TransferPlan& plan, const Lattice<T, d>& lattice, double dt) {
    GatherOptions<T> options{};
    options.dt = T(dt);
    options.affine = plan.affine;
    options.flip = T(plan.flip);
    options.keep = T(plan.keep);
    options.shear_damping = T(plan.shear_damping);
    std::copy(plan.linear, plan.linear + 3, options.linear);
    options.moving_map = plan.moving_map;
    options.high = plan.high;
    for (int a = 0; a < d; ++a) {
        options.wrap_lower[a] = lattice.origin[a];
        options.wrap_length[a] = T(kSide * lattice.period[a]) * lattice.dx;
    }
    return options;
}

inline nb::dict report_dict(const GatherReport& report) {
    nb::dict result;
    result["max_speed"] = std::sqrt(report.max_speed2);
    result["max_wave_speed"] = std::sqrt(report.max_wave_speed2);
    result["max_viscosity"] = report.max_viscosity;
    result["max_strain"] = std::sqrt(report.max_strain2);
    result["bad"] = report.bad;
    return result;
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
