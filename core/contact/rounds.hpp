// All contacts at one node, resolved by the law one after the other.
#pragma once

#include <vector>

#include "law.hpp"

namespace continua {

inline constexpr int kMostImpulses = 20;     // per node
inline constexpr double kSettled = 1e-14;    // of the speeds: approach left by rounding

// A continuum at a node.
struct Meeter {
    double mass = 0;
    Vec3 u{0, 0, 0};
    bool moved = false;
};

// Continuum a against continuum b, or against an obstacle (b < 0) that moves with `other`.
struct NodeContact {
    int a, b;
    Vec3 n;  // from a to b
    double closing, friction;
    ContactMode mode;
    Vec3 other;
    Vec3 impulse{0, 0, 0};  // given to a so far
    bool acted = false;
};

inline ContactLoss loss_of(const NodeContact& c, const std::vector<Meeter>& meeters) {
    const Vec3& ub = c.b < 0 ? c.other : meeters[c.b].u;
    return contact_loss(minus(meeters[c.a].u, ub), c.n, c.closing, c.mode, c.friction);
}

inline double contact_mass(const NodeContact& c, const std::vector<Meeter>& meeters) {
    return reduced_mass(meeters[c.a].mass, c.b < 0 ? kImmovable : meeters[c.b].mass);
}

inline void apply_loss(NodeContact& c, const ContactLoss& loss, std::vector<Meeter>& meeters) {
    const double mass = contact_mass(c, meeters);
    Meeter& a = meeters[c.a];
    a.moved = c.acted = true;
    for (int i = 0; i < 3; ++i) {
        const double J = mass * loss.lost[i];
        c.impulse[i] -= J;
        if (c.b < 0) {
            a.u[i] = c.other[i] + loss.left[i];
            continue;
        }
        a.u[i] -= J / a.mass;
        meeters[c.b].u[i] += J / meeters[c.b].mass;
    }
    if (c.b >= 0) meeters[c.b].moved = true;
}

// The largest impulse first, the first of equal ones, until nothing approaches: the outcome does not depend on the order
// in which continua were made, as that of going through the pairs would. Whether anything happened.
inline bool resolve_largest_first(NodeContact* contacts, int count, std::vector<Meeter>& meeters) {
    bool acted = false;
    for (int round = 0; round < (count == 1 ? 1 : kMostImpulses); ++round) {
        int best = -1;
        double largest = 0;
        ContactLoss chosen;
        for (int k = 0; k < count; ++k) {
            const NodeContact& c = contacts[k];
            const ContactLoss loss = loss_of(c, meeters);
            const bool held = c.mode != ContactMode::separate;
            const double size = held ? norm(loss.lost) : loss.push;
            auto speed = [&] { return norm(meeters[c.a].u) + norm(c.b < 0 ? c.other : meeters[c.b].u); };
            if (!loss.touching || (round > 0 && !(size > kSettled * speed()))) continue;
            const double impulse = contact_mass(c, meeters) * size;
            if (impulse > largest) best = k, largest = impulse, chosen = loss;
        }
        if (best < 0) break;
        apply_loss(contacts[best], chosen, meeters);
        acted = true;
    }
    return acted;
}

}  // namespace continua
