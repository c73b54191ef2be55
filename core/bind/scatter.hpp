#pragma once

#include "../transfer/scatter.hpp"
#include "transfer.hpp"

namespace continua {

template <class T>
void scatter_arrays(nb::handle particles_, nb::handle parameters_, const std::string& material_, nb::handle lattice_,
                    const Order& order_, nb::handle plan_, const Links& links, int dimension, int degree, bool gradient, double dt,
                    bool momentum, bool stress, bool add, nb::handle nodes_) {
    dispatch(nodes_, "nodes", dimension, [&]<class S, int d>() {
        if constexpr (std::is_same_v<S, T>) {
            const Particles<T> particles = particles_of<T, d>(particles_, "particles");
            const Parameters<T> parameters = parameters_of<T>(parameters_, particles);
            const Blocks blocks = blocks_of(order_, particles.count);
            const Lattice<T, d> lattice = lattice_of<T, d>(lattice_);
            BatchFunctions<T, d> material;
            const bool native = batch_functions<T, d>(material_, particles, parameters, material);
            if (stress && !native && !particles.tau)
                throw std::invalid_argument("particles.tau: needed when no material is named");
            if (stress) need_deformation(particles, "particles");
            const TransferPlan plan = plan_of(plan_, d, degree);
            check_modes<T, d>(particles, plan, "particles");
            ScatterOptions<T> options{
                .dt = T(dt), .momentum = momentum, .stress = stress, .gradient = gradient, .affine = Affine::none, .high = {}};
            if (momentum) options.affine = plan.affine, options.high = plan.high;
            const int64_t node_blocks = length(nodes_, "nodes");
            T* nodes = checked<T>(nodes_, "nodes", {node_blocks, kBlockNodes<d>, 4});
            const Tiles tiles = tiles_of<d>(links, blocks.count, node_blocks);
            with_degree(degree, [&]<int g>() {
                nb::gil_scoped_release release;
                if (!add) clear_nodes(nodes, node_blocks, kBlockNodes<d> * 4);
                with_set<g>(smallest_set(options.high, g, stress && gradient), [&]<ModeSet set>() {
                    scatter<T, d, g, set>(particles, parameters, material, lattice, blocks, tiles, options, nodes);
                });
            });
        } else {
            throw std::invalid_argument("nodes: number type differs from that of the particles");
        }
    });
}

}  // namespace continua
