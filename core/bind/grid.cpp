#include "../grid/halo.hpp"
#include "../grid/sort.hpp"
#include "arrays.hpp"

namespace continua {
namespace {

void sort_particles(Order& order, nb::object x, int64_t count, nb::object lattice_, int dimension, int degree) {
    if (degree < 1 || degree > 3) throw std::invalid_argument("degree: must be 1, 2 or 3");
    dispatch(x, "x", dimension, [&]<class T, int d>() {
        const int64_t capacity = length(x, "x", 1);
        if (count < 0 || count > capacity) throw std::invalid_argument("count: exceeds the capacity of x");
        if (count > std::numeric_limits<int32_t>::max()) throw std::invalid_argument("count: too many particles");
        const T* px = checked<T>(x, "x", {d, capacity});
        const auto lattice = lattice_of<T, d>(lattice_);
        nb::gil_scoped_release release;
        sort_by_block<T, d>(px, capacity, count, lattice, degree, order);
    });
}

// An order made elsewhere, checked.
Order given_order(nb::object keys_, nb::object offsets_, nb::object order_) {
    Order made;
    const int64_t blocks = length(keys_, "keys"), count = length(order_, "order");
    const uint64_t* keys = checked<uint64_t>(keys_, "keys", {blocks});
    const int64_t* offsets = checked<int64_t>(offsets_, "offsets", {blocks + 1});
    const int32_t* order = checked<int32_t>(order_, "order", {count});
    if (offsets[0] != 0 || offsets[blocks] != count) throw std::invalid_argument("offsets: do not belong to this order");
    for (int64_t s = 0; s < blocks; ++s)
        if (offsets[s] > offsets[s + 1]) throw std::invalid_argument("offsets: must not decrease");
    for (int64_t s = 1; s < blocks; ++s)
        if (keys[s] <= keys[s - 1]) throw std::invalid_argument("keys: must increase");
    for (int64_t k = 0; k < count; ++k)
        if (order[k] < 0 || order[k] >= count) throw std::invalid_argument("order: no such particle");
    made.keys.assign(keys, keys + blocks);
    made.offsets.assign(offsets, offsets + blocks + 1);
    made.order.assign(order, order + count);
    made.count = count;
    return made;
}

template <class T>
nb::object copied(const std::vector<T>& data, std::vector<size_t> shape) {
    return owned_array(std::vector<T>(data), std::move(shape));
}

nb::object grid_blocks(std::vector<nb::object> particle_keys, nb::object lattice_, int dimension, bool rim) {
    std::vector<uint64_t> all;
    for (auto& keys : particle_keys) {
        const int64_t n = length(keys, "keys");
        const uint64_t* k = checked<uint64_t>(keys, "keys", {n});
        all.insert(all.end(), k, k + n);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    std::vector<uint64_t> reached = dimension == 2 ? reached_blocks(all, lattice_of<double, 2>(lattice_), rim)
                                                   : reached_blocks(all, lattice_of<double, 3>(lattice_), rim);
    const size_t n = reached.size();
    return owned_array(std::move(reached), {n});
}

Links link(const Order& order, nb::object node_keys, nb::object lattice_, int dimension) {
    if (dimension != 2 && dimension != 3) throw std::invalid_argument("dimension: must be 2 or 3");
    const int64_t np = order.blocks(), nn = length(node_keys, "node_keys");
    const uint64_t* n = checked<uint64_t>(node_keys, "node_keys", {nn});
    const size_t corners = dimension == 2 ? 4 : 8;
    Links links{std::vector<int32_t>(np * corners), std::vector<int32_t>(nn * corners), np, nn, dimension, false, {}};
    auto make = [&]<int d>() {
        const auto lattice = lattice_of<double, d>(lattice_);
        link_blocks<double, d>(order.keys.data(), np, n, nn, lattice, links.reach.data(), links.sources.data());
        links.colours = colour_blocks<double, d>(order.keys.data(), np, lattice);
    };
    if (dimension == 2)
        make.operator()<2>();
    else
        make.operator()<3>();
    links.complete = std::find(links.reach.begin(), links.reach.end(), -1) == links.reach.end();
    return links;
}

// Integer node coordinates (blocks, nodes, d) of blocks.
nb::object node_coordinates(nb::object keys, int dimension) {
    const int64_t n = length(keys, "keys");
    const uint64_t* k = checked<uint64_t>(keys, "keys", {n});
    std::vector<int32_t> out;
    auto fill = [&]<int d>() {
        out.resize(size_t(n) * kBlockNodes<d> * d);
        for (int64_t b = 0; b < n; ++b) {
            const BlockCoords<d> block = block_coords<d>(k[b]);
            for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
                for (int a = 0; a < d; ++a) out[(b * kBlockNodes<d> + i) * d + a] = kSide * block[a] + l[a];
            });
        }
    };
    if (dimension == 2)
        fill.operator()<2>();
    else
        fill.operator()<3>();
    const size_t nodes = dimension == 2 ? kBlockNodes<2> : kBlockNodes<3>;
    return owned_array(std::move(out), {size_t(n), nodes, size_t(dimension)});
}

// (blocks, 3^d), see neighbour_table.
nb::object neighbour_blocks(nb::object keys, nb::object lattice_, int dimension) {
    const int64_t n = length(keys, "keys");
    const uint64_t* k = checked<uint64_t>(keys, "keys", {n});
    if (dimension != 2 && dimension != 3) throw std::invalid_argument("dimension: must be 2 or 3");
    const size_t around = dimension == 2 ? kNeighbours<2> : kNeighbours<3>;
    std::vector<int32_t> table(size_t(n) * around);
    if (dimension == 2)
        neighbour_table<double, 2>(k, n, lattice_of<double, 2>(lattice_), table.data());
    else
        neighbour_table<double, 3>(k, n, lattice_of<double, 3>(lattice_), table.data());
    return owned_array(std::move(table), {size_t(n), around});
}

template <class T, int d>
T* nodes_of(nb::handle object, int64_t blocks, const char* name = "nodes") {
    return checked<T>(object, name, {blocks, kBlockNodes<d>, 4});
}

void to_velocity(nb::object nodes, int dimension, std::vector<double> increment) {
    dispatch(nodes, "nodes", dimension, [&]<class T, int d>() {
        if (increment.size() != d) throw std::invalid_argument("increment: one number per axis is needed");
        T add[d];
        for (int a = 0; a < d; ++a) add[a] = T(increment[a]);
        const int64_t blocks = length(nodes, "nodes");
        momentum_to_velocity<T, d>(nodes_of<T, d>(nodes, blocks), blocks, add);
    });
}

}  // namespace

void bind_grid(nb::module_& m) {
    nb::class_<Order>(m, "Order", "Particles sorted by block, see continua.grid.blocks.")
        .def(nb::init<>())
        .def_static("of", &given_order, nb::arg("keys"), nb::arg("offsets"), nb::arg("order"))
        .def("sort", &sort_particles, nb::arg("x"), nb::arg("count"), nb::arg("lattice"), nb::arg("dimension"),
             nb::arg("degree"))
        .def_ro("count", &Order::count)
        .def_ro("bad", &Order::bad)
        .def_prop_ro("blocks", &Order::blocks)
        .def_prop_ro("keys", [](const Order& o) { return copied(o.keys, {o.keys.size()}); })
        .def_prop_ro("offsets", [](const Order& o) { return copied(o.offsets, {o.offsets.size()}); })
        .def_prop_ro("order", [](const Order& o) { return copied(o.order, {o.order.size()}); });
    nb::class_<Links>(m, "Links", "Tiles of sorted particles on the blocks of a grid, see continua.grid.blocks.")
        .def_prop_ro("reach", [](const Links& l) { return copied(l.reach, {size_t(l.particle_blocks), size_t(1) << l.dimension}); })
        .def_prop_ro("sources", [](const Links& l) { return copied(l.sources, {size_t(l.node_blocks), size_t(1) << l.dimension}); });
    m.def("grid_blocks", &grid_blocks, nb::arg("particle_keys"), nb::arg("lattice"), nb::arg("dimension"), nb::arg("rim"));
    m.def("link_blocks", &link, nb::arg("order"), nb::arg("node_keys"), nb::arg("lattice"), nb::arg("dimension"));
    m.def("neighbour_blocks", &neighbour_blocks, nb::arg("keys"), nb::arg("lattice"), nb::arg("dimension"));
    m.def("node_coordinates", &node_coordinates, nb::arg("keys"), nb::arg("dimension"));
    m.def("momentum_to_velocity", &to_velocity, nb::arg("nodes"), nb::arg("dimension"), nb::arg("increment"));
}

}  // namespace continua
