#include "../grid/halo.hpp"
#include "arrays.hpp"

namespace continua {
namespace {

// Sort particles by block: fills `order` and returns (keys, offsets, first bad particle or -1).
nb::tuple sort_particles(nb::object x, int64_t count, nb::object lattice_, int dimension, int degree, bool by_cell,
                         nb::object order, nb::object slots) {
    if (degree < 1 || degree > 3) throw std::invalid_argument("degree: must be 1, 2 or 3");
    BlockOrder result;
    dispatch(x, "x", dimension, [&]<class T, int d>() {
        const int64_t capacity = length(x, "x", 1);
        if (count < 0 || count > capacity) throw std::invalid_argument("count: exceeds the capacity of x");
        if (count > std::numeric_limits<int32_t>::max()) throw std::invalid_argument("count: too many particles");
        const T* px = checked<T>(x, "x", {d, capacity});
        const auto lattice = lattice_of<T, d>(lattice_);
        int32_t *o = checked<int32_t>(order, "order", {-1}), *s = checked<int32_t>(slots, "slots", {-1});
        if (length(order, "order") < count || length(slots, "slots") < count)
            throw std::invalid_argument("order, slots: shorter than count");
        nb::gil_scoped_release release;
        result = sort_by_block<T, d>(px, capacity, count, lattice, degree, by_cell, o, s);
    });
    const int64_t bad = result.first_bad;
    const size_t blocks = result.keys.size();
    if (result.offsets.empty()) result.offsets.assign(blocks + 1, 0);
    return nb::make_tuple(owned_array(std::move(result.keys), {blocks}), owned_array(std::move(result.offsets), {blocks + 1}), bad);
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

// Returns (reach, sources), see link_blocks.
nb::tuple link(nb::object particle_keys, nb::object node_keys, nb::object lattice_, int dimension) {
    const int64_t np = length(particle_keys, "particle_keys"), nn = length(node_keys, "node_keys");
    const uint64_t* p = checked<uint64_t>(particle_keys, "particle_keys", {np});
    const uint64_t* n = checked<uint64_t>(node_keys, "node_keys", {nn});
    const size_t corners = dimension == 2 ? 4 : 8;
    std::vector<int32_t> reach(np * corners), sources(nn * corners);
    if (dimension == 2)
        link_blocks<double, 2>(p, np, n, nn, lattice_of<double, 2>(lattice_), reach.data(), sources.data());
    else
        link_blocks<double, 3>(p, np, n, nn, lattice_of<double, 3>(lattice_), reach.data(), sources.data());
    return nb::make_tuple(owned_array(std::move(reach), {size_t(np), corners}),
                          owned_array(std::move(sources), {size_t(nn), corners}));
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

// overlap: nodes that tiles reach beyond their block, the degree of the splines or one more on faces.
void collect(nb::object tiles, nb::object sources, int dimension, int overlap, bool accumulate, nb::object nodes) {
    dispatch(nodes, "nodes", dimension, [&]<class T, int d>() {
        auto add = [&]<int g>() {
            const int64_t blocks = length(nodes, "nodes"), count = length(tiles, "tiles");
            const T* t = checked<T>(tiles, "tiles", {count, kTileNodes<d, g>, 4});
            const int32_t* s = checked<int32_t>(sources, "sources", {blocks, kCorners<d>});
            for (int64_t i = 0; i < blocks * kCorners<d>; ++i)
                if (s[i] >= count) throw std::invalid_argument("sources: refers to a tile that does not exist");
            T* n = nodes_of<T, d>(nodes, blocks);
            nb::gil_scoped_release release;
            collect_tiles<T, d, g>(t, s, blocks, accumulate, n);
        };
        if (overlap == kSide)
            add.template operator()<kSide>();
        else
            with_degree(overlap, add);
    });
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
    m.def("sort_particles", &sort_particles, nb::arg("x"), nb::arg("count"), nb::arg("lattice"), nb::arg("dimension"),
          nb::arg("degree"), nb::arg("by_cell"), nb::arg("order"), nb::arg("slots"));
    m.def("grid_blocks", &grid_blocks, nb::arg("particle_keys"), nb::arg("lattice"), nb::arg("dimension"), nb::arg("rim"));
    m.def("link_blocks", &link, nb::arg("particle_keys"), nb::arg("node_keys"), nb::arg("lattice"), nb::arg("dimension"));
    m.def("neighbour_blocks", &neighbour_blocks, nb::arg("keys"), nb::arg("lattice"), nb::arg("dimension"));
    m.def("node_coordinates", &node_coordinates, nb::arg("keys"), nb::arg("dimension"));
    m.def("collect_tiles", &collect, nb::arg("tiles"), nb::arg("sources"), nb::arg("dimension"), nb::arg("overlap"),
          nb::arg("accumulate"), nb::arg("nodes"));
    m.def("momentum_to_velocity", &to_velocity, nb::arg("nodes"), nb::arg("dimension"), nb::arg("increment"));
    m.def("tile_nodes", [](int dimension, int degree) {
        int n = 1;
        for (int a = 0; a < dimension; ++a) n *= kSide + degree;
        return n;
    });
}

}  // namespace continua
