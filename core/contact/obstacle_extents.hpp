// How near the particles of a continuum come to obstacles.
#pragma once

#include <atomic>

#include "obstacles.hpp"

namespace continua {

// Gaps by the extent of particles: the least sd(x_p) - e_p(grad sd(x_p)) of those whose stencil holds the node. Where the
// obstacle lets go, a particle beside the node counts less: beyond half its diagonal its surface is taken to rise with the
// slope `cone`. Else the lowest particle of a ball would touch at all nodes around it, and those ahead would brake it.
template <class T, int d, int degree>
class ObstacleExtents {
  public:
    ObstacleExtents(ObstacleZone<T, d>& zone, const Field<T>& field, const AskedNodes<d>& asked,
                    const std::vector<ObstacleSurface>& surfaces, const Lattice<T, d>& lattice, const ObstacleLaw& law)
        : zone_(zone), field_(field), surfaces_(surfaces), lattice_(lattice), law_(law), start_(asked.count() + 1, 0) {
        const std::vector<int32_t> slots = find_keys(asked.keys, zone.keys);
        auto for_wanted = [&](auto&& function) {
            for (size_t z = 0; z < zone.keys.size(); ++z)
                for (int64_t i = zone.first[z]; i < zone.first[z + 1]; ++i)
                    if (zone.nodes[i].wanted) function(size_t(asked.at(slots[z], zone.nodes[i].node)), int32_t(i));
        };
        for_wanted([&](size_t node, int32_t) { ++start_[node + 1]; });
        for (size_t i = 1; i < start_.size(); ++i) start_[i] += start_[i - 1];
        wanted_.resize(size_t(start_.back()));
        std::vector<int32_t> next(start_);
        for_wanted([&](size_t node, int32_t i) { wanted_[next[node]++] = {i, zone.nodes[i].surface, zone.nodes[i].enough}; });
    }
    void find(const FieldSet<T>& set, const NearTiles<T, d, degree>& near) {
#pragma omp parallel num_threads(team(near.count(), kBlocksPerThread))
        {
            std::vector<Wanted> wanted;
#pragma omp for schedule(dynamic, 8)
            for (int64_t k = 0; k < near.count(); ++k) {
                near.prefetch_tile(set, k + 1);
                list_wanted(set, near, near.tiles[k], wanted);
                for (size_t begin = 0, end = 0; begin < wanted.size(); begin = end) {
                    while (end < wanted.size() && wanted[end].same_search(wanted[begin])) ++end;
                    search(set, near, near.tiles[k], wanted.data() + begin, wanted.data() + end);
                }
            }
        }
    }

  private:
    using Near = NearTiles<T, d, degree>;
    using Places = TilePlaces<T, d, degree>;
    using Row = Quad<double>;
    static constexpr int kRowLanes = int(Row::size());
    // One node of a tile and one surface. On periodic axes the node may lie some periods off, as seen from the tile.
    struct Wanted {
        int32_t surface, node;  // node of the tile
        BlockCoords<d> image;   // [blocks]
        int32_t at;             // in the zone
        double enough;

        bool same_search(const Wanted& o) const { return surface == o.surface && image == o.image; }
        bool operator<(const Wanted& o) const { return surface != o.surface ? surface < o.surface : image < o.image; }
    };
    ObstacleZone<T, d>& zone_;
    const Field<T>& field_;
    const std::vector<ObstacleSurface>& surfaces_;
    const Lattice<T, d>& lattice_;
    const ObstacleLaw& law_;
    struct InZone {
        int32_t at, surface;
        double enough;
    };
    std::vector<int32_t> start_;  // (asked + 1) of those below
    std::vector<InZone> wanted_;  // nodes of the zone that want extents, by the nodes asked about

    void list_wanted(const FieldSet<T>& set, const Near& near, const typename Near::Tile& tile, std::vector<Wanted>& out) const {
        const BlockCoords<d> here = block_coords<d>(set.order.keys[tile.block]);
        const bool repeats = std::any_of(lattice_.period, lattice_.period + d, [](int32_t period) { return period > 0; });
        out.clear();
        for (int64_t t = tile.first_target; t < tile.first_target + tile.targets; ++t) {
            const auto [node, asked] = near.targets[t];
            for (int32_t k = start_[asked]; k < start_[asked + 1]; ++k) {
                const auto& [at, surface, enough] = wanted_[k];
                out.push_back({surface, node, repeats ? image_of(here, node, zone_.nodes[at]) : BlockCoords<d>{}, at, enough});
            }
        }
        if (!std::is_sorted(out.begin(), out.end())) std::stable_sort(out.begin(), out.end());
    }
    // Gaps of nodes that share surface and image.
    void search(const FieldSet<T>& set, const Near& near, const typename Near::Tile& tile, const Wanted* begin, const Wanted* end) {
        const Collider& shape = surfaces_[begin->surface].shape;
        const double dx = lattice_.dx;
        Vec3 corner = first_node(lattice_, set.order.keys[tile.block]);
        for (int a = 0; a < d; ++a) corner[a] += dx * kSide * begin->image[a];
        double least[kTileNodes<d, degree> + kRowLanes], enough = -std::numeric_limits<double>::infinity();
        std::fill(std::begin(least), std::end(least), enough);
        for (const Wanted* one = begin; one != end; ++one) {
            least[one->node] = one->enough;
            enough = std::max(enough, one->enough);
        }
        ParticleGaps gaps;
        near.for_batches(set, tile, lattice_, [&](const BatchIndices& batch, const Places& places) {
            gaps.compute(set, batch, places, shape, corner, dx);
            if (shape.mode != ContactMode::separate) {
                lower(gaps.gap, batch.count, places, tile.box, least);
                return;
            }
            for (int j = 0; j < batch.count; ++j)
                if (gaps.gap[j] < enough) lower_beside(gaps, places, j, tile.box, least);
        });
        for (const Wanted* one = begin; one != end; ++one)
            if (least[one->node] < one->enough) lower_gap(zone_.nodes[one->at].gap_extent, least[one->node]);
    }
    // Tiles of several threads hold the node; the least of their gaps does not depend on who comes first.
    static void lower_gap(double& gap, double found) {
        const std::atomic_ref<double> shared(gap);
        double now = shared.load(std::memory_order_relaxed);
        while (found < now && !shared.compare_exchange_weak(now, found, std::memory_order_relaxed)) {
        }
    }

    // How many periods off a node lies as seen from a tile.
    BlockCoords<d> image_of(const BlockCoords<d>& tile, int node, const ObstacleNode& at) const {
        constexpr int S = kSide + degree;
        BlockCoords<d> image = block_coords<d>(field_.keys[at.block]);
        for (int a = d - 1; a >= 0; --a, node /= S) image[a] -= tile[a] + node % S / kSide;
        return image;
    }
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
    // gap + cone max(0, distance beside the node - half a diagonal), for a row of nodes at a time.
    void lower_beside(const ParticleGaps& gaps, const Places& places, int j, const TileBox<d, degree>& box,
                      double* least) const {
        const double dx = lattice_.dx, gap = gaps.gap[j], own = gaps.cubes.half_diagonal(j, dx);
        const Vec3 n{gaps.normal[0][j], gaps.normal[1][j], gaps.normal[2][j]};
        const Row k([](auto lane) { return double(int(lane)); });
        const auto inside = k <= Row(double(degree));
        auto first = [&](int a) { return double(places.from_first[a][j]); };
        const Row last = Row(first(d - 1)) - k;
        double off[2] = {0, 0};
        StencilRows<d, degree>(places, j, box).each([&](int i) { off[0] = first(0) - i; }, [&](int row, int i) {
            Row now(least + row, stdx::element_aligned);
            const auto open = inside && now > Row(gap);
            if (!any(open)) return;
            if constexpr (d == 3) off[1] = first(1) - i;
            const Row up = last * n[d - 1] + (off[0] * n[0] + (d == 3 ? off[1] * n[1] : 0));
            const Row across = last * last + (off[0] * off[0] + off[1] * off[1]) - up * up;
            const Row beside = max(Row(dx * sqrt(Row(max(across, Row(0)))) - own), Row(0));
            stdx::where(open, now) = min(now, Row(gap + law_.cone * beside));
            now.copy_to(least + row, stdx::element_aligned);
        });
    }
};

// Normals, fill and extents of everything that obstacles may touch in a continuum.
template <class T, int d, int degree>
void find_obstacle_gaps(ObstacleZone<T, d>& zone, const Field<T>& field, const FieldZone<T, d, degree>& fill,
                        const std::vector<ObstacleSurface>& surfaces, const Lattice<T, d>& lattice, const ObstacleLaw& law,
                        const OnlyClosing& closing) {
    if (zone.nodes.empty()) return;
    const double spacing = mean_spacing(field, zone, fill, lattice);
    if (!find_fill_gaps<T, d, degree>(zone, field, fill, surfaces, spacing, lattice, law, closing)) return;
    ObstacleExtents<T, d, degree> extents(zone, field, fill.asked, surfaces, lattice, law);
    for (size_t s = 0; s < field.sets.size(); ++s) extents.find(field.sets[s], fill.near[s]);
}

}  // namespace continua
