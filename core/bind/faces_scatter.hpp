#pragma once

#include "../transfer/face_scatter.hpp"
#include "faces.hpp"

namespace continua {

template <class T>
void scatter_faces_arrays(nb::handle particles_, nb::handle lattice_, const Order& order_, nb::handle plan_,
                          const Links& links, int dimension, int degree, bool add, nb::handle momentum_, nb::handle mass_) {
    dispatch(momentum_, "momentum", dimension, [&]<class S, int d>() {
        if constexpr (std::is_same_v<S, T>) {
            const Particles<T> particles = particles_of<T, d>(particles_, "particles");
            const Blocks blocks = blocks_of(order_, particles.count);
            const Lattice<T, d> lattice = lattice_of<T, d>(lattice_);
            const TransferPlan plan = plan_of(plan_, d, degree);
            check_modes<T, d>(particles, plan, "particles");
            const ScatterOptions<T> options{
                .dt = T(0), .momentum = true, .stress = false, .gradient = false, .affine = plan.affine, .high = plan.high};
            const int64_t node_blocks = length(momentum_, "momentum");
            T* momentum = checked<T>(momentum_, "momentum", {node_blocks, kBlockNodes<d>, 4});
            T* mass = checked<T>(mass_, "mass", {node_blocks, kBlockNodes<d>, 4});
            if (mass == momentum) throw std::invalid_argument("mass: must not be the momentum");
            const Tiles tiles = tiles_of<d>(links, blocks.count, node_blocks);
            with_degree(degree, [&]<int g>() {
                nb::gil_scoped_release release;
                if (!add)
                    for (T* nodes : {momentum, mass}) clear_nodes(nodes, node_blocks, kBlockNodes<d> * 4);
                with_face_set<g>(options.high, [&]<ModeSet set>() {
                    scatter_faces<T, d, g, set>(particles, lattice, blocks, tiles, options, momentum, mass);
                });
            });
        } else {
            throw std::invalid_argument("momentum: number type differs from that of the particles");
        }
    });
}

}  // namespace continua
