#include "../flow/viscosity.hpp"

#include "flow.hpp"

namespace continua {
namespace {

// Kinematic viscosity: one number or an array over the cells, where only those of liquid cells count.
template <class T, int d>
void viscosity_of(nb::handle object, ViscousFlow<T>& flow) {
    if (nb::try_cast(object, flow.uniform_nu, true)) {
        if (!(flow.uniform_nu >= 0 && std::isfinite(flow.uniform_nu)))
            throw std::invalid_argument("nu: must be finite and not negative");
        return;
    }
    flow.nu = checked<T>(object, "nu", {flow.blocks, kBlockNodes<d>});
    for (int64_t i = 0; i < flow.blocks * kBlockNodes<d>; ++i)
        if (flow.fluid[i] && !(flow.nu[i] >= 0 && std::isfinite(flow.nu[i])))
            throw std::invalid_argument("nu: must be finite and not negative in all liquid cells");
}

nb::dict solve_viscosity(nb::object keys, nb::object lattice, int dimension, nb::object neighbours, nb::object velocity,
                         nb::object fluid, nb::object open, nb::object wall, nb::object noslip, nb::object nu,
                         double dt, double tolerance, int max_iterations) {
    if (!(dt >= 0 && std::isfinite(dt))) throw std::invalid_argument("dt: must be finite and not negative");
    if (!(tolerance > 0)) throw std::invalid_argument("tolerance: must be positive");
    if (max_iterations < 0) throw std::invalid_argument("max_iterations: must not be negative");
    SolveReport report;
    dispatch(velocity, "velocity", dimension, [&]<class T, int d>() {
        constexpr int64_t kNodes = kBlockNodes<d>;
        ViscousFlow<T> flow{};
        flow.blocks = length(keys, "keys");
        checked<uint64_t>(keys, "keys", {flow.blocks});
        flow.neighbours = neighbours_of<d>(neighbours, flow.blocks);
        flow.velocity = faces_of<T, d>(velocity, "velocity", flow.blocks);
        flow.fluid = checked<uint8_t>(fluid, "fluid", {flow.blocks, kNodes});
        flow.open = faces_of<T, d>(open, "open", flow.blocks);
        flow.wall = faces_of<T, d>(wall, "wall", flow.blocks);
        flow.noslip = checked<uint8_t>(noslip, "noslip", {flow.blocks, kNodes, 4});
        viscosity_of<T, d>(nu, flow);
        const double dx = lattice_of<double, d>(lattice).dx;
        flow.dt_over_dx2 = dt / (dx * dx);
        nb::gil_scoped_release release;
        report = ViscousSystem<T, d>(flow).solve(tolerance, max_iterations);
    });
    if (!std::isfinite(report.residual)) throw std::invalid_argument("velocity, wall: not finite");
    nb::dict out;
    out["iterations"] = report.iterations;
    out["residual"] = report.residual;
    return out;
}

}  // namespace

void bind_viscosity(nb::module_& m) {
    m.def("solve_viscosity", &solve_viscosity, nb::arg("keys"), nb::arg("lattice"), nb::arg("dimension"),
          nb::arg("neighbours"), nb::arg("velocity"), nb::arg("fluid"), nb::arg("open"), nb::arg("wall"),
          nb::arg("noslip"), nb::arg("nu"), nb::arg("dt"), nb::arg("tolerance"), nb::arg("max_iterations"),
          "One implicit step of viscosity on the liquid's faces; iterations and the relative residual.");
}

}  // namespace continua
