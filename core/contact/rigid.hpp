// Impulses at points of a rigid body against obstacles: projected Gauss-Seidel over the points, in their order.
//
// A body moves with a twist (V, w) [m/s, rad/s] about its middle, and impulses f = (P, T) change it by W f, W (6, 6) its
// mobility: of full rank for a free body, of rank one about an axle. At a point with arm r, normal n out of the obstacle and
// velocity u of the obstacle, with v = V + w x r - u and impulse j:
//     0 <= j.n  and  v.n >= target, one of them equal;  |t| <= mu j.n,  and t against v_t where it slides
// (Signorini and Coulomb; Je99). A held point has no sign on j.n. Each visit solves its point alone: first as if it
// stuck, and where that leaves the cone, the normal first and then the slide.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "../math/vector.hpp"

namespace continua {

using Twist = std::array<double, 6>;

struct RigidPoint {
    Vec3 arm, normal, velocity;
    double target, friction;
    bool held;
    std::array<Twist, 3> gain;          // W G^T: twist per impulse along x, y, z
    std::array<std::array<double, 3>, 3> K;  // G W G^T: velocity of the point per impulse
    double slide;                       // largest eigenvalue of K across the normal
};

inline Vec3 point_velocity(const Twist& q, const RigidPoint& p) {
    const Vec3 turn = cross({q[3], q[4], q[5]}, p.arm);
    return {q[0] + turn[0] - p.velocity[0], q[1] + turn[1] - p.velocity[1], q[2] + turn[2] - p.velocity[2]};
}

inline void prepare_point(RigidPoint& p, const double* W) {
    for (int c = 0; c < 3; ++c) {
        Vec3 unit{0, 0, 0};
        unit[c] = 1;
        const Vec3 moment = cross(p.arm, unit);
        const Twist force{unit[0], unit[1], unit[2], moment[0], moment[1], moment[2]};
        for (int i = 0; i < 6; ++i) {
            p.gain[c][i] = 0;
            for (int k = 0; k < 6; ++k) p.gain[c][i] += W[6 * i + k] * force[k];
        }
    }
    const RigidPoint at_rest{p.arm, p.normal, {0, 0, 0}, 0, 0, false, {}, {}, 0};
    for (int c = 0; c < 3; ++c) {
        const Vec3 v = point_velocity(p.gain[c], at_rest);
        for (int i = 0; i < 3; ++i) p.K[i][c] = v[i];
    }
    // Across the normal: K without its normal part has the eigenvalues 0, a, b; the larger one by power of the trace.
    double Q[3][3], trace = 0, square = 0;
    Vec3 Kn{0, 0, 0};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) Kn[i] += p.K[i][j] * p.normal[j];
    const double nn = dot(Kn, p.normal);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            Q[i][j] = p.K[i][j] - Kn[i] * p.normal[j] - p.normal[i] * Kn[j] + nn * p.normal[i] * p.normal[j];
    for (int i = 0; i < 3; ++i) {
        trace += Q[i][i];
        for (int j = 0; j < 3; ++j) square += Q[i][j] * Q[i][j];
    }
    p.slide = 0.5 * (trace + std::sqrt(std::fmax(2 * square - trace * trace, 0.0)));
}

// x with K x = b, if K is not nearly singular.
inline bool solve3(const std::array<std::array<double, 3>, 3>& K, const Vec3& b, Vec3& x) {
    const Vec3 a0{K[0][0], K[1][0], K[2][0]}, a1{K[0][1], K[1][1], K[2][1]}, a2{K[0][2], K[1][2], K[2][2]};
    const Vec3 c = cross(a1, a2);
    const double det = dot(a0, c), scale = norm(a0) * norm(a1) * norm(a2);
    if (!(std::fabs(det) > 1e-9 * scale)) return false;
    x = {dot(b, c) / det, dot(a0, cross(b, a2)) / det, dot(a0, cross(a1, b)) / det};
    return true;
}

// A better impulse j at one point, by the velocity v that the point has with it now.
inline Vec3 point_impulse(const RigidPoint& p, const Vec3& v, const Vec3& j) {
    const double vn = dot(v, p.normal);
    Vec3 b, whole;
    for (int i = 0; i < 3; ++i) b[i] = p.target * p.normal[i] - v[i];
    if (p.friction > 0 && solve3(p.K, b, whole)) {
        for (int i = 0; i < 3; ++i) whole[i] += j[i];
        const double push = dot(whole, p.normal);
        Vec3 rub = whole;
        for (int i = 0; i < 3; ++i) rub[i] -= push * p.normal[i];
        if ((p.held || push >= 0) && norm(rub) <= p.friction * std::fmax(push, 0.0)) return whole;
        if (p.held && std::isinf(p.friction)) return whole;
    }
    Vec3 Kn{0, 0, 0};
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) Kn[i] += p.K[i][k] * p.normal[k];
    const double stiff = dot(Kn, p.normal), before = dot(j, p.normal);
    double push = before;
    if (stiff > 0) push += (p.target - vn) / stiff;
    if (!p.held) push = std::fmax(push, 0.0);
    Vec3 rub;
    const double moved = push - before;
    for (int i = 0; i < 3; ++i) {  // against the slide that is left once the normal part has changed
        rub[i] = j[i] - before * p.normal[i];
        const double slide = v[i] + moved * Kn[i] - (vn + moved * stiff) * p.normal[i];
        if (p.slide > 0) rub[i] -= slide / p.slide;
    }
    const double most = std::isinf(p.friction) ? (push > 0 || p.held ? p.friction : 0.0) : p.friction * std::fmax(push, 0.0);
    const double size = norm(rub), keep = size > most ? most / size : 1.0;
    Vec3 out;
    for (int i = 0; i < 3; ++i) out[i] = push * p.normal[i] + keep * rub[i];
    return out;
}

// Sweeps until no point changes its own velocity by more than `tolerance` [m/s], or so many sweeps; returns how many.
inline int64_t solve_points(std::vector<RigidPoint>& points, Twist& q, double* impulses, double tolerance, int64_t most) {
    for (int64_t sweep = 1; sweep <= most; ++sweep) {
        double largest = 0;
        for (size_t k = 0; k < points.size(); ++k) {
            const RigidPoint& p = points[k];
            const Vec3 old{impulses[3 * k], impulses[3 * k + 1], impulses[3 * k + 2]};
            const Vec3 now = point_impulse(p, point_velocity(q, p), old);
            const Vec3 change = minus(now, old);
            if (change[0] == 0 && change[1] == 0 && change[2] == 0) continue;
            for (int i = 0; i < 3; ++i) {
                impulses[3 * k + i] = now[i];
                double moved = 0;
                for (int c = 0; c < 3; ++c) moved += p.K[i][c] * change[c];
                largest = std::max(largest, std::fabs(moved));
            }
            for (int c = 0; c < 3; ++c)
                for (int i = 0; i < 6; ++i) q[i] += p.gain[c][i] * change[c];
        }
        if (largest <= tolerance) return sweep;
    }
    return most;
}

}  // namespace continua
