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

    // How fast the distance may change with position. Sampled distances grow faster than distance beyond their lattice.
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
    template <class V>
    SurfaceOf<V> sampled_surface(const PointOf<V>& x) const
        requires is_lanes<V>
    {
        SurfaceOf<V> out;
        for (int lane = 0; lane < lanes_of<V>(); ++lane) {
            const SurfaceDistance one = sampled_surface({x[0][lane], x[1][lane], x[2][lane]});
            out.phi[lane] = one.phi;
            for (int i = 0; i < 3; ++i) out.normal[i][lane] = one.normal[i];
        }
        return out;
    }
    // Trilinear value and the exact gradient of that interpolant; beyond the lattice the distance to it is added.
    SurfaceDistance sampled_surface(const Vec3& x) const {
        int64_t cell[3];
        double f[3];
        Vec3 beyond;
        for (int i = 0; i < 3; ++i) {
            const double q = (x[i] - sampled.origin[i]) / sampled.spacing;
            const double inside = std::fmin(std::fmax(q, 0.0), double(sampled.count[i] - 1));
            cell[i] = std::min<int64_t>(int64_t(inside), sampled.count[i] - 2);
            f[i] = inside - double(cell[i]);
            beyond[i] = (q - inside) * sampled.spacing;
        }
        double phi = 0;
        Vec3 gradient{0, 0, 0};
        for (int corner = 0; corner < 8; ++corner) {
            double w[3], dw[3];
            int64_t at[3];
            for (int i = 0; i < 3; ++i) {
                const int up = (corner >> i) & 1;
                w[i] = up ? f[i] : 1 - f[i];
                dw[i] = up ? 1 : -1;
                at[i] = cell[i] + up;
            }
            const double value = sampled.values[(at[0] * sampled.count[1] + at[1]) * sampled.count[2] + at[2]];
            phi += value * w[0] * w[1] * w[2];
            gradient[0] += value * dw[0] * w[1] * w[2];
            gradient[1] += value * w[0] * dw[1] * w[2];
            gradient[2] += value * w[0] * w[1] * dw[2];
        }
        const double distance = norm(beyond);
        if (distance > 0) return {phi + distance, {beyond[0] / distance, beyond[1] / distance, beyond[2] / distance}};
        const double n = norm(gradient);
        if (n > 0)
            for (auto& g : gradient) g /= n;
        return {phi, gradient};
    }
};

}  // namespace continua
