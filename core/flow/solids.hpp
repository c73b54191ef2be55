// Solids on the MAC grid: how much of each face and cell they leave open, how their walls move, and what they take.
// A cut-cell description (Batty, Bertails and Bridson 2007): solids need not follow the grid. A solid thinner than a
// cell may lie between all corners and is then not seen.
#pragma once

#include <vector>

#include "../contact/push_out.hpp"
#include "../grid/halo.hpp"
#include "../grid/nodes.hpp"
#include "cell_bits.hpp"
#include "cut_cells.hpp"
#include "solid_memory.hpp"

namespace continua {

inline constexpr double kConstrained = 3.0;  // cells below the surface where sliding along it still matters

// Parts that solids leave open in a block that they touch; see solid_faces.
template <class T, int d>
std::unique_ptr<typename SolidMemory<T, d>::Cut> cut_block(uint64_t key, const Lattice<double, d>& lattice,
                                                           const std::vector<Collider>& colliders) {
    const BlockPlace<d> place(lattice, key);
    const NearbySolids nearby(colliders, place);
    if (nearby.none()) return nullptr;
    const BlockCuts<d> cuts(nearby, place);
    if (!cuts.touched() && nearby.no_regions()) return nullptr;
    auto cut = std::make_unique<typename SolidMemory<T, d>::Cut>();
    cut->open.fill(T(1)), cut->wall.fill(T(0)), cut->owner.fill(-1);
    for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
        for (int a = 0; a < d; ++a) {
            const Vec3 x = place.face_centre(l, a);
            const int32_t region = nearby.region(x, a, place.dx);
            const double part = region < 0 ? cuts.face(l, a) : 0;
            if (part == 1) continue;
            const int32_t row = region < 0 ? nearby.template owner<d>(x, a, place.dx) : region;
            if (row < 0) continue;
            cut->open[4 * i + a] = T(part);
            cut->wall[4 * i + a] = T(region < 0 ? colliders[row].velocity_at(x)[a] : colliders[row].velocity[a]);
            cut->owner[4 * i + a] = row;
        }
        cut->open[4 * i + 3] = T(cuts.volume(l));
    });
    return cut;
}

// open (blocks, 4^d, 4): open part of lower face a of each cell, in channel 3 of its volume. wall: component a of the
// velocity of the face's owner. owner: its row, -1 on open faces. Regions close the faces they prescribe.
template <class T, int d>
void solid_faces(const uint64_t* keys, int64_t blocks, const Lattice<double, d>& lattice,
                 const std::vector<Collider>& colliders, SolidMemory<T, d>& memory, T* open, T* wall, int32_t* owner) {
    constexpr int64_t kBlock = kBlockNodes<d> * 4;
    memory.hold(keys, blocks);
#pragma omp parallel for schedule(dynamic, 16) num_threads(team(blocks, kBlocksPerThread))
    for (int64_t b = 0; b < blocks; ++b) {
        auto& block = memory[b];
        if (!block.known) block.cut = cut_block<T, d>(keys[b], lattice, colliders), block.known = true;
        if (const auto* cut = block.cut.get()) {
            std::copy_n(cut->open.data(), kBlock, open + b * kBlock);
            std::copy_n(cut->wall.data(), kBlock, wall + b * kBlock);
            std::copy_n(cut->owner.data(), kBlock, owner + b * kBlock);
        } else {
            std::fill_n(open + b * kBlock, kBlock, T(1));
            std::fill_n(wall + b * kBlock, kBlock, T(0));
            std::fill_n(owner + b * kBlock, kBlock, -1);
        }
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

// Component a of the velocity that a wall leaves to liquid with velocity u: the law of contact (see contact/law.hpp)
// without friction, since liquids slide.
template <class T>
inline double constrained_velocity(const ClosedFace<T>& face, const Vec3& u, int a) {
    if (face.rule == ClosedFace<T>::sticky) return double(face.wall[a]);
    double leaving = 0;
    for (int k = 0; k < 3; ++k) leaving += (u[k] - double(face.wall[k])) * double(face.normal[k]);
    if (face.rule == ClosedFace<T>::separate && !(leaving < 0)) return u[a];
    return double(face.wall[a]) + ((u[a] - double(face.wall[a])) - leaving * double(face.normal[a]));
}

// The closed faces of a block, but for those that nothing is near.
template <class T, int d>
std::vector<ClosedFace<T>> closed_faces(const T* open, uint64_t key, const Lattice<double, d>& lattice,
                                        const std::vector<Collider>& colliders) {
    std::vector<ClosedFace<T>> found;
    if (std::find(open, open + kBlockNodes<d> * 4, T(0)) == open + kBlockNodes<d> * 4) return found;
    const BlockPlace<d> place(lattice, key);
    const NearbySolids nearby(colliders, place);
    auto single = [](const Vec3& v) { return std::array<T, 3>{T(v[0]), T(v[1]), T(v[2])}; };
    for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
        for (int a = 0; a < d; ++a) {
            if (open[4 * i + a] != T(0)) continue;
            using Face = ClosedFace<T>;
            const Vec3 x = place.face_centre(l, a);
            const int32_t region = nearby.region(x, a, place.dx);
            if (region >= 0) {
                found.push_back({uint8_t(4 * i + a), Face::sticky, {}, single(colliders[region].velocity)});
                continue;
            }
            const auto [row, surface] = nearby.nearest(x);
            if (row < 0) continue;
            const Collider& c = colliders[row];
            const bool deep = surface.phi < -kConstrained * place.dx;
            const auto rule = deep ? Face::sticky : typename Face::Rule(c.mode);
            found.push_back({uint8_t(4 * i + a), rule, single(surface.normal), single(c.velocity_at(x))});
        }
    });
    found.shrink_to_fit();
    return found;
}

// Closed faces get the velocity that their owner leaves them, from velocities extrapolated into the solid: no flow
// through the surface, sliding along it as far as the contact mode allows. Open faces stay as they are, and so do blocks
// that no particle reaches.
template <class T, int d>
void constrain_faces(T* velocity, const T* open, const uint8_t* reached, const uint64_t* keys, int64_t blocks,
                     const Lattice<double, d>& lattice, const int32_t* neighbours,
                     const std::vector<Collider>& colliders, SolidMemory<T, d>& memory) {
    constexpr int64_t kBlock = kBlockNodes<d> * 4;
    memory.hold(keys, blocks);
#pragma omp parallel for schedule(dynamic, 16) num_threads(team(blocks, kBlocksPerThread))
    for (int64_t b = 0; b < blocks; ++b) {
        auto& block = memory[b];
        if (!reached[b] || block.listed) continue;
        block.closed = closed_faces<T, d>(open + b * kBlock, keys[b], lattice, colliders), block.listed = true;
    }
    // All from the velocities as they are, then all at once.
    std::vector<int64_t> first(size_t(blocks) + 1, 0);
    for (int64_t b = 0; b < blocks; ++b) first[b + 1] = first[b] + (reached[b] ? int64_t(memory[b].closed.size()) : 0);
    std::vector<T> after(static_cast<size_t>(first[blocks]));
#pragma omp parallel for schedule(dynamic, 16) num_threads(team(blocks, kBlocksPerThread))
    for (int64_t b = 0; b < blocks; ++b) {
        if (first[b] == first[b + 1]) continue;
        Halo<T, d, 4> field;
        field.read(velocity, neighbours + b * kNeighbours<d>);
        T* to = after.data() + first[b];
        for (const ClosedFace<T>& face : memory[b].closed) {
            const int node = face.face / 4, a = face.face % 4;
            std::array<int, 3> l{};
            for (int axis = d - 1, rest = node; axis >= 0; --axis, rest /= kSide) l[axis] = rest % kSide;
            *to++ = T(constrained_velocity(face, velocity_at_face<T, d>(field.at(l), a), a));
        }
    }
#pragma omp parallel for schedule(static) num_threads(team(blocks, kBlocksPerThread))
    for (int64_t b = 0; b < blocks; ++b)
        for (int64_t n = first[b]; n < first[b + 1]; ++n) velocity[b * kBlock + memory[b].closed[n - first[b]].face] = after[n];
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

// Whether a face of a cell of the block in the middle, lower or upper, is not wholly open.
template <class T, int d>
inline bool touches_wall(const T* open, const int32_t* around) {
    constexpr int N = kBlockNodes<d>;
    const T* here = open + int64_t(around[kHere<d>]) * 4 * N;
    bool closed = false;
    for (int i = 0; i < N; ++i)
        for (int a = 0; a < d; ++a) closed |= here[4 * i + a] != T(1);
    for (int a = 0; a < d && !closed; ++a) {
        const int64_t above = around[face_neighbour<d>(a, true)];
        if (above >= 0) for_cells(kEnds<d>[a][0], [&](int i) { closed |= open[4 * (above * N + i) + a] != T(1); });
    }
    return closed;
}

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
        if (!touches_wall<T, d>(open, around)) continue;
        Halo<T, d, 4> free;
        free.read(open, around, T(1));
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
