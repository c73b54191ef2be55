// Solids on the MAC grid: how much of each face and cell they leave open, how their walls move, and what they take.
// A cut-cell description (Batty, Bertails and Bridson 2007): solids need not follow the grid. A solid thinner than a
// cell may lie between all corners and is then not seen.
#pragma once

#include <vector>

#include "../contact/push_out.hpp"
#include "../grid/halo.hpp"
#include "../grid/nodes.hpp"
#include "fractions.hpp"

namespace continua {

inline constexpr double kOnSurface = 1e-9;   // distances below this many cells count as zero
inline constexpr double kSliver = 0.01;      // smaller open or closed parts are dropped
inline constexpr double kConstrained = 3.0;  // cells below the surface where sliding along it still matters

// Positions of the points of one block, in cells from its first corner. Computed from the global number of the cell, so
// that neighbouring blocks agree on shared points.
template <int d>
struct BlockPlace {
    Vec3 origin{0, 0, 0}, first{0, 0, 0};
    double dx;

    BlockPlace(const Lattice<double, d>& lattice, uint64_t key) : dx(lattice.dx) {
        const BlockCoords<d> block = block_coords<d>(key);
        for (int a = 0; a < d; ++a) origin[a] = lattice.origin[a], first[a] = double(kSide) * block[a];
    }
    Vec3 at(const Vec3& cells) const {
        Vec3 x{0, 0, 0};
        for (int a = 0; a < d; ++a) x[a] = origin[a] + dx * (first[a] + cells[a]);
        return x;
    }
    Vec3 face_centre(const std::array<int, 3>& l, int axis) const {
        Vec3 cells{0, 0, 0};
        for (int a = 0; a < d; ++a) cells[a] = l[a] + (a == axis ? 0.0 : 0.5);
        return at(cells);
    }
};

// The obstacles that can touch a block.
class NearbySolids {
  public:
    struct Nearest {
        int32_t row = -1;
        SurfaceDistance surface{std::numeric_limits<double>::infinity(), {0, 0, 0}};
    };

    template <int d>
    NearbySolids(const std::vector<Collider>& colliders, const BlockPlace<d>& place) : colliders_(colliders) {
        const Vec3 centre = place.at({0.5 * kSide, 0.5 * kSide, 0.5 * kSide});
        const double reach = (0.5 * kSide + 1) * std::sqrt(double(d)) * place.dx;  // a layer of cells around included
        for (size_t row = 0; row < colliders.size(); ++row) {
            const Collider& c = colliders[row];
            // Sampled distances grow faster than distance beyond their lattice.
            const double slope = c.kind == ColliderKind::sampled ? 2 : 1;
            if (c.evaluate(centre).phi > slope * reach) continue;
            (c.kind == ColliderKind::region ? regions_ : solids_).push_back(int32_t(row));
        }
    }
    bool none() const { return solids_.empty() && regions_.empty(); }
    bool no_regions() const { return regions_.empty(); }

    // The solid with the smallest signed distance at x, the first of several.
    Nearest nearest(const Vec3& x) const {
        Nearest found;
        for (int32_t row : solids_) {
            const SurfaceDistance surface = colliders_[row].evaluate(x);
            if (surface.phi < found.surface.phi) found = {row, surface};
        }
        return found;
    }
    // Its row alone.
    int32_t nearest_row(const Vec3& x) const { return solids_.size() == 1 ? solids_[0] : nearest(x).row; }
    // The last region that holds x and prescribes component a there, or -1.
    int32_t region(const Vec3& x, int a, double dx) const {
        int32_t found = -1;
        for (int32_t row : regions_) {
            const Collider& c = colliders_[row];
            if (c.velocity[a] == c.velocity[a] && c.evaluate(x).phi < -kOnSurface * dx) found = row;
        }
        return found;
    }

  private:
    const std::vector<Collider>& colliders_;
    std::vector<int32_t> solids_, regions_;
};

inline double without_slivers(double part) { return part < kSliver ? 0.0 : part > 1 - kSliver ? 1.0 : part; }

// The cells of a block and of the layer below it (local coordinates from -1): what solids leave open of them.
template <int d>
class BlockCuts {
  public:
    BlockCuts(const NearbySolids& solids, const BlockPlace<d>& place) {
        for_lattice<S + 1>([&](int i, const std::array<int, 3>& l) {
            const Vec3 corner{double(l[0]), double(l[1]), double(l[2])};
            const double distance = solids.nearest(place.at(corner)).surface.phi;
            phi_[i] = std::fabs(distance) < kOnSurface * place.dx ? 0.0 : distance / place.dx;
            touched_ |= !(phi_[i] > 0);
        });
        if (touched_)
            for_lattice<S>([&](int i, const std::array<int, 3>& l) {
                volume_[i] = without_slivers(positive_part_of_cube<d>(corners(l)));
            });
    }
    bool touched() const { return touched_; }  // any corner on or in a solid
    double volume(const std::array<int, 3>& l) const { return touched_ ? volume_[number<S>(l)] : 1; }

    // Part of the lower face along an axis. Closed where it leads to a cell without volume: no liquid could pass.
    double face(const std::array<int, 3>& l, int axis) const {
        if (!touched_) return 1;
        std::array<int, 3> below = l;
        --below[axis];
        if (volume(l) == 0 || volume(below) == 0) return 0;
        const auto cell = corners(l);
        std::array<double, 1 << (d - 1)> corner;
        for (int k = 0; k < 1 << (d - 1); ++k) {
            const int lower_axes = k & ((1 << axis) - 1);
            corner[k] = cell[(k - lower_axes) * 2 + lower_axes];
        }
        return without_slivers(positive_part_of_cube<d - 1>(corner));
    }

  private:
    static constexpr int S = kSide + 1;  // cells per axis

    // function(number, local coordinates) for n points per axis, the first at -1.
    template <int n, class Function>
    static void for_lattice(Function&& function) {
        std::array<int, 3> l{};
        for (l[0] = -1; l[0] < n - 1; ++l[0])
            for (l[1] = -1; l[1] < n - 1; ++l[1])
                for (l[2] = d == 3 ? -1 : 0; l[2] < (d == 3 ? n - 1 : 1); ++l[2]) function(number<n>(l), l);
    }
    template <int n>
    static int number(const std::array<int, 3>& l) {
        int i = 0;
        for (int a = 0; a < d; ++a) i = i * n + l[a] + 1;
        return i;
    }
    // Bit a of the corner's number: upper end of axis a.
    std::array<double, 1 << d> corners(const std::array<int, 3>& l) const {
        std::array<double, 1 << d> corner;
        for (int k = 0; k < 1 << d; ++k)
            corner[k] = phi_[number<S + 1>({l[0] + (k & 1), l[1] + (k >> 1 & 1), l[2] + (k >> 2)})];
        return corner;
    }

    double phi_[d == 2 ? (S + 1) * (S + 1) : (S + 1) * (S + 1) * (S + 1)];  // at the corners, in cells
    double volume_[d == 2 ? S * S : S * S * S];
    bool touched_ = false;
};

// open (blocks, 4^d, 4): open part of lower face a of each cell, in channel 3 of its volume. wall: component a of the
// velocity of the face's owner. owner: its row, -1 on open faces. Regions close the faces they prescribe.
template <class T, int d>
void solid_faces(const uint64_t* keys, int64_t blocks, const Lattice<double, d>& lattice,
                 const std::vector<Collider>& colliders, T* open, T* wall, int32_t* owner) {
    constexpr int64_t kBlock = kBlockNodes<d> * 4;
#pragma omp parallel for schedule(dynamic, 16) num_threads(team(blocks, kBlocksPerThread))
    for (int64_t b = 0; b < blocks; ++b) {
        std::fill_n(open + b * kBlock, kBlock, T(1));
        std::fill_n(wall + b * kBlock, kBlock, T(0));
        std::fill_n(owner + b * kBlock, kBlock, -1);
        const BlockPlace<d> place(lattice, keys[b]);
        const NearbySolids nearby(colliders, place);
        if (nearby.none()) continue;
        const BlockCuts<d> cuts(nearby, place);
        if (!cuts.touched() && nearby.no_regions()) continue;
        for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
            const int64_t at = b * kBlock + 4 * i;
            for (int a = 0; a < d; ++a) {
                const Vec3 x = place.face_centre(l, a);
                const int32_t region = nearby.region(x, a, place.dx);
                const double part = region < 0 ? cuts.face(l, a) : 0;
                if (part == 1) continue;
                const int32_t row = region < 0 ? nearby.nearest_row(x) : region;
                if (row < 0) continue;
                open[at + a] = T(part);
                wall[at + a] = T(region < 0 ? colliders[row].velocity_at(x)[a] : colliders[row].velocity[a]);
                owner[at + a] = row;
            }
            open[at + 3] = T(cuts.volume(l));
        });
    }
}

// Velocity at the centre of the lower face `axis` of the cell at `cell`: the other components are the mean of the four
// nearest faces of their direction, those of the two cells that share the face.
template <class T, int d>
inline Vec3 velocity_at_face(const T* cell, int axis) {
    using Field = Halo<T, d, 4>;
    Vec3 u{0, 0, 0};
    u[axis] = cell[axis];
    for (int b = 0; b < d; ++b) {
        if (b == axis) continue;
        const int down = -Field::stride(axis), up = Field::stride(b);
        u[b] = 0.25 * (double(cell[b]) + cell[up + b] + cell[down + b] + cell[down + up + b]);
    }
    return u;
}

// Component a of the velocity that a wall leaves to the liquid at x; u: what it would be without the wall.
inline double constrained_velocity(const Collider& c, const SurfaceDistance& surface, const Vec3& x, const Vec3& u, int a) {
    return contact_velocity(u, c.velocity_at(x), surface.normal, c.mode, 0)[a];  // liquids slide without friction
}

// Closed faces get the velocity that their owner leaves them, from velocities extrapolated into the solid: no flow
// through the surface, sliding along it as far as the contact mode allows. Open faces stay as they are, and so do blocks
// that no particle reaches.
template <class T, int d>
void constrain_faces(T* velocity, const T* open, const uint8_t* reached, const uint64_t* keys, int64_t blocks,
                     const Lattice<double, d>& lattice, const int32_t* neighbours,
                     const std::vector<Collider>& colliders) {
    constexpr int64_t kBlock = kBlockNodes<d> * 4;
    const std::vector<T> before(velocity, velocity + blocks * kBlock);
#pragma omp parallel for schedule(dynamic, 16) num_threads(team(blocks, kBlocksPerThread))
    for (int64_t b = 0; b < blocks; ++b) {
        const T* parts = open + b * kBlock;
        if (!reached[b] || std::find(parts, parts + kBlock, T(0)) == parts + kBlock) continue;
        const BlockPlace<d> place(lattice, keys[b]);
        const NearbySolids nearby(colliders, place);
        Halo<T, d, 4> field;
        field.read(before.data(), neighbours + b * kNeighbours<d>);
        auto bound = [&](const std::array<int, 3>& l, int a, T extrapolated) {
            const Vec3 x = place.face_centre(l, a);
            const int32_t region = nearby.region(x, a, place.dx);
            if (region >= 0) return T(colliders[region].velocity[a]);
            const auto [row, surface] = nearby.nearest(x);
            if (row < 0) return extrapolated;
            const Collider& c = colliders[row];
            if (surface.phi < -kConstrained * place.dx) return T(c.velocity_at(x)[a]);
            return T(constrained_velocity(c, surface, x, velocity_at_face<T, d>(field.at(l), a), a));
        };
        for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
            const int64_t at = b * kBlock + 4 * i;
            for (int a = 0; a < d; ++a)
                if (parts[4 * i + a] == T(0)) velocity[at + a] = bound(l, a, velocity[at + a]);
        });
    }
}

// How the pressure goes on from the middles of cells to the walls beside them: with its slope along the normal of the
// wall, which is the weight of the liquid less the acceleration of the wall.
template <int d>
class PressureAtWalls {
  public:
    PressureAtWalls(const std::vector<Collider>& colliders, const std::vector<Collider>& before, const Vec3& gravity, double dt)
        : colliders(colliders), before(before), gravity(gravity), dt(dt) {}

    // What to add to the potential p dt / (density dx) of the cell `side` (+-1) of a closed face with its middle at x [m/s].
    double beyond(int32_t row, const Vec3& x, int a, double side, double dx) const {
        const Collider& c = colliders[row];
        if (c.kind == ColliderKind::region) return -0.5 * side * gravity[a] * dt;  // the wall is the face itself
        Vec3 middle = x;
        middle[a] += 0.5 * side * dx;
        const SurfaceDistance near = c.evaluate(middle), at_face = c.evaluate(x);
        // With an edge of the wall between them, as in the corners of a box, the plane at the face counts.
        const bool edge = dot(near.normal, at_face.normal) < 0.5;
        const Vec3& n = edge ? at_face.normal : near.normal;
        const double depth = (edge ? at_face.phi + 0.5 * side * dx * n[a] : near.phi) / dx;
        const double corner = 0.5 * std::sqrt(double(d));  // no wall that cuts the cell is farther away [cells]
        return -std::clamp(depth, -corner, corner) * pull(row, x, n);
    }

  private:
    // dt n . (g - acceleration of the wall's point that is at x now)
    double pull(int32_t row, const Vec3& x, const Vec3& n) const {
        const Vec3 now = colliders[row].velocity_at(x);
        Vec3 origin = x;
        for (int k = 0; k < d; ++k) origin[k] -= dt * now[k];
        const Vec3 then = before[row].velocity_at(origin);
        double sum = 0;
        for (int k = 0; k < d; ++k) sum += n[k] * (dt * gravity[k] - (now[k] - then[k]));
        return sum;
    }
    const std::vector<Collider>&colliders, &before;  // at the end and at the beginning of the step
    Vec3 gravity;
    double dt;
};

// impulses (rows, 3): momentum that each owner gives to the liquid, the pressure impulse phi * scale on the closed part
// of every face of a liquid cell, away from the wall.
template <class T, int d>
void wall_impulses(const double* pressure, const uint8_t* fluid, const T* open, const int32_t* owner,
                   const uint64_t* keys, int64_t blocks, const Lattice<double, d>& lattice, const int32_t* neighbours,
                   const PressureAtWalls<d>& walls, double scale, int64_t rows, double* impulses) {
    constexpr int64_t kBlock = kBlockNodes<d> * 4;
    std::vector<double> partial(size_t(blocks) * 3 * rows, 0.0);
#pragma omp parallel for schedule(dynamic, 16) num_threads(team(blocks, kBlocksPerThread))
    for (int64_t b = 0; b < blocks; ++b) {
        const int32_t* owners = owner + b * kBlock;
        if (std::all_of(owners, owners + kBlock, [](int32_t row) { return row < 0; })) continue;
        const BlockPlace<d> place(lattice, keys[b]);
        Halo<double, d> phi;
        Halo<uint8_t, d> liquid;
        phi.read(pressure, neighbours + b * kNeighbours<d>);
        liquid.read(fluid, neighbours + b * kNeighbours<d>);
        for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
            const int here = Halo<double, d>::offset(l);
            for (int a = 0; a < d; ++a) {
                const int32_t row = owners[4 * i + a];
                const int below = here - Halo<double, d>::stride(a);
                if (row < 0 || !(liquid.value[here] || liquid.value[below])) continue;
                const Vec3 x = place.face_centre(l, a);
                double push = 0;
                if (liquid.value[here]) push += phi.value[here] + walls.beyond(row, x, a, 1, place.dx);
                if (liquid.value[below]) push -= phi.value[below] + walls.beyond(row, x, a, -1, place.dx);
                partial[(b * rows + row) * 3 + a] += (1 - double(open[b * kBlock + 4 * i + a])) * scale * push;
            }
        });
    }
    detail::sum_impulses(partial, blocks, rows, impulses);
}

}  // namespace continua
