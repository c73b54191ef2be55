#include "../transfer/values.hpp"

#include "transfer.hpp"

namespace continua {
namespace {

// f<T, d, degree>(particles, lattice, blocks, values), everything checked. Values are vectors, or with `matrices` d x d.
template <class Function>
void with_values(nb::handle particles_, nb::handle lattice_, const Order& order, nb::handle values_, int dimension,
                 int degree_, Function&& f, bool matrices = false) {
    dispatch(particles_.attr("x"), "particles.x", dimension, [&]<class T, int d>() {
        const Particles<T> particles = particles_of<T, d>(particles_, "particles");
        const Lattice<T, d> lattice = lattice_of<T, d>(lattice_);
        const Blocks blocks = blocks_of(order, particles.count);
        T* values = checked<T>(values_, "values", {matrices ? d * d : d, particles.stride});
        with_degree(degree_, [&]<int degree>() { f.template operator()<T, d, degree>(particles, lattice, blocks, values); });
    });
}

void nodes_to_values(nb::object particles, nb::object lattice, const Order& order, const Links& links, nb::object nodes_,
                     int dimension, int degree_, nb::object values) {
    with_values(particles, lattice, order, values, dimension, degree_,
                [&]<class T, int d, int degree>(const Particles<T>& of, const Lattice<T, d>& on, const Blocks& blocks, T* to) {
                    const T* nodes = checked<T>(nodes_, "nodes", {-1, kBlockNodes<d>, 4});
                    const int32_t* reach = reach_of<d>(links, blocks.count, length(nodes_, "nodes"));
                    nb::gil_scoped_release release;
                    gather_values<T, d, degree>(of, on, blocks, reach, nodes, to, of.stride);
                });
}

void values_to_nodes(nb::object particles, nb::object lattice, const Order& order, const Links& links, nb::object values,
                     int dimension, int degree_, bool squared, bool add, nb::object nodes_) {
    with_values(particles, lattice, order, values, dimension, degree_,
                [&]<class T, int d, int degree>(const Particles<T>& of, const Lattice<T, d>& on, const Blocks& blocks, T* from) {
                    const int64_t node_blocks = length(nodes_, "nodes");
                    T* nodes = checked<T>(nodes_, "nodes", {node_blocks, kBlockNodes<d>, 4});
                    const Tiles tiles = tiles_of<d>(links, blocks.count, node_blocks);
                    nb::gil_scoped_release release;
                    if (!add) clear_nodes(nodes, node_blocks, kBlockNodes<d> * 4);
                    scatter_values<T, d, degree>(of, on, blocks, tiles, from, of.stride, squared, nodes);
                });
}

void nodes_to_gradients(nb::object particles, nb::object lattice, const Order& order, const Links& links, nb::object nodes_,
                        int dimension, int degree_, nb::object values) {
    with_values(
        particles, lattice, order, values, dimension, degree_,
        [&]<class T, int d, int degree>(const Particles<T>& of, const Lattice<T, d>& on, const Blocks& blocks, T* to) {
            const T* nodes = checked<T>(nodes_, "nodes", {-1, kBlockNodes<d>, 4});
            const Tiles tiles = tiles_of<d>(links, blocks.count, length(nodes_, "nodes"));
            nb::gil_scoped_release release;
            gather_gradients<T, d, degree>(of, on, blocks, tiles, nodes, to, of.stride);
        },
        true);
}

void matrices_to_nodes(nb::object particles, nb::object lattice, const Order& order, const Links& links, nb::object values,
                       int dimension, int degree_, bool add, nb::object nodes_) {
    with_values(
        particles, lattice, order, values, dimension, degree_,
        [&]<class T, int d, int degree>(const Particles<T>& of, const Lattice<T, d>& on, const Blocks& blocks, T* from) {
            const int64_t node_blocks = length(nodes_, "nodes");
            T* nodes = checked<T>(nodes_, "nodes", {node_blocks, kBlockNodes<d>, 4});
            const Tiles tiles = tiles_of<d>(links, blocks.count, node_blocks);
            nb::gil_scoped_release release;
            if (!add) clear_nodes(nodes, node_blocks, kBlockNodes<d> * 4);
            scatter_matrices<T, d, degree>(of, on, blocks, tiles, from, of.stride, nodes);
        },
        true);
}

}  // namespace

// Values are component-major (d, capacity) like the particles' own vectors.
void bind_values(nb::module_& m) {
    using nb::arg;
    m.def("gather_values", &nodes_to_values, arg("particles"), arg("lattice"), arg("order"), arg("links"), arg("nodes"),
          arg("dimension"), arg("degree"), arg("values"), "Node vectors at the particles, into values.");
    m.def("scatter_values", &values_to_nodes, arg("particles"), arg("lattice"), arg("order"), arg("links"), arg("values"),
          arg("dimension"), arg("degree"), arg("squared"), arg("add"), arg("nodes"),
          "Sums of particle vectors at nodes, with the weights or their squares.");
    m.def("gather_gradients", &nodes_to_gradients, arg("particles"), arg("lattice"), arg("order"), arg("links"), arg("nodes"),
          arg("dimension"), arg("degree"), arg("values"), "Gradients of node vectors at the particles, into values (d d, capacity).");
    m.def("scatter_matrices", &matrices_to_nodes, arg("particles"), arg("lattice"), arg("order"), arg("links"), arg("values"),
          arg("dimension"), arg("degree"), arg("add"), arg("nodes"), "Sums of matrices times the gradients of the weights.");
}

}  // namespace continua
