// Rigid obstacles as signed distances (negative inside) with a pose, a velocity and a contact rule.
// Everything is evaluated in double and in 3D; 2D points have z = 0. The formulas serve one point and lanes of points.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "../math/simd.hpp"
#include "law.hpp"

namespace continua {

// Signed distance on a regular lattice, interpolated trilinearly.
struct SampledDistance {
    const double* values = nullptr;
    int64_t count[3] = {};
    Vec3 origin{};
    double spacing = 1;
};

enum class ColliderKind { plane, box, sphere, capsule, sampled, region };

// A point (V = double) or lanes of them.
template <class V>
using PointOf = std::array<V, 3>;

template <class V>
struct SurfaceOf {
    V phi;
    PointOf<V> normal;
};
using SurfaceDistance = SurfaceOf<double>;

struct Collider {
    // One row of the table that Python hands over, in this order.
    static constexpr int kColumns = 32;
    ColliderKind kind;
    ContactMode mode;
    double friction, sign;
    Vec3 position;
    std::array<double, 9> rotation;
    Vec3 velocity, angular;
    std::array<double, 9> shape;
    SampledDistance sampled;

    explicit Collider(const double* row) {
        kind = ColliderKind(int(row[0]));
        mode = ContactMode(int(row[1]));
        friction = row[2];
        sign = row[3];
        for (int i = 0; i < 3; ++i) position[i] = row[4 + i], velocity[i] = row[16 + i], angular[i] = row[19 + i];
        for (int i = 0; i < 9; ++i) rotation[i] = row[7 + i], shape[i] = row[22 + i];
    }

    // Velocity of the collider's material at x: V + omega x (x - position).
    Vec3 velocity_at(const Vec3& x) const {
        const Vec3 turn = cross(angular, {x[0] - position[0], x[1] - position[1], x[2] - position[2]});
        return {velocity[0] + turn[0], velocity[1] + turn[1], velocity[2] + turn[2]};
    }

    // The inside of a box: open between three pairs of walls.
    bool is_room() const { return kind == ColliderKind::box && sign < 0; }
    // The nearer one of a pair of walls of a room, along one of its axes; distances are negative behind it.
    SurfaceDistance wall_of_room(const Vec3& x, int axis) const {
        const double from = local(x)[axis] - shape[axis], side = from < 0 ? 1 : -1;
        return {shape[3 + axis] - std::fabs(from), {side * rotation[axis], side * rotation[3 + axis], side * rotation[6 + axis]}};
    }

    // How fast the distance may change with position. Differences of samples are at most 1 along every axis, and so is what
    // is added beyond the lattice, along others: together sqrt(3). Some shapes are sampled with less care.
    double steepest() const { return kind == ColliderKind::sampled ? 2 : 1 + 1e-9; }

    SurfaceDistance evaluate(const Vec3& x) const { return surface_at<double>(x); }
    template <class V>
    SurfaceOf<V> surface_at(const PointOf<V>& x) const {
        const SurfaceOf<V> s = surface_here(local(x));
        SurfaceOf<V> out;
        out.phi = sign * s.phi;
        for (int i = 0; i < 3; ++i)
            out.normal[i] = sign * (rotation[3 * i] * s.normal[0] + rotation[3 * i + 1] * s.normal[1] +
                                    rotation[3 * i + 2] * s.normal[2]);
        return out;
    }

  private:
    template <class V>
    PointOf<V> local(const PointOf<V>& x) const {
        const PointOf<V> r{x[0] - position[0], x[1] - position[1], x[2] - position[2]};
        PointOf<V> out;
        for (int i = 0; i < 3; ++i) out[i] = rotation[i] * r[0] + rotation[3 + i] * r[1] + rotation[6 + i] * r[2];
        return out;
    }
    template <class V>
    static V length_of(const PointOf<V>& x) {
        return sqrt(V(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]));
    }
    template <class V>
    static SurfaceOf<V> from_offset(const PointOf<V>& offset, double radius) {
        const V n = length_of(offset);
        SurfaceOf<V> out{n - radius, {}};
        for (int i = 0; i < 3; ++i) out.normal[i] = select(n > V(0), V(offset[i] / n), V(i == 1 ? 1.0 : 0.0));
        return out;
    }
    template <class V>
    SurfaceOf<V> surface_here(const PointOf<V>& x) const {
        switch (kind) {
            case ColliderKind::plane:  // shape: normal, offset
                return {x[0] * shape[0] + x[1] * shape[1] + x[2] * shape[2] - shape[3], {V(shape[0]), V(shape[1]), V(shape[2])}};
            case ColliderKind::sphere:  // shape: centre, radius
                return from_offset<V>({x[0] - shape[0], x[1] - shape[1], x[2] - shape[2]}, shape[3]);
            case ColliderKind::capsule: return capsule(x);
            case ColliderKind::box:
            case ColliderKind::region: return box(x);
            default: return sampled_surface(x);
        }
    }
    template <class V>
    SurfaceOf<V> capsule(const PointOf<V>& x) const {  // shape: start, end, radius
        const Vec3 axis{shape[3] - shape[0], shape[4] - shape[1], shape[5] - shape[2]};
        const PointOf<V> r{x[0] - shape[0], x[1] - shape[1], x[2] - shape[2]};
        const double length2 = dot(axis, axis);
        const V along = r[0] * axis[0] + r[1] * axis[1] + r[2] * axis[2];
        const V t = length2 > 0 ? V(min(V(1), V(max(V(0), V(along / length2))))) : V(0);
        return from_offset<V>({r[0] - t * axis[0], r[1] - t * axis[1], r[2] - t * axis[2]}, shape[6]);
    }
    // Outside the distance to the nearest point; inside that to the nearest face, the first of equal ones.
    template <class V>
    SurfaceOf<V> box(const PointOf<V>& x) const {  // shape: centre, half sizes
        PointOf<V> q, outside, side;
        for (int i = 0; i < 3; ++i) {
            q[i] = abs(V(x[i] - shape[i])) - shape[3 + i];
            outside[i] = max(q[i], V(0));
            side[i] = select(x[i] < V(shape[i]), V(-1), V(1));
        }
        const V distance = length_of(outside), nearest = max(q[0], V(max(q[1], q[2])));
        const auto beyond = distance > V(0);
        SurfaceOf<V> s{select(beyond, distance, nearest), {}};
        auto before = V(0) > V(0);  // whether a face was nearest already
        for (int i = 0; i < 3; ++i) {
            const auto here = !before && q[i] == nearest;
            s.normal[i] = select(beyond, V(outside[i] / distance * side[i]), select(here, side[i], V(0)));
            before = before || here;
        }
        return s;
    }
    // Samples at offsets into the lattice, whole numbers.
    template <class V>
    V samples_at(const V& offset) const {
        if constexpr (is_lanes<V>)
            return V([&](auto lane) { return sampled.values[int64_t(offset[lane])]; });
        else
            return sampled.values[int64_t(offset)];
    }
    // Trilinear value and the exact gradient of that interpolant; beyond the lattice the distance to it is added.
    template <class V>
    SurfaceOf<V> sampled_surface(const PointOf<V>& x) const {
        using std::floor, stdx::floor;
        PointOf<V> cell, f, beyond;
        for (int i = 0; i < 3; ++i) {
            const V q = (x[i] - sampled.origin[i]) / sampled.spacing;
            const V inside = min(V(select(q > V(0), q, V(0))), V(double(sampled.count[i] - 1)));  // never NaN
            cell[i] = min(V(floor(inside)), V(double(sampled.count[i] - 2)));
            f[i] = inside - cell[i];
            beyond[i] = (q - inside) * sampled.spacing;
        }
        const double row = double(sampled.count[2]), layer = row * double(sampled.count[1]);
        const V first = cell[0] * layer + cell[1] * row + cell[2];
        SurfaceOf<V> s{V(0), {V(0), V(0), V(0)}};
        for (int corner = 0; corner < 8; ++corner) {
            V w[3];
            double dw[3], at = 0;
            for (int i = 0; i < 3; ++i) {
                const int up = (corner >> i) & 1;
                w[i] = up ? f[i] : V(V(1) - f[i]);
                dw[i] = up ? 1 : -1;
                at += up * (i == 0 ? layer : i == 1 ? row : 1);
            }
            const V value = samples_at(V(first + at));
            s.phi += value * w[0] * w[1] * w[2];
            s.normal[0] += value * dw[0] * w[1] * w[2];
            s.normal[1] += value * w[0] * dw[1] * w[2];
            s.normal[2] += value * w[0] * w[1] * dw[2];
        }
        const V distance = length_of(beyond), n = length_of(s.normal);
        const auto outside = distance > V(0);
        s.phi += distance;
        for (int i = 0; i < 3; ++i)
            s.normal[i] = select(outside, V(beyond[i] / distance), select(n > V(0), V(s.normal[i] / n), V(0)));
        return s;
    }
};

}  // namespace continua
