// How far particles reach along the normal of a node: the safety net under the fill, for bodies too thin or too loose to
// fill a node. Of all particles whose stencil holds node i
//     reach = max (x_p - x_i).n + e_p(n),   e_p = r_p |F_p^T n|,   r_p = V0^(1/d)/2
// and the gap is what is left between the reach of a along n and that of b against it (after Nairn et al. 2020). Maxima do
// not depend on order, so neither does the result.
#pragma once

#include "normals.hpp"

namespace continua {

// Where nothing but extents decides, particles count less the farther they lie beside the node [cells]: else a normal that
// leans a little at an edge would make the far ends of two flat faces overlap.
inline constexpr double kCone = 0.35, kBeside = 0.5;

// What one continuum reaches at the nodes of a pair, along n and against it [m]; -inf where nothing is asked.
struct Reach {
    static constexpr double kNone = -std::numeric_limits<double>::infinity();
    double along = kNone, against = kNone;
};

namespace detail {

// The normals of a tile and what particles reach along them. One row of nodes is handled at a time: lanes beyond the end of a
// stencil are read and left as they are.
template <class T, int d, int degree>
class TileReach {
  public:
    TileBox<d, degree> box;  // around the nodes with normals

    TileReach() { std::fill_n(along_, kSize, Reach::kNone), std::fill_n(against_, kSize, Reach::kNone); }
    void want(int node, const PairNode& at, double dx) {
        box.add(node);
        for (int a = 0; a < 3; ++a) n_[a][node] = at.n[a];
        cone_[node] = at.extent_only ? dx * kCone : 0;
        any_cone_ |= at.extent_only;
    }
    void add(const TilePlaces<T, d, degree>& places, int j, const ParticleCubes<T, d>& cubes, double dx) {
        const Row k([](auto lane) { return double(int(lane)); });
        const auto inside = k <= Row(double(degree));
        auto off = [&](int a) { return double(places.from_first[a][j]); };
        std::array<Row, 3> o{Row(0), Row(0), Row(0)};
        o[d - 1] = Row(off(d - 1)) - k;
        auto outer = [&](int i) { o[0] = Row(off(0) - i); };
        StencilRows<d, degree>(places, j, box).each(outer, [&](int row, int i) {
            const std::array<Row, 3> n{load<Row>(n_[0] + row), load<Row>(n_[1] + row), load<Row>(n_[2] + row)};
            if constexpr (d == 3) o[1] = Row(off(1) - i);
            const Row up = o[0] * n[0] + o[1] * n[1] + o[2] * n[2], centre = dx * up;
            Row half = cubes.half_width(j, n);
            if (any_cone_) {
                const Row beside = sqrt(Row(max(Row(o[0] * o[0] + o[1] * o[1] + o[2] * o[2] - up * up), Row(0))));
                half -= load<Row>(cone_ + row) * max(Row(beside - kBeside), Row(0));
            }
            raise(along_ + row, centre + half, inside);
            raise(against_ + row, half - centre, inside);
        });
    }
    Reach at(int node) const { return {along_[node], against_[node]}; }

  private:
    using Row = Quad<double>;
    static constexpr int kSize = kTileNodes<d, degree> + int(Row::size());
    alignas(64) double n_[3][kSize] = {}, cone_[kSize] = {}, along_[kSize], against_[kSize];
    bool any_cone_ = false;

    template <class Mask>
    [[gnu::always_inline]] static void raise(double* at, const Row& value, const Mask& inside) {
        Row now(at, stdx::element_aligned);
        stdx::where(inside, now) = max(now, value);
        now.copy_to(at, stdx::element_aligned);
    }
};

}  // namespace detail

// reach (pair nodes), merged with what is there. pair_node: of every node asked about, the wanted node of the pair or -1.
template <class T, int d, int degree>
void scatter_extents(const FieldSet<T>& set, const NearTiles<T, d, degree>& near, const PairZone<T, d>& pair,
                     const std::vector<int32_t>& pair_node, const Lattice<T, d>& lattice, Reach* reach) {
    std::vector<Reach> found(size_t(near.all_targets));
    const double dx = lattice.dx;
#pragma omp parallel for schedule(dynamic, 8) num_threads(team(near.count(), kBlocksPerThread))
    for (int64_t k = 0; k < near.count(); ++k) {
        near.prefetch_tile(set, k + 1);
        const auto& tile = near.tiles[k];
        const auto* targets = near.targets.get() + tile.first_target;
        detail::TileReach<T, d, degree> tile_reach;
        for (int64_t t = 0; t < tile.targets; ++t)
            if (const int32_t at = pair_node[targets[t].asked]; at >= 0) tile_reach.want(targets[t].node, pair.nodes[at], dx);
        if (tile_reach.box.empty()) continue;
        ParticleCubes<T, d> cubes;
        near.for_batches(set, tile, lattice, [&](const BatchIndices& batch, const TilePlaces<T, d, degree>& places) {
            cubes.read(set, batch);
            for (int j = 0; j < batch.count; ++j) tile_reach.add(places, j, cubes, dx);
        });
        for (int64_t t = 0; t < tile.targets; ++t) found[tile.first_target + t] = tile_reach.at(targets[t].node);
    }
    for (size_t t = 0; t < found.size(); ++t) {
        const int32_t at = pair_node[near.targets[t].asked];
        if (at < 0) continue;
        reach[at].along = std::max(reach[at].along, found[t].along);
        reach[at].against = std::max(reach[at].against, found[t].against);
    }
}

// What one continuum reaches at all wanted nodes of a pair.
template <class T, int d, int degree>
std::vector<Reach> find_reach(const PairZone<T, d>& pair, const Field<T>& field, const FieldZone<T, d, degree>& zone,
                              const Lattice<T, d>& lattice) {
    std::vector<Reach> reach(pair.nodes.size());
    std::vector<int32_t> pair_node(zone.asked.count(), -1);
    for (int64_t z = 0; z < pair.blocks(); ++z) {
        const int32_t slot = find_key(zone.asked.keys, pair.keys[z]);
        for (int i = 0; i < kBlockNodes<d>; ++i)
            if (pair.at(z, i).wanted) pair_node[zone.asked.at(slot, i)] = int32_t(z * kBlockNodes<d> + i);
    }
    for (size_t s = 0; s < field.sets.size(); ++s)
        scatter_extents<T, d, degree>(field.sets[s], zone.near[s], pair, pair_node, lattice, reach.data());
    return reach;
}

// Gaps between the particles of a and b at all wanted nodes. Where a surface has two sides its normal may point either
// way: it is turned from the particles of a towards those of b.
template <class T, int d, int degree>
void find_extent_gaps(PairZone<T, d>& pair, const Field<T>& a, const Field<T>& b, const FieldZone<T, d, degree>& zone_a,
                      const FieldZone<T, d, degree>& zone_b, const Lattice<T, d>& lattice) {
    if (std::none_of(pair.nodes.begin(), pair.nodes.end(), [](const PairNode& n) { return n.wanted; })) return;
    std::vector<Reach> of_a = find_reach(pair, a, zone_a, lattice), of_b = find_reach(pair, b, zone_b, lattice);
    const bool two_sided = a.two_sided() || b.two_sided();
    for (size_t i = 0; i < pair.nodes.size(); ++i) {
        PairNode& node = pair.nodes[i];
        if (!node.wanted || !(of_a[i].along > Reach::kNone) || !(of_b[i].along > Reach::kNone)) continue;
        const double ahead = (of_b[i].along - of_b[i].against) - (of_a[i].along - of_a[i].against);
        if (two_sided && node.extent_only && ahead < 0) {
            for (double& c : node.n) c = -c;
            std::swap(of_a[i].along, of_a[i].against);
            std::swap(of_b[i].along, of_b[i].against);
        }
        node.gap_extent = -of_b[i].against - of_a[i].along;
    }
}

}  // namespace continua
