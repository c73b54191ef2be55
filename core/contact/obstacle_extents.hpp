// How near the particles of a continuum come to obstacles.
#pragma once

#include "obstacles.hpp"

namespace continua {

// Gaps by the extent of particles: the least sd(x_p) - e_p(grad sd(x_p)) of those whose stencil holds the node. Where the
// obstacle lets go, a particle beside the node counts less: beyond half its diagonal its surface is taken to rise with the
// slope `cone`. Else the lowest particle of a ball would touch at all nodes around it, and those ahead would brake it.
template <class T, int d, int degree>
class ObstacleExtents {
  public:
    ObstacleExtents(ObstacleZone<T, d>& zone, const AskedNodes<d>& asked, const std::vector<ObstacleSurface>& surfaces,
                    const Lattice<T, d>& lattice, const ObstacleLaw& law)
        : zone_(zone), asked_(asked), surfaces_(surfaces), lattice_(lattice), law_(law), start_(asked.count() + 1, 0) {
        for (size_t z = 0; z < zone.keys.size(); ++z) {
            const int32_t slot = find_key(asked.keys, zone.keys[z]);
            for (int64_t i = zone.first[z]; i < zone.first[z + 1]; ++i) start_[asked.at(slot, zone.nodes[i].node) + 1] += 1;
        }
        for (size_t i = 1; i < start_.size(); ++i) start_[i] += start_[i - 1];
    }
    void find(const FieldSet<T>& set, const NearTiles<T, d, degree>& near) {
        std::vector<std::vector<Wanted>> wanted(near.tiles.size());
#pragma omp parallel for schedule(dynamic, 8) num_threads(team(near.count(), kBlocksPerThread))
        for (int64_t k = 0; k < near.count(); ++k) {
            near.prefetch_tile(set, k + 1);
            wanted[k] = wanted_of(set, near, near.tiles[k]);
            for (size_t begin = 0, end = 0; begin < wanted[k].size(); begin = end) {
                while (end < wanted[k].size() && wanted[k][end].same_search(wanted[k][begin])) ++end;
                search(set, near, near.tiles[k], wanted[k].data() + begin, wanted[k].data() + end);
            }
        }
        for (const auto& some : wanted)
            for (const Wanted& one : some) {
                double& gap = zone_.nodes[one.at].gap_extent;
                gap = std::min(gap, one.gap);
            }
    }

  private:
    using Near = NearTiles<T, d, degree>;
    // One node of a tile and one surface. On periodic axes the node may lie some periods off, as seen from the tile.
    struct Wanted {
        int32_t surface, node;  // node of the tile
        BlockCoords<d> image;   // [blocks]
        int64_t at;             // in the zone
        double gap = std::numeric_limits<double>::infinity();

        bool same_search(const Wanted& o) const { return surface == o.surface && image == o.image; }
        bool operator<(const Wanted& o) const { return surface != o.surface ? surface < o.surface : image < o.image; }
    };
    ObstacleZone<T, d>& zone_;
    const AskedNodes<d>& asked_;
    const std::vector<ObstacleSurface>& surfaces_;
    const Lattice<T, d>& lattice_;
    const ObstacleLaw& law_;
    std::vector<int64_t> start_;  // (asked + 1) of the nodes of the zone

    std::vector<Wanted> wanted_of(const FieldSet<T>& set, const Near& near, const typename Near::Tile& tile) const {
        const BlockCoords<d> here = block_coords<d>(set.order.keys[tile.block]);
        const bool repeats = std::any_of(lattice_.period, lattice_.period + d, [](int32_t period) { return period > 0; });
        std::vector<Wanted> out;
        out.reserve(size_t(tile.targets));
        for (int64_t t = tile.first_target; t < tile.first_target + tile.targets; ++t) {
            const auto [node, asked] = near.targets[t];
            for (int64_t i = start_[asked]; i < start_[asked + 1]; ++i) {
                if (!zone_.nodes[i].wanted) continue;
                out.push_back({zone_.nodes[i].surface, node, repeats ? image_of(here, node, asked) : BlockCoords<d>{}, i});
            }
        }
        if (!std::is_sorted(out.begin(), out.end())) std::stable_sort(out.begin(), out.end());
        return out;
    }
    BlockCoords<d> image_of(const BlockCoords<d>& tile, int node, int32_t asked) const {
        constexpr int S = kSide + degree;
        BlockCoords<d> image = block_coords<d>(asked_.keys[asked_.place[asked] / kBlockNodes<d>]);
        for (int a = d - 1; a >= 0; --a, node /= S) image[a] -= tile[a] + node % S / kSide;
        return image;
    }
    // Gaps of nodes that share surface and image.
    void search(const FieldSet<T>& set, const Near& near, const typename Near::Tile& tile, Wanted* begin, Wanted* end) const {
        const Collider& shape = surfaces_[begin->surface].shape;
        const double dx = lattice_.dx;
        Vec3 corner = first_node(lattice_, set.order.keys[tile.block]);
        for (int a = 0; a < d; ++a) corner[a] += dx * kSide * begin->image[a];
        TileBox<d, degree> box;
        for (const Wanted* one = begin; one != end; ++one) box.add(one->node);
        double least[kTileNodes<d, degree>];
        std::fill(std::begin(least), std::end(least), std::numeric_limits<double>::infinity());
        ParticleGaps gaps;
        near.for_batches(set, tile, lattice_, [&](const BatchIndices& batch, const Places& places) {
            gaps.compute(set, batch, places, shape, corner, dx);
            if (shape.mode == ContactMode::separate)
                for (int j = 0; j < batch.count; ++j) lower_beside(gaps, places, j, box, least);
            else
                lower(gaps.gap, batch.count, places, box, least);
        });
        for (Wanted* one = begin; one != end; ++one) one->gap = least[one->node];
    }

    using Places = TilePlaces<T, d, degree>;
    // The distances of a batch of particles from a surface.
    struct ParticleGaps {
        alignas(64) double gap[kBatch], normal[3][kBatch];
        ParticleCubes<T, d> cubes;

        void compute(const FieldSet<T>& set, const BatchIndices& batch, const Places& places, const Collider& shape,
                     const Vec3& corner, double dx) {
            using V = Lanes<double>;
            cubes.read(set, batch);
            for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
                PointOf<V> x{V(0), V(0), V(0)};
                for (int a = 0; a < d; ++a)
                    x[a] = corner[a] + dx * (V(places.first[a] + lane, stdx::element_aligned) +
                                             V(places.from_first[a] + lane, stdx::element_aligned));
                const SurfaceOf<V> surface = shape.surface_at(x);
                store(V(surface.phi - cubes.half_widths(lane, surface.normal)), gap + lane);
                for (int a = 0; a < 3; ++a) store(surface.normal[a], normal[a] + lane);
            }
        }
    };
    // Particles of one cell, which mostly come in turn, share their nodes: the least of them is enough.
    static void lower(const double* gap, int count, const Places& places, const TileBox<d, degree>& box, double* least) {
        auto same_cell = [&](int i, int j) {
            bool same = true;
            for (int a = 0; a < d; ++a) same &= places.first[a][i] == places.first[a][j];
            return same;
        };
        for (int j = 0, end = 0; j < count; j = end) {
            double low = gap[j];
            for (end = j + 1; end < count && same_cell(j, end); ++end) low = std::min(low, gap[end]);
            StencilRows<d, degree>(places, j, box).each([](int) {}, [&](int row, int) {
                for (int k = 0; k <= degree; ++k) least[row + k] = std::min(least[row + k], low);
            });
        }
    }
    void lower_beside(const ParticleGaps& gaps, const Places& places, int j, const TileBox<d, degree>& box,
                      double* least) const {
        const double dx = lattice_.dx, gap = gaps.gap[j], own = gaps.cubes.half_diagonal(j, dx);
        const Vec3 n{gaps.normal[0][j], gaps.normal[1][j], gaps.normal[2][j]};
        auto first = [&](int a) { return double(places.from_first[a][j]); };
        Vec3 off{0, 0, 0};
        StencilRows<d, degree>(places, j, box).each([&](int i) { off[0] = first(0) - i; }, [&](int row, int i) {
            if constexpr (d == 3) off[1] = first(1) - i;
            for (int k = 0; k <= degree; ++k) {
                off[d - 1] = first(d - 1) - k;
                least[row + k] = std::min(least[row + k], gap + law_.cone * beside(off, n, own, dx));
            }
        });
    }
};

// Normals, fill and extents of everything that obstacles may touch in a continuum. only_approaching: leaves out extents of
// nodes that move away from their only obstacle.
template <class T, int d, int degree>
void find_obstacle_gaps(ObstacleZone<T, d>& zone, const Field<T>& field, const FieldZone<T, d, degree>& fill,
                        const std::vector<ObstacleSurface>& surfaces, const Lattice<T, d>& lattice, const ObstacleLaw& law,
                        bool only_approaching) {
    if (zone.keys.empty()) return;
    find_fill_gaps<T, d, degree>(zone, fill, mean_spacing(field, zone, fill, lattice), lattice, law);
    for (size_t i = 0; i < zone.nodes.size(); ++i) {
        ObstacleNode& node = zone.nodes[i];
        const bool separate = surfaces[node.surface].shape.mode == ContactMode::separate;
        node.wanted = node.extent_only || (separate ? node.gap_fill > kFilled * double(lattice.dx) : !node.held(law, double(lattice.dx)));
        auto same = [&](size_t j) { return zone.nodes[j].block == node.block && zone.nodes[j].node == node.node; };
        const bool alone = !(i > 0 && same(i - 1)) && !(i + 1 < zone.nodes.size() && same(i + 1));
        if (!only_approaching || !alone || !separate) continue;
        const Vec3 u = vector_of<d>(field.nodes + (int64_t(node.block) * kBlockNodes<d> + node.node) * 4);
        node.wanted &= dot(minus(u, node.velocity), node.out) < 0;
    }
    if (std::none_of(zone.nodes.begin(), zone.nodes.end(), [](const ObstacleNode& node) { return node.wanted; })) return;
    ObstacleExtents<T, d, degree> extents(zone, fill.asked, surfaces, lattice, law);
    for (size_t s = 0; s < field.sets.size(); ++s) extents.find(field.sets[s], fill.near[s]);
}

}  // namespace continua
