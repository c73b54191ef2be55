// What solids leave open of the faces and cells of a block, from their distances at the corners of cells. A solid thinner
// than a cell may lie between all corners and is then not seen.
#pragma once

#include <limits>
#include <vector>

#include "../contact/collider.hpp"
#include "../grid/nodes.hpp"
#include "fractions.hpp"

namespace continua {

inline constexpr double kOnSurface = 1e-9;   // distances below this many cells count as zero
inline constexpr double kSliver = 0.01;      // smaller open or closed parts are dropped

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

// A surface of its own among those that leave a block open: a solid, or a pair of opposite walls of a room.
struct WallPart {
    const Collider* solid;
    int axis;  // of the room, -1 for others

    SurfaceDistance at(const Vec3& x) const { return axis < 0 ? solid->evaluate(x) : solid->wall_of_room(x, axis); }
    // How far it is from owning a face along an axis with its middle at x [cells]: the nearest does, but where walls meet
    // one across the axis has precedence.
    double claim(const Vec3& x, int a, double dx) const {
        const SurfaceDistance surface = at(x);
        return surface.phi / dx - 0.5 * std::fabs(surface.normal[a]);
    }
};

// function(part) for all surfaces of a solid.
template <int d, class Function>
inline void for_parts_of(const Collider& c, Function&& function) {
    for (int axis = 0; c.is_room() && axis < d; ++axis) function(WallPart{&c, axis});
    if (!c.is_room()) function(WallPart{&c, -1});
}

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
    // function(part) for all surfaces.
    template <int d, class Function>
    void for_parts(Function&& function) const {
        for (int32_t row : solids_) for_parts_of<d>(colliders_[row], function);
    }
    // The row of the solid that owns a face along an axis with its middle at x.
    template <int d>
    int32_t owner(const Vec3& x, int a, double dx) const {
        if (solids_.size() == 1) return solids_[0];
        int32_t found = -1;
        double least = std::numeric_limits<double>::infinity();
        for (int32_t row : solids_)
            for_parts_of<d>(colliders_[row], [&](const WallPart& part) {
                const double claim = part.claim(x, a, dx);
                if (claim < least) least = claim, found = row;
            });
        return found;
    }
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

// The cells of a block and of the layer below it (local coordinates from -1): what solids leave open of them. Each
// surface cuts with its own distance, since the distance of the union bends where surfaces meet, as in the corners of a
// room.
template <int d>
class BlockCuts {
  public:
    BlockCuts(const NearbySolids& solids, const BlockPlace<d>& place) {
        solids.for_parts<d>([&](const WallPart& part) {
            std::array<double, kPoints>& phi = phi_.emplace_back();
            bool touched = false;
            for_lattice<S + 1>([&](int i, const std::array<int, 3>& l) {
                const Vec3 corner{double(l[0]), double(l[1]), double(l[2])};
                const double distance = part.at(place.at(corner)).phi;
                phi[i] = std::fabs(distance) < kOnSurface * place.dx ? 0.0 : distance / place.dx;
                touched |= phi[i] <= 0;
            });
            if (!touched) phi_.pop_back();
        });
        if (touched())
            for_lattice<S>([&](int i, const std::array<int, 3>& l) {
                volume_[i] = without_slivers(open_part<d>([&](size_t part) { return corners(part, l); }));
            });
    }
    bool touched() const { return !phi_.empty(); }  // any corner on or in a solid
    double volume(const std::array<int, 3>& l) const { return touched() ? volume_[number<S>(l)] : 1; }

    // Part of the lower face along an axis. Closed where it leads to a cell without volume: no liquid could pass.
    double face(const std::array<int, 3>& l, int axis) const {
        if (!touched()) return 1;
        std::array<int, 3> below = l;
        --below[axis];
        if (volume(l) == 0 || volume(below) == 0) return 0;
        return without_slivers(open_part<d - 1>([&](size_t part) {
            const auto cell = corners(part, l);
            std::array<double, 1 << (d - 1)> corner;
            for (int k = 0; k < 1 << (d - 1); ++k) {
                const int lower_axes = k & ((1 << axis) - 1);
                corner[k] = cell[(k - lower_axes) * 2 + lower_axes];
            }
            return corner;
        }));
    }

  private:
    static constexpr int S = kSide + 1;  // cells per axis
    static constexpr int kPoints = d == 2 ? (S + 1) * (S + 1) : (S + 1) * (S + 1) * (S + 1);

    // Slopes along the axes of a function with these corner values.
    template <int m>
    static std::array<double, m> slope(const std::array<double, 1 << m>& corner) {
        std::array<double, m> sum{};
        for (int k = 0; k < 1 << m; ++k)
            for (int a = 0; a < m; ++a) sum[a] += (k >> a & 1) ? corner[k] : -corner[k];
        return sum;
    }
    template <int m>
    static double cosine(const std::array<double, m>& one, const std::array<double, m>& other) {
        double dot = 0, square = 0, square2 = 0;
        for (int a = 0; a < m; ++a) dot += one[a] * other[a], square += one[a] * one[a], square2 += other[a] * other[a];
        return dot / std::sqrt(std::max(square * square2, 1e-300));
    }

    // Of a cell or face that several surfaces cut: walls across each other leave the product of what each leaves, walls
    // that face each other what is between them. Surfaces that face the same way, as boxes side by side or one within the
    // other, are one surface with the smallest distance.
    template <int m, class Corners>
    double open_part(Corners&& corners_of) const {
        double open = 1;
        std::array<double, m> before{};
        std::array<double, 1 << m> nearest;
        nearest.fill(std::numeric_limits<double>::infinity());
        bool alike = false;
        for (size_t part = 0; part < phi_.size(); ++part) {
            const auto corner = corners_of(part);
            for (int k = 0; k < 1 << m; ++k) nearest[k] = std::min(nearest[k], corner[k]);
            const double own = positive_part_of_cube<m>(corner);
            if (own == 0) return 0;
            if (own == 1) continue;
            const auto normal = slope<m>(corner);
            const double angle = open < 1 ? cosine<m>(before, normal) : 0;
            alike |= angle > kAlike;
            open = angle < -kAlike ? std::max(0.0, open + own - 1) : open * own;
            before = normal;
        }
        return alike ? positive_part_of_cube<m>(nearest) : open;
    }
    static constexpr double kAlike = 0.7;  // cosine of the angle between normals

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
    std::array<double, 1 << d> corners(size_t part, const std::array<int, 3>& l) const {
        std::array<double, 1 << d> corner;
        for (int k = 0; k < 1 << d; ++k)
            corner[k] = phi_[part][number<S + 1>({l[0] + (k & 1), l[1] + (k >> 1 & 1), l[2] + (k >> 2)})];
        return corner;
    }

    std::vector<std::array<double, kPoints>> phi_;  // at the corners, in cells, of the surfaces that reach the block
    double volume_[d == 2 ? S * S : S * S * S];
};

}  // namespace continua
