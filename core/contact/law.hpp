// The law of contact: what two things that touch lose of their relative velocity. Everything that meets uses it: continua
// at nodes, obstacles at nodes and faces, particles and vertices, facets of meshes.
//
// Relative velocity r = u_a - u_b, n the unit normal from a to b, vn = r.n > 0 where they approach. In one step they may
// close the gap between them but not more:
//     push = vn - max(gap, 0)/dt,  rub = min(mu push, |t|),  t = r - vn n,     lost = push n + rub t/|t|
// and nothing is lost if push <= 0. With J = m_red lost, m_red = m_a m_b / (m_a + m_b), and u_a -= J/m_a, u_b += J/m_b,
// momentum is kept, energy never rises and the sliding never turns round (Bardenhagen et al. 2000; one normal for both).
#pragma once

#include <cmath>
#include <limits>

#include "../math/vector.hpp"

namespace continua {

// separate: may part; slip: may only slide; sticky: moves with the other.
enum class ContactMode { separate, slip, sticky };

inline constexpr double kImmovable = std::numeric_limits<double>::infinity();

// In this order neither large nor small masses overflow.
inline double reduced_mass(double a, double b) { return std::isinf(b) ? a : std::isinf(a) ? b : a / (a + b) * b; }

// Coulomb: friction never takes more than mu times the push, nor more than there is.
inline double coulomb(double friction, double push, double slide) {
    return std::fmin(friction * std::fmax(push, 0.0), slide);
}

// Approach that contact leaves [m/s]: enough to close a gap in a step; overlaps are undone at a rate [1/s], but never faster
// than `fastest`, so that bodies are not thrown apart.
inline double allowed_approach(double gap, double rate, double fastest, double dt) {
    return gap > 0 ? gap / dt : std::fmax(rate * gap, -fastest);
}

struct ContactLoss {
    Vec3 lost{0, 0, 0};
    Vec3 left{0, 0, 0};  // r - lost, without cancellation
    double push = 0;
    bool touching = false;  // whether anything is lost at all
};

// closing: approach that is still allowed [m/s], max(gap, 0)/dt; negative where an overlap is undone.
inline ContactLoss contact_loss(const Vec3& r, const Vec3& n, double closing, ContactMode mode, double friction) {
    ContactLoss out;
    const double vn = dot(r, n);
    out.push = vn - closing;
    out.touching = mode != ContactMode::separate || out.push > 0;
    if (!out.touching) {
        out.left = r;
        return out;
    }
    if (mode == ContactMode::sticky) {
        out.lost = r;
        return out;
    }
    Vec3 tangent = r;
    for (int i = 0; i < 3; ++i) tangent[i] -= vn * n[i];
    const double slide = norm(tangent), rub = coulomb(friction, out.push, slide);
    const double part = slide > 0 ? rub / slide : 0, keep = slide > 0 ? 1 - part : 0;
    for (int i = 0; i < 3; ++i) {
        out.lost[i] = out.push * n[i] + part * tangent[i];
        out.left[i] = keep * tangent[i];
        if (closing != 0) out.left[i] += closing * n[i];
    }
    return out;
}

// New velocity of a point in contact with an obstacle, which nothing moves; n points out of the obstacle. J15 section 2.2
// step 6.
inline Vec3 contact_velocity(const Vec3& v, const Vec3& obstacle, const Vec3& n, ContactMode mode, double friction) {
    const ContactLoss loss = contact_loss(minus(v, obstacle), {-n[0], -n[1], -n[2]}, 0, mode, friction);
    if (!loss.touching) return v;
    return {obstacle[0] + loss.left[0], obstacle[1] + loss.left[1], obstacle[2] + loss.left[2]};
}

}  // namespace continua
