// Solids on the MAC grid: how much of each face and cell they leave open, how their walls move, and what they take.
// A cut-cell description (Batty, Bertails and Bridson 2007): solids need not follow the grid. A solid thinner than a
// cell may lie between all corners and is then not seen.
#pragma once

#include <vector>

#include "../contact/push_out.hpp"
#include "../grid/halo.hpp"
#include "../grid/nodes.hpp"
#include "cut_cells.hpp"

namespace continua {

inline constexpr double kConstrained = 3.0;  // cells below the surface where sliding along it still matters

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
                const int32_t row = region < 0 ? nearby.template owner<d>(x, a, place.dx) : region;
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
        WallPart wall{&c, -1};
        for_parts_of<d>(c, [&](const WallPart& part) {
            if (wall.axis < 0 || part.claim(x, a, dx) < wall.claim(x, a, dx)) wall = part;
        });
        Vec3 middle = x;
        middle[a] += 0.5 * side * dx;
        const SurfaceDistance near = wall.at(middle), at_face = wall.at(x);
        // With an edge of the wall between them, as at a box, the plane at the face counts.
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

// impulses (rows, 3): momentum that each owner gives to the liquid, the pressure impulse phi * scale on what is closed of
// the faces of every liquid cell. Closed parts of its lower and upper face cancel; what is left over belongs to the owner
// of the larger part, so that in corners no wall pays for another.
template <class T, int d>
void wall_impulses(const double* pressure, const uint8_t* fluid, const T* open, const int32_t* owner,
                   const uint64_t* keys, int64_t blocks, const Lattice<double, d>& lattice, const int32_t* neighbours,
                   const PressureAtWalls<d>& walls, double scale, int64_t rows, double* impulses) {
    std::vector<double> partial(size_t(blocks) * 3 * rows, 0.0);
#pragma omp parallel for schedule(dynamic, 16) num_threads(team(blocks, kBlocksPerThread))
    for (int64_t b = 0; b < blocks; ++b) {
        const int64_t first = b * kBlockNodes<d>;
        const int32_t* around = neighbours + b * kNeighbours<d>;
        if (std::none_of(fluid + first, fluid + first + kBlockNodes<d>, [](uint8_t f) { return f; })) continue;
        Halo<T, d, 4> free;
        free.read(open, around, T(1));
        if (std::all_of(free.value, free.value + 4 * Halo<T, d>::kCells, [](T part) { return part == T(1); })) continue;
        Halo<int32_t, d, 4> owners;
        owners.read(owner, around, -1);
        const BlockPlace<d> place(lattice, keys[b]);
        for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
            if (!fluid[first + i]) return;
            const int at = Halo<T, d, 4>::offset(l);
            for (int a = 0; a < d; ++a) {
                const int above = at + Halo<T, d, 4>::stride(a);
                const double net = double(free.value[above + a]) - double(free.value[at + a]);
                const bool below = net > 0;  // the wall is below the cell
                const int32_t row = owners.value[(below ? at : above) + a];
                if (net == 0 || row < 0) continue;
                std::array<int, 3> face = l;
                face[a] += !below;
                const double push = pressure[first + i] +
                                    walls.beyond(row, place.face_centre(face, a), a, below ? 1 : -1, place.dx);
                partial[(b * rows + row) * 3 + a] += net * scale * push;
            }
        });
    }
    detail::sum_impulses(partial, blocks, rows, impulses);
}

}  // namespace continua
