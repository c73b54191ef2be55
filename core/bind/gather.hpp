#pragma once

#include "../transfer/gather.hpp"
#include "transfer.hpp"

namespace continua {

template <class T>
nb::dict gather_arrays(nb::handle particles_, nb::handle out_, nb::handle parameters_, const std::string& material_,
                       nb::handle lattice_, const Order& order_, nb::handle plan_, const Links& links_,
                       nb::handle velocity_, nb::handle change_, int dimension, int degree, bool mls, double dt,
                       bool exponential) {
    GatherReport report;
    dispatch(velocity_, "velocity", dimension, [&]<class S, int d>() {
        if constexpr (std::is_same_v<S, T>) {
            const Particles<T> in = particles_of<T, d>(particles_, "particles");
            const Particles<T> out = particles_of<T, d>(out_, "out");
            if (out.stride < in.count || out.states != in.states || out.x == in.x)
                throw std::invalid_argument("out: must be another set of arrays with room for all particles");
            const Parameters<T> parameters = parameters_of<T>(parameters_, in);
            const Blocks blocks = blocks_of(order_, in.count);
            const Lattice<T, d> lattice = lattice_of<T, d>(lattice_);
            BatchFunctions<T, d> material;
            const bool native = batch_functions<T, d>(material_, in, parameters, material);
            if ((in.tau != nullptr) != (out.tau != nullptr) || (native && material.advance && !out.tau))
                throw std::invalid_argument("out.tau: this material keeps its stress, in both sets of arrays");
            const int64_t node_blocks = length(velocity_, "velocity");
            const T* velocity = checked<T>(velocity_, "velocity", {node_blocks, kBlockNodes<d>, 4});
            const T* change =
                change_.is_none() ? nullptr : checked<T>(change_, "change", {node_blocks, kBlockNodes<d>, 4});
            const int32_t* reach = reach_of<d>(links_, blocks.count, node_blocks);
            const TransferPlan plan = plan_of(plan_, d, degree);
            check_modes<T, d>(in, plan, "particles");
            check_modes<T, d>(out, plan, "out");
            if (native) need_deformation(in, "particles");
            if (!in.F != !out.F || !in.volume != !out.volume)
                throw std::invalid_argument("out: must have the same columns as the particles");
            GatherOptions<T> options = gather_options(plan, lattice, dt);
            options.light = T(plan.light);
            options.gradient = !mls;
            options.exponential = exponential;
            options.deform = in.F != nullptr;
            with_degree(degree, [&]<int g>() {
                nb::gil_scoped_release release;
                const BatchFunctions<T, d>* m = native ? &material : nullptr;
                with_set<g>(smallest_set(options.high, g, !mls), [&]<ModeSet set>() {
                    report = gather<NodeGrid<T, d, g>, set>(in, out, parameters, m, lattice, blocks, reach, {velocity, change, nullptr},
                                                            options);
                });
            });
        } else {
            throw std::invalid_argument("velocity: number type differs from that of the particles");
        }
    });
    return report_dict(report);
}

}  // namespace continua
