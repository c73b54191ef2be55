// Obstacles as continua of infinite mass. Seen from a node at the distance t (in cells) from a flat obstacle, it fills
//     phi_b = Phi(t) + (a/h)^2/24 N'(t),     Phi(t) = integral of the spline N from t on,     k = (g_a.n + N/h)/2
// where a is the spacing of particles: the particles of a body are a midpoint sum, whose error at the face is the second
// term; with it a body rests where its face is (measured in tests/contact/test_obstacles.py). Normal and gap are otherwise
// those of two continua, and so is the law.
#pragma once

#include <optional>

#include "collider.hpp"
#include "normals.hpp"

namespace continua {

struct ObstacleLaw {
    double slack = 0.25;      // [cells] overlap of particles with an obstacle that does not fill their node
    double reach = 0.9;       // [cells] nodes farther away never touch: fronts of liquids would stick to them
    double correction = 1.0;  // factor on the second term of phi_b
    double cone = 0.7;        // slope of the surface beside a particle, for obstacles that let go
    double hold = 0.25;       // [cells] sticky and slip obstacles hold what is nearer than this
    double inside = -0.5;     // [cells] and whatever is deeper than this
};

// A spline along one axis, its slope, and what lies beyond t.
template <int degree>
struct SplineTail {
    double beyond, value, slope;

    explicit SplineTail(double t) {
        const double s = std::fabs(t), sign = t < 0 ? -1 : 1;
        double tail = 0;  // beyond s
        value = slope = 0;
        if constexpr (degree == 1) {
            if (s < 1) value = 1 - s, slope = -sign, tail = 0.5 * value * value;
        } else if constexpr (degree == 2) {
            const double r = 1.5 - s;
            if (s < 0.5)
                value = 0.75 - s * s, slope = -2 * t, tail = 0.5 - s * (0.75 - s * s / 3);
            else if (s < 1.5)
                value = 0.5 * r * r, slope = -sign * r, tail = r * r * r / 6;
        } else {
            const double r = 2 - s;
            if (s < 1)
                value = 2. / 3 - s * s + 0.5 * s * s * s, slope = sign * (1.5 * s * s - 2 * s),
                tail = 0.5 - s * (2. / 3 - s * s / 3 + s * s * s / 8);
            else if (s < 2)
                value = r * r * r / 6, slope = -sign * 0.5 * r * r, tail = r * r * r * r / 24;
        }
        beyond = t < 0 ? 1 - tail : tail;
    }
};

// Obstacles as surfaces: hollow boxes become their faces, so that every wall has its own normal and gap.
struct ObstacleSurface {
    Collider shape;
    int32_t row;
};

template <int d>
std::vector<ObstacleSurface> obstacle_surfaces(const std::vector<Collider>& colliders) {
    std::vector<ObstacleSurface> out;
    for (size_t row = 0; row < colliders.size(); ++row) {
        const Collider& c = colliders[row];
        if (c.kind == ColliderKind::region) continue;
        if (c.kind != ColliderKind::box || c.sign > 0) {
            out.push_back({c, int32_t(row)});
            continue;
        }
        for (int axis = 0; axis < d; ++axis)
            for (double side : {-1.0, 1.0}) {
                Collider face = c;
                face.kind = ColliderKind::plane;
                face.sign = 1;
                face.shape.fill(0);
                face.shape[axis] = -side;
                face.shape[3] = -side * c.shape[axis] - c.shape[3 + axis];
                out.push_back({face, int32_t(row)});
            }
    }
    return out;
}

// A node of a continuum that an obstacle may touch.
struct ObstacleNode {
    int32_t block, node, surface;  // block of the field's grid, node in it, number of the surface
    double distance;               // [m]
    Vec3 out;                      // unit normal out of the obstacle
    Vec3 velocity;                 // of the obstacle there
    double gap_fill = std::numeric_limits<double>::infinity();
    double gap_extent = std::numeric_limits<double>::infinity();
    double enough = std::numeric_limits<double>::infinity();  // extents that leave so much of a gap change nothing
    bool extent_only = false, wanted = false;

    double gap(double slack) const {
        if (extent_only) return gap_extent;
        return gap_fill <= 0 ? gap_fill : std::min(gap_fill, gap_extent + slack);
    }
    // Speed towards the obstacle [m/s].
    template <class T, int d>
    double approach(const Field<T>& field) const {
        const Vec3 u = vector_of<d>(field.nodes + (int64_t(block) * kBlockNodes<d> + node) * 4);
        return dot(minus(velocity, u), out);
    }
    bool held(const ObstacleLaw& law, double dx) const {
        return std::min(gap_fill, gap_extent) <= law.hold * dx || distance <= law.inside * dx;
    }
};

// What a step can do without: the extents of a node that is alone with one obstacle, which lets go, count only if they are so small
// that it closes its gap, and it needs no gap at all if it moves away.
struct OnlyClosing {
    bool on = false;
    double dt = 0;
};

// All such nodes of one continuum, in the order of blocks, nodes and surfaces.
template <class T, int d>
struct ObstacleZone {
    std::vector<uint64_t> keys;  // blocks with such nodes, sorted
    std::vector<ObstacleNode> nodes;
    std::vector<int64_t> first;  // (keys + 1) of `nodes`

    ObstacleZone() = default;
    ObstacleZone(const Field<T>& field, const Lattice<T, d>& lattice, const std::vector<ObstacleSurface>& surfaces,
                 const ObstacleLaw& law, bool only_closing = false) {
        struct Found {
            std::vector<ObstacleNode> nodes;
            std::vector<std::pair<int64_t, int64_t>> blocks;  // and where their nodes end
            int64_t first = 0;                                // among all nodes
        };
        constexpr int64_t kChunk = 16;
        std::vector<Found> chunks(size_t((field.blocks + kChunk - 1) / kChunk));
#pragma omp parallel for schedule(dynamic, 1) num_threads(team(field.blocks, kBlocksPerThread))
        for (size_t c = 0; c < chunks.size(); ++c) {
            Found& found = chunks[c];
            found.nodes.reserve(kChunk * 2 * kSide * kSide);  // two layers
            for (int64_t b = c * kChunk; b < std::min(int64_t(c + 1) * kChunk, field.blocks); ++b)
                if (search_block(field, b, lattice, surfaces, law, only_closing, found.nodes))
                    found.blocks.push_back({b, int64_t(found.nodes.size())});
        }
        first.push_back(0);
        for (Found& found : chunks) {
            found.first = first.back();
            for (const auto& [block, end] : found.blocks) keys.push_back(field.keys[block]), first.push_back(found.first + end);
        }
        nodes.resize(size_t(first.back()));
#pragma omp parallel for schedule(static) num_threads(team(field.blocks, kBlocksPerThread))
        for (size_t c = 0; c < chunks.size(); ++c)
            std::copy(chunks[c].nodes.begin(), chunks[c].nodes.end(), nodes.begin() + chunks[c].first);
    }

  private:
    static constexpr int kNodes = kBlockNodes<d>;
    // Whether there are any nodes near a surface. Those that move away from the only one need not be kept.
    static bool search_block(const Field<T>& field, int64_t b, const Lattice<T, d>& lattice,
                             const std::vector<ObstacleSurface>& surfaces, const ObstacleLaw& law, bool only_closing,
                             std::vector<ObstacleNode>& out) {
        const double dx = lattice.dx, half = 0.5 * (kSide - 1) * dx;
        const Vec3 corner = first_node(lattice, field.keys[b]);
        Vec3 centre = corner;
        for (int a = 0; a < d; ++a) centre[a] += half;
        const size_t begin = out.size();
        size_t known = begin;
        int met = 0;  // surfaces with nodes here
        for (size_t s = 0; s < surfaces.size(); ++s) {
            const Collider& c = surfaces[s].shape;
            if (c.evaluate(centre).phi > c.steepest() * (half * std::sqrt(double(d)) + law.reach * dx)) continue;
            search_surface(field, b, corner, dx, c, int32_t(s), law, out);
            met += out.size() > known;
            known = out.size();
        }
        const auto here = out.begin() + int64_t(begin);
        if (met > 1) std::stable_sort(here, out.end(), [](const auto& p, const auto& q) { return p.node < q.node; });
        if (met == 1 && only_closing && surfaces[here->surface].shape.mode == ContactMode::separate)
            out.erase(std::remove_if(here, out.end(), [&](const ObstacleNode& n) { return !(n.template approach<T, d>(field) > 0); }),
                      out.end());
        return met > 0;
    }
    // Nodes of one block near one surface, lanes of them at once.
    static void search_surface(const Field<T>& field, int64_t b, const Vec3& corner, double dx, const Collider& c, int32_t s,
                               const ObstacleLaw& law, std::vector<ObstacleNode>& out) {
        using V = Lanes<double>;
        constexpr int kLanes = lanes_of<V>();
        static_assert(kNodes % kLanes == 0);
        static const Offsets offsets;
        const T* nodes = field.nodes + b * kNodes * 4;
        alignas(64) double phi[kLanes], normal[3][kLanes];
        for (int begin = 0; begin < kNodes; begin += kLanes) {
            PointOf<V> x{V(0), V(0), V(0)};
            for (int a = 0; a < d; ++a) x[a] = corner[a] + dx * load<V>(offsets.of[a] + begin);
            const SurfaceOf<V> surface = c.surface_at(x);
            if (!any(surface.phi < V(law.reach * dx))) continue;
            store(surface.phi, phi);
            for (int a = 0; a < 3; ++a) store(surface.normal[a], normal[a]);
            for (int lane = 0; lane < kLanes; ++lane) {
                if (!(phi[lane] < law.reach * dx) || !(nodes[(begin + lane) * 4 + 3] > T(0))) continue;
                const Vec3 n{normal[0][lane], normal[1][lane], normal[2][lane]};
                if (dot(n, n) == 0) continue;
                out.push_back({int32_t(b), begin + lane, s, phi[lane], n, c.velocity_at({x[0][lane], x[1][lane], x[2][lane]})});
            }
        }
    }
    // Of the nodes of a block from its first one, in cells.
    struct Offsets {
        alignas(64) double of[d][kNodes];

        Offsets() {
            for_block_nodes<d>([&](int node, const std::array<int, 3>& l) {
                for (int a = 0; a < d; ++a) of[a][node] = l[a];
            });
        }
    };
};

// Sum of a column over the particles of a block.
template <class T>
double sum_of_block(const T* column, const Blocks& order, int64_t block) {
    double sums[kBatch] = {}, total = 0;
    for (int64_t begin = order.offsets[block], end = order.offsets[block + 1]; begin < end; begin += kBatch) {
        const BatchIndices batch(order.order, begin, end);
        for (int j = 0; j < kBatch; ++j) sums[j] += j < batch.count ? double(column[batch.at[j]]) : 0.0;
    }
    for (double sum : sums) total += sum;
    return total;
}

// Mean spacing of the particles near a zone, in cells: V0^(1/d). Of all particles in blocks whose tiles reach its blocks.
template <class T, int d, int degree>
double mean_spacing(const Field<T>& field, const ObstacleZone<T, d>& zone, const FieldZone<T, d, degree>& fill,
                    const Lattice<T, d>& lattice) {
    double volume = 0, count = 0;
    for (size_t s = 0; s < field.sets.size(); ++s) {
        const FieldSet<T>& set = field.sets[s];
        if (set.thin) continue;
        const ZoneTiles& tiles = fill.near[s].zone;
        std::vector<uint8_t> counts(size_t(tiles.count()), 0);
        for (const int32_t slot : find_keys(fill.asked.keys, zone.keys)) {
            const int32_t* sources = tiles.sources.data() + size_t(slot) * kCorners<d>;
            for (int corner = 0; corner < kCorners<d>; ++corner)
                if (sources[corner] >= 0) counts[sources[corner]] = 1;
        }
        std::vector<double> partial(size_t(tiles.count()), 0.0);
#pragma omp parallel for schedule(dynamic, 16) num_threads(team(tiles.count(), kBlocksPerThread))
        for (int64_t k = 0; k < tiles.count(); ++k)
            if (counts[k]) partial[k] = sum_of_block(set.particles.volume, set.order, tiles.blocks[k]);
        for (int64_t k = 0; k < tiles.count(); ++k) {
            if (!counts[k]) continue;
            volume += partial[k];
            count += double(set.order.offsets[tiles.blocks[k] + 1] - set.order.offsets[tiles.blocks[k]]);
        }
    }
    return count > 0 ? std::pow(volume / count, 1.0 / d) / double(lattice.dx) : 0.0;
}

// Gaps by fill of all nodes of a zone, and which nodes need those by extent; whether any does. A node that obstacles let go meets
// them when its approach in a step is more than its gap; `closing` tells whether only that counts.
template <class T, int d, int degree>
bool find_fill_gaps(ObstacleZone<T, d>& zone, const Field<T>& field, const FieldZone<T, d, degree>& fill,
                    const std::vector<ObstacleSurface>& surfaces, double spacing, const Lattice<T, d>& lattice,
                    const ObstacleLaw& law, const OnlyClosing& closing) {
    const double dx = lattice.dx, second = law.correction * spacing * spacing / 24;
    const int64_t blocks = int64_t(zone.keys.size());
    const std::vector<int32_t> slots = find_keys(fill.asked.keys, zone.keys);
    auto choose_extent = [&](ObstacleNode& node, bool alone) {
        const bool separate = surfaces[node.surface].shape.mode == ContactMode::separate;
        node.wanted = node.extent_only || (separate ? node.gap_fill > kFilled * dx : !node.held(law, dx));
        if (!node.wanted || !alone || !separate || !closing.on) return;
        const double nearer = node.template approach<T, d>(field) * closing.dt;
        node.enough = node.extent_only ? nearer : std::min(node.gap_fill, nearer) - law.slack * dx;
        node.wanted = nearer > 0;
    };
    bool any = false;
#pragma omp parallel for schedule(dynamic, 16) num_threads(team(blocks, kBlocksPerThread)) reduction(|| : any)
    for (int64_t z = 0; z < blocks; ++z) {
        const int32_t slot = slots[z];
        std::vector<double> density;  // of the obstacles at a node
        for (int64_t i = zone.first[z], end = i; i < zone.first[z + 1]; i = end) {
            double free = 1;  // part of the node that no obstacle fills
            density.clear();
            for (end = i; end < zone.first[z + 1] && zone.nodes[end].node == zone.nodes[i].node; ++end) {
                const SplineTail<degree> tail(zone.nodes[end].distance / dx);
                free *= 1 - std::clamp(tail.beyond + second * tail.slope, 0.0, 1.0);
                density.push_back(tail.value / dx);
            }
            const T* record = fill.fill_at(slot, zone.nodes[i].node);
            const double phi = record[3], empty = free - phi;
            for (int64_t j = i; j < end; ++j) {
                ObstacleNode& node = zone.nodes[j];
                node.extent_only = !(phi > 0);
                const double k = 0.5 * (density[j - i] - dot(vector_of<d>(record), node.out));
                if (!node.extent_only && k * dx > kFaint)
                    node.gap_fill = empty / k;
                else if (!node.extent_only && empty <= 0)
                    node.gap_fill = 0;
                choose_extent(node, end == i + 1);
                any = any || node.wanted;
            }
        }
    }
    return any;
}

}  // namespace continua
