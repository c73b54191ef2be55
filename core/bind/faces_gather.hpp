#pragma once

#include "faces.hpp"

namespace continua {

template <class T>
nb::dict gather_faces_arrays(nb::handle particles_, nb::handle out_, nb::handle lattice_, const Order& order_,
                             nb::handle plan_, const Links& links_, nb::handle velocity_, nb::handle change_,
                             nb::handle shift_, int dimension, int degree, double dt, double crowded, uint64_t seed) {
    GatherReport report;
    dispatch(velocity_, "velocity", dimension, [&]<class S, int d>() {
        if constexpr (std::is_same_v<S, T>) {
            const Particles<T> in = particles_of<T, d>(particles_, "particles"), out = particles_of<T, d>(out_, "out");
            if (out.stride < in.count || out.states != in.states || out.x == in.x)
                throw std::invalid_argument("out: must be another set of arrays with room for all particles");
            const Blocks blocks = blocks_of(order_, in.count);
            const Lattice<T, d> lattice = lattice_of<T, d>(lattice_);
            const int64_t node_blocks = length(velocity_, "velocity");
            auto nodes = [&](nb::handle array, const char* name) -> const T* {
                return array.is_none() ? nullptr : checked<T>(array, name, {node_blocks, kBlockNodes<d>, 4});
            };
            const NodeFields<T> fields{nodes(velocity_, "velocity"), nodes(change_, "change"), nodes(shift_, "shift")};
            const int32_t* reach = reach_of<d>(links_, blocks.count, node_blocks);
            const TransferPlan plan = plan_of(plan_, d, degree);
            check_modes<T, d>(in, plan, "particles");
            check_modes<T, d>(out, plan, "out");
            GatherOptions<T> options = gather_options(plan, lattice, dt);
            options.crowded = T(crowded);
            options.seed = seed;
            with_degree(degree, [&]<int g>() {
                nb::gil_scoped_release release;
                const BatchFunctions<T, d>* no_material = nullptr;
                with_face_set<g>(options.high, [&]<ModeSet set>() {
                    report = gather<FaceGrid<T, d, g>, set>(in, out, Parameters<T>{}, no_material, lattice, blocks,
                                                                reach, fields, options);
                });
            });
        } else {
            throw std::invalid_argument("velocity: number type differs from that of the particles");
        }
    });
    return report_dict(report);
}

}  // namespace continua
