#include "../transfer/implicit.hpp"

#include "../materials/catalogue.hpp"
#include "../transfer/implicit_positions.hpp"
#include "transfer.hpp"

namespace continua {
namespace {

template <class T, int d>
using On = SortedParticles<T, d>;
template <class T, int d>
using Work = detail::ImplicitWork<T, d>;

// Particles of one body on the grid, as Python describes them.
struct Setting {
    nb::handle particles, lattice;
    const Order& order;
    int dimension, degree;
};

// f<degree>(sorted particles, tiles), everything checked.
template <class T, int d, class Function>
void with_particles(const Setting& set, const Links& links, int64_t node_blocks, Function&& f) {
    const Particles<T> particles = particles_of<T, d>(set.particles, "particles");
    const Lattice<T, d> lattice = lattice_of<T, d>(set.lattice);
    const Blocks blocks = blocks_of(set.order, particles.count);
    const Tiles tiles = tiles_of<d>(links, blocks.count, node_blocks);
    const On<T, d> on{particles, lattice, blocks};
    with_degree(set.degree, [&]<int degree>() { f.template operator()<degree>(on, tiles); });
}

template <class T, int d>
const T* checked_nodes(nb::handle object, const std::string& name) {
    return checked<T>(object, name, {-1, kBlockNodes<d>, 4});
}
// Nodes to be added to, of the same grid as those of the links; cleared unless there is something on them.
template <class T, int d>
T* target_nodes(nb::handle object, const Links& links, const T* read, bool add) {
    T* nodes = checked<T>(object, "nodes", {links.node_blocks, kBlockNodes<d>, 4});
    if (nodes == read) throw std::invalid_argument("nodes: must not be the field that is read");
    if (!add) clear_nodes(nodes, links.node_blocks, kBlockNodes<d> * 4);
    return nodes;
}

double checked_step(double dt) {
    if (!(dt > 0) || !(dt < std::numeric_limits<double>::infinity()))
        throw std::invalid_argument("dt: must be positive and finite");
    return dt;
}

// f<degree>(sorted particles, tiles, shared work, velocity): the kernels that ask the material.
template <class Function>
void with_material(const Setting& set, nb::handle parameters_, const std::string& name, const Links& links,
                   nb::handle velocity_, double dt, Function&& f) {
    checked_step(dt);
    dispatch(set.particles.attr("x"), "particles.x", set.dimension, [&]<class T, int d>() {
        const bool reads = velocity_.is_valid();
        const T* velocity = reads ? checked_nodes<T, d>(velocity_, "velocity") : nullptr;
        const int64_t node_blocks = reads ? length(velocity_, "velocity") : links.node_blocks;
        with_particles<T, d>(set, links, node_blocks, [&]<int degree>(const On<T, d>& on, const Tiles& tiles) {
            need_deformation(on.particles, "particles");
            const Parameters<T> parameters = parameters_of<T>(parameters_, on.particles);
            BatchFunctions<T, d> material;
            if (!batch_functions<T, d>(name, on.particles, parameters, material))
                throw std::invalid_argument("material: an implicit step needs a material of the core");
            const Work<T, d> work{on.particles, parameters, material, T(dt)};
            f.template operator()<degree>(on, tiles, work, velocity);
        });
    });
}

double energy(nb::object particles, nb::object parameters, const std::string& material, nb::object lattice,
              const Order& order, const Links& links, nb::object velocity, int dimension, int degree_, double dt) {
    double total = 0;
    with_material({particles, lattice, order, dimension, degree_}, parameters, material, links, velocity, dt,
                  [&]<int degree>(const auto& on, const Tiles& tiles, const auto& work, const auto* v) {
                      nb::gil_scoped_release release;
                      total = implicit_energy<degree>(on, tiles, work, v);
                  });
    return total;
}

void forces(nb::object particles, nb::object parameters, const std::string& material, nb::object lattice,
            const Order& order, const Links& links, nb::object velocity, int dimension, int degree_, double dt,
            bool add, nb::object nodes_) {
    with_material({particles, lattice, order, dimension, degree_}, parameters, material, links, velocity, dt,
                  [&]<int degree, class T, int d>(const On<T, d>& on, const Tiles& tiles, const Work<T, d>& work, const T* v) {
                      T* nodes = target_nodes<T, d>(nodes_, links, v, add);
                      nb::gil_scoped_release release;
                      sweep<T, d, degree>(on, tiles, v, nodes, detail::ForceWork<T, d>{work});
                  });
}

void diagonal(nb::object particles, nb::object parameters, const std::string& material, nb::object lattice,
              const Order& order, const Links& links, int dimension, int degree_, double dt, bool add, nb::object nodes_) {
    with_material({particles, lattice, order, dimension, degree_}, parameters, material, links, nb::handle(), dt,
                  [&]<int degree, class T, int d>(const On<T, d>& on, const Tiles& tiles, const Work<T, d>& work, const T*) {
                      T* nodes = target_nodes<T, d>(nodes_, links, nullptr, add);
                      nb::gil_scoped_release release;
                      using Scatter = SlopeScatter<T, d, degree, true>;
                      sweep<T, d, degree, Scatter>(on, tiles, (const T*)nullptr, nodes, detail::DiagonalWork<T, d>{work});
                  });
}

// Memory for a tangent and, where the material is viscous, one more number of all particles.
template <class T, int d>
Tangents<T> checked_tangents(nb::handle object, const Particles<T>& particles, int rows) {
    return {checked<T>(object, "tangents", {rows, particles.stride}), rows};
}

void prepare(nb::object particles, nb::object parameters, const std::string& material, nb::object lattice,
             const Order& order, const Links& links, nb::object velocity, int dimension, int degree_, double dt,
             bool positive, nb::object tangents_) {
    with_material({particles, lattice, order, dimension, degree_}, parameters, material, links, velocity, dt,
                  [&]<int degree, class T, int d>(const On<T, d>& on, const Tiles& tiles, const Work<T, d>& work, const T* v) {
                      const int rows = tangent_rows(work.material);
                      const auto tangents = checked_tangents<T, d>(tangents_, on.particles, rows);
                      nb::gil_scoped_release release;
                      sweep<T, d, degree>(on, tiles, v, (T*)nullptr, detail::PrepareWork<T, d>{work, positive, tangents});
                  });
}

void product(nb::object particles, nb::object lattice, const Order& order, const Links& links, nb::object direction_,
             int dimension, int degree_, nb::object tangents_, bool add, nb::object nodes_) {
    dispatch(particles.attr("x"), "particles.x", dimension, [&]<class T, int d>() {
        const T* direction = checked_nodes<T, d>(direction_, "direction");
        with_particles<T, d>({particles, lattice, order, dimension, degree_}, links, length(direction_, "direction"),
                             [&]<int degree>(const On<T, d>& on, const Tiles& tiles) {
            const int rows = kTangent<d> + (length(tangents_, "tangents") > kTangent<d> ? 1 : 0);
            const auto tangents = checked_tangents<T, d>(tangents_, on.particles, rows);
            T* nodes = target_nodes<T, d>(nodes_, links, direction, add);
            nb::gil_scoped_release release;
            sweep<T, d, degree>(on, tiles, direction, nodes, detail::ProductWork<T, d>{tangents});
        });
    });
}

nb::dict positions(nb::object particles, nb::object out_, nb::object lattice, nb::object keys_, const Order& order,
                   nb::object velocity_, int dimension, int degree_, double dt) {
    checked_step(dt);
    if (degree_ == 1) throw std::invalid_argument("degree: implicit positions need smooth splines, degree 2 or 3");
    PositionReport report;
    int64_t count = 0;
    dispatch(particles.attr("x"), "particles.x", dimension, [&]<class T, int d>() {
        const int64_t blocks = length(keys_, "keys");
        const NodeBlocks grid{checked<uint64_t>(keys_, "keys", {blocks}), blocks};
        if (!std::is_sorted(grid.keys, grid.keys + blocks)) throw std::invalid_argument("keys: must be sorted");
        const T* velocity = checked<T>(velocity_, "velocity", {blocks, kBlockNodes<d>, 4});
        const Particles<T> out = particles_of<T, d>(out_, "out");
        const Particles<T> in = particles_of<T, d>(particles, "particles");
        const Lattice<T, d> on = lattice_of<T, d>(lattice);
        const Blocks sorted = blocks_of(order, in.count);
        count = in.count;
        if (out.stride < count) throw std::invalid_argument("out.x: too short for these particles");
        if (out.x == in.x) throw std::invalid_argument("out.x: must not be that of the particles");
        with_degree(degree_, [&]<int degree>() {
            nb::gil_scoped_release release;
            if constexpr (degree > 1) report = implicit_positions<T, d, degree>(in, out, on, sorted, grid, velocity, dt);
        });
    });
    nb::dict result;
    result["max_steps"] = report.max_steps;
    result["mean_steps"] = count ? double(report.steps) / double(count) : 0.0;
    result["halvings"] = report.halvings;
    result["unsolved"] = report.unsolved;
    result["max_residual"] = report.max_residual;
    return result;
}

int rows_of(const std::string& material, int dimension) {
    if (dimension != 2 && dimension != 3) throw std::invalid_argument("dimension: must be 2 or 3");
    int rows = dimension == 2 ? kTangent<2> : kTangent<3>;
    with_model(material, [&]<class Model>() { rows += Viscous<Model>; });
    return rows;
}

}  // namespace

// Node fields are (blocks, nodes, 4), added to if `add`; tangents (tangent_rows, capacity) are the caller's memory from prepare to
// product.
void bind_implicit(nb::module_& m) {
    using nb::arg;
    const arg particles("particles"), parameters("parameters"), material("material"), lattice("lattice"),
        order("order"), links("links"), velocity("velocity"), dimension("dimension"), degree("degree"), dt("dt"),
        tangents("tangents"), add("add"), nodes("nodes");
    m.def("tangent_rows", &rows_of, material, dimension);
    m.def("implicit_energy", &energy, particles, parameters, material, lattice, order, links, velocity, dimension,
          degree, dt, "Potential of an implicit step at node velocities [J]; inf where a particle is not admissible.");
    m.def("implicit_forces", &forces, particles, parameters, material, lattice, order, links, velocity, dimension,
          degree, dt, add, nodes, "Its gradient with respect to the node velocities [N s].");
    m.def("implicit_prepare", &prepare, particles, parameters, material, lattice, order, links, velocity, dimension,
          degree, dt, arg("positive"), tangents,
          "What implicit_product needs at these velocities; positive removes negative eigenvalues per particle.");
    m.def("implicit_product", &product, particles, lattice, order, links, arg("direction"), dimension, degree, tangents,
          add, nodes, "Second derivative times a node field.");
    m.def("implicit_diagonal", &diagonal, particles, parameters, material, lattice, order, links, dimension, degree, dt,
          add, nodes, "Diagonal of the second derivative for undeformed particles [kg].");
    m.def("implicit_positions", &positions, particles, arg("out"), lattice, arg("keys"), order, velocity, dimension,
          degree, dt,
          "Solves x' = x + dt v(x') into out.x, in block order; nodes whose last channel is zero do not count.");
}

}  // namespace continua
