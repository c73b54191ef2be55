#pragma once

#include "../transfer/scatter.hpp"
#include "transfer.hpp"

namespace continua {

template <class T>
void scatter_arrays(nb::handle particles_, nb::handle parameters_, const std::string& material_, nb::handle lattice_,
                    nb::handle order_, int dimension, int degree, bool gradient, double dt, bool momentum, bool affine,
                    bool stress, nb::handle tiles_) {
    dispatch(tiles_, "tiles", dimension, [&]<class S, int d>() {
        if constexpr (std::is_same_v<S, T>) {
            const Particles<T> particles = particles_of<T, d>(particles_, "particles");
            const Parameters<T> parameters = parameters_of<T>(parameters_, particles);
            const Blocks blocks = blocks_of(order_, particles.count);
            const Lattice<T, d> lattice = lattice_of<T, d>(lattice_);
            BatchFunctions<T, d> material;
            const bool native = batch_functions<T, d>(material_, particles, parameters, material);
            if (stress && !native && !particles.tau)
                throw std::invalid_argument("particles.tau: needed when no material is named");
            const ScatterOptions<T> options{T(dt), momentum, affine, stress};
            with_degree(degree, [&]<int g>() {
                T* tiles = checked<T>(tiles_, "tiles", {blocks.count, kTileNodes<d, g>, 4});
                nb::gil_scoped_release release;
                // Degree 1 has no constant spread, so its force always uses the gradient.
                if (gradient || g == 1)
                    scatter<T, d, g, true>(particles, parameters, material, lattice, blocks, options, tiles);
                else
                    scatter<T, d, g, (g == 1)>(particles, parameters, material, lattice, blocks, options, tiles);
            });
        } else {
            throw std::invalid_argument("tiles: number type differs from that of the particles");
        }
    });
}

}  // namespace continua
