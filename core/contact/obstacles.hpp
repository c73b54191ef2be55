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
    bool extent_only = false, wanted = false;

    double gap(double slack) const {
        if (extent_only) return gap_extent;
        return gap_fill <= 0 ? gap_fill : std::min(gap_fill, gap_extent + slack);
    }
    bool held(const ObstacleLaw& law, double dx) const {
        return std::min(gap_fill, gap_extent) <= law.hold * dx || distance <= law.inside * dx;
    }
};

// All such nodes of one continuum, in the order of blocks, nodes and surfaces.
template <class T, int d>
struct ObstacleZone {
    std::vector<uint64_t> keys;     // blocks with such nodes, sorted
    std::vector<ObstacleNode> nodes;
    std::vector<int64_t> first;     // (keys + 1) of `nodes`

    ObstacleZone() = default;
    ObstacleZone(const Field<T>& field, const Lattice<T, d>& lattice, const std::vector<ObstacleSurface>& surfaces,
                 const ObstacleLaw& law) {
        std::vector<std::vector<ObstacleNode>> found(field.blocks);
#pragma omp parallel for schedule(dynamic, 16) num_threads(team(field.blocks, kBlocksPerThread))
        for (int64_t b = 0; b < field.blocks; ++b) search_block(field, b, lattice, surfaces, law, found[b]);
        first.push_back(0);
        for (int64_t b = 0; b < field.blocks; ++b) {
            if (found[b].empty()) continue;
            keys.push_back(field.keys[b]);
            nodes.insert(nodes.end(), found[b].begin(), found[b].end());
            first.push_back(int64_t(nodes.size()));
        }
    }

  private:
    static void search_block(const Field<T>& field, int64_t b, const Lattice<T, d>& lattice,
                             const std::vector<ObstacleSurface>& surfaces, const ObstacleLaw& law,
                             std::vector<ObstacleNode>& out) {
        const double dx = lattice.dx, half = 0.5 * (kSide - 1) * dx;
        const Vec3 corner = first_node(lattice, field.keys[b]);
        Vec3 centre = corner;
        for (int a = 0; a < d; ++a) centre[a] += half;
        for (size_t s = 0; s < surfaces.size(); ++s) {
            const Collider& c = surfaces[s].shape;
            // Sampled distances grow faster than distance beyond their lattice.
            const double slope = c.kind == ColliderKind::sampled ? 2 : 1;
            if (c.evaluate(centre).phi > slope * (half * std::sqrt(double(d)) * (1 + 1e-9) + law.reach * dx)) continue;
            for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
                if (!(field.nodes[(b * kBlockNodes<d> + i) * 4 + 3] > T(0))) return;
                Vec3 x = corner;
                for (int a = 0; a < d; ++a) x[a] += dx * l[a];
                const SurfaceDistance surface = c.evaluate(x);
                if (!(surface.phi < law.reach * dx) || dot(surface.normal, surface.normal) == 0) return;
                out.push_back({int32_t(b), i, int32_t(s), surface.phi, surface.normal, c.velocity_at(x)});
            });
        }
        std::stable_sort(out.begin(), out.end(), [](const auto& p, const auto& q) { return p.node < q.node; });
    }
};

// Mean spacing of the particles near a zone, in cells: V0^(1/d).
template <class T, int d>
double mean_spacing(const Field<T>& field, const std::vector<uint64_t>& keys, const Lattice<T, d>& lattice) {
    double volume = 0, count = 0;
    for (const FieldSet<T>& set : field.sets) {
        if (set.thin) continue;
        for (int64_t s : ZoneTiles::of<T, d>(keys, set.order, lattice).blocks)
            for (int64_t k = set.order.offsets[s]; k < set.order.offsets[s + 1]; ++k)
                volume += double(set.particles.volume[set.order.order[k]]), ++count;
    }
    return count > 0 ? std::pow(volume / count, 1.0 / d) / double(lattice.dx) : 0.0;
}

// Gaps by fill of all nodes of a zone.
template <class T, int d, int degree>
void find_fill_gaps(ObstacleZone<T, d>& zone, const FieldZone<T, d>& fill, double spacing, const Lattice<T, d>& lattice,
                    const ObstacleLaw& law) {
    const double dx = lattice.dx, second = law.correction * spacing * spacing / 24;
    for (size_t z = 0; z < zone.keys.size(); ++z) {
        const int32_t slot = find_key(fill.keys, zone.keys[z]);
        for (int64_t i = zone.first[z], end = i; i < zone.first[z + 1]; i = end) {
            double free = 1;  // part of the node that no obstacle fills
            for (end = i; end < zone.first[z + 1] && zone.nodes[end].node == zone.nodes[i].node; ++end) {
                const SplineTail<degree> tail(zone.nodes[end].distance / dx);
                free *= 1 - std::clamp(tail.beyond + second * tail.slope, 0.0, 1.0);
            }
            const T* record = fill.fill_at(slot, zone.nodes[i].node);
            const double phi = record[3], empty = free - phi;
            for (int64_t j = i; j < end; ++j) {
                ObstacleNode& node = zone.nodes[j];
                node.extent_only = !(phi > 0);
                const double density = SplineTail<degree>(node.distance / dx).value / dx;
                const double k = 0.5 * (density - dot(vector_of<d>(record), node.out));
                if (node.extent_only) continue;
                if (k * dx > kFaint)
                    node.gap_fill = empty / k;
                else if (empty <= 0)
                    node.gap_fill = 0;
            }
        }
    }
}

// Gaps by the extent of particles: the least sd(x_p) - e_p(grad sd(x_p)) of those whose stencil holds the node. Where the
// obstacle lets go, a particle beside the node counts less: beyond half its diagonal its surface is taken to rise with the
// slope `cone`. Else the lowest particle of a ball would touch at all nodes around it, and those ahead would brake it.
template <class T, int d, int degree>
class ObstacleExtents {
  public:
    ObstacleExtents(ObstacleZone<T, d>& zone, const std::vector<ObstacleSurface>& surfaces, const Lattice<T, d>& lattice,
                    const ObstacleLaw& law)
        : zone_(zone), surfaces_(surfaces), lattice_(lattice), law_(law), start_(zone.keys.size() * size_t(kBlockNodes<d>) + 1, 0) {
        for (size_t z = 0; z < zone.keys.size(); ++z)
            for (int64_t i = zone.first[z]; i < zone.first[z + 1]; ++i)
                start_[z * kBlockNodes<d> + zone.nodes[i].node + 1] += 1;
        for (size_t i = 1; i < start_.size(); ++i) start_[i] += start_[i - 1];
    }
    void find(const FieldSet<T>& set) {
        const ZoneTiles tiles = ZoneTiles::of<T, d>(zone_.keys, set.order, lattice_);
        std::vector<int32_t> target(size_t(tiles.count()) * kTile, -1);  // of every tile node: its number in start_
        for (size_t z = 0; z < zone_.keys.size(); ++z)
            for (int corner = 0; corner < kCorners<d>; ++corner) {
                const int32_t k = tiles.sources[z * kCorners<d> + corner];
                if (k < 0) continue;
                for_shared_rows<d, degree>(corner, [&](int from, int to, int count) {
                    for (int i = 0; i < count; ++i)
                        if (any_wanted(z * kBlockNodes<d> + to + i))
                            target[size_t(k) * kTile + from + i] = int32_t(z * kBlockNodes<d> + to + i);
                });
            }
        std::vector<std::vector<Found>> found(tiles.count());
#pragma omp parallel for schedule(dynamic, 1) num_threads(team(tiles.count(), kBlocksPerThread))
        for (int64_t k = 0; k < tiles.count(); ++k)
            search_tile(set, tiles.blocks[k], target.data() + k * kTile, found[k]);
        for (const auto& some : found)
            for (const Found& f : some) {
                double& gap = zone_.nodes[f.node].gap_extent;
                gap = std::min(gap, f.gap);
            }
    }

  private:
    static constexpr int kTile = kTileNodes<d, degree>;
    struct Found {
        int64_t node;
        double gap;
    };
    // The distance of one particle from one surface; on periodic axes the particle may lie one period off.
    struct Seen {
        int32_t surface = -1;
        Vec3 x{0, 0, 0}, normal{0, 0, 0};
        double gap = 0, own = 0;
    };
    ObstacleZone<T, d>& zone_;
    const std::vector<ObstacleSurface>& surfaces_;
    const Lattice<T, d>& lattice_;
    const ObstacleLaw& law_;
    std::vector<int64_t> start_;

    bool any_wanted(size_t node) const {
        for (int64_t i = start_[node]; i < start_[node + 1]; ++i)
            if (zone_.nodes[i].wanted) return true;
        return false;
    }
    void search_tile(const FieldSet<T>& set, int64_t s, const int32_t* target, std::vector<Found>& out) const {
        std::vector<int32_t> place(kTile, -1);  // where the results of a tile node begin
        std::vector<Vec3> position(kTile);
        for (int t = 0; t < kTile; ++t) {
            if (target[t] < 0) continue;
            place[t] = int32_t(out.size());
            for (int64_t i = start_[target[t]]; i < start_[target[t] + 1]; ++i)
                out.push_back({i, std::numeric_limits<double>::infinity()});
            position[t] = node_position(target[t]);
        }
        const WantedBox<d, degree> box([&](int node) { return place[node] >= 0; });
        if (box.empty()) return;
        const BlockCoords<d> block = block_coords<d>(set.order.keys[s]);
        const double dx = lattice_.dx;
        std::vector<Seen> seen(surfaces_.size());
        for (int64_t at = set.order.offsets[s]; at < set.order.offsets[s + 1]; ++at) {
            const int64_t p = set.order.order[at];
            const TilePlace<T, d, degree> where(set.particles, p, lattice_, block);
            for (Seen& one : seen) one.surface = -1;
            where.for_nodes(box, [&](int node, const Vec3& off) {
                if (place[node] < 0) return;
                Vec3 x = position[node];
                for (int a = 0; a < d; ++a) x[a] += dx * off[a];
                for (int64_t i = start_[target[node]], k = place[node]; i < start_[target[node] + 1]; ++i, ++k)
                    if (zone_.nodes[i].wanted) out[k].gap = std::min(out[k].gap, gap_of(set, p, x, off, zone_.nodes[i].surface, seen));
            });
        }
    }
    double gap_of(const FieldSet<T>& set, int64_t p, const Vec3& x, const Vec3& off, int32_t surface,
                  std::vector<Seen>& seen) const {
        Seen& one = seen[surface];
        const double dx = lattice_.dx, near = 0.01 * dx;  // the same place up to rounding
        if (one.surface < 0 || std::fabs(one.x[0] - x[0]) > near || std::fabs(one.x[1] - x[1]) > near ||
            std::fabs(one.x[2] - x[2]) > near) {
            const SurfaceDistance at = surfaces_[surface].shape.evaluate(x);
            ParticleCube<d> cube;
            const double half = cube.half_width(set, p, at.normal);
            one = {surface, x, at.normal, at.phi - half, cube.half_diagonal(set, p, dx)};
        }
        const bool lets_go = surfaces_[surface].shape.mode == ContactMode::separate;
        return lets_go ? one.gap + law_.cone * beside(off, one.normal, one.own, dx) : one.gap;
    }
    Vec3 node_position(int32_t number) const {
        Vec3 x = first_node(lattice_, zone_.keys[number / kBlockNodes<d>]);
        int i = number % kBlockNodes<d>;
        for (int a = d - 1; a >= 0; --a, i /= kSide) x[a] += double(lattice_.dx) * (i % kSide);
        return x;
    }
};

// Normals, fill and extents of everything that obstacles may touch in a continuum. only_approaching: leaves out extents of
// nodes that move away from their only obstacle.
template <class T, int d, int degree>
void find_obstacle_gaps(ObstacleZone<T, d>& zone, const Field<T>& field, const FieldZone<T, d>& fill,
                        const std::vector<ObstacleSurface>& surfaces, const Lattice<T, d>& lattice, const ObstacleLaw& law,
                        bool only_approaching) {
    if (zone.keys.empty()) return;
    find_fill_gaps<T, d, degree>(zone, fill, mean_spacing<T, d>(field, zone.keys, lattice), lattice, law);
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
    ObstacleExtents<T, d, degree> extents(zone, surfaces, lattice, law);
    for (const FieldSet<T>& set : field.sets) extents.find(set);
}

}  // namespace continua
