// The push-out of particles that got too deep into obstacles in spite of contact on nodes.
#pragma once

#include <vector>

#include "../transfer/particles.hpp"
#include "collider.hpp"

namespace continua {

namespace detail {

// Impulses are summed per block first and then over blocks in order: the same bits for any number of threads.
inline void sum_impulses(const std::vector<double>& partial, int64_t blocks, int64_t colliders, double* impulses) {
    std::fill(impulses, impulses + 3 * colliders, 0.0);
    for (int64_t b = 0; b < blocks; ++b)
        for (int64_t k = 0; k < 3 * colliders; ++k) impulses[k] += partial[b * 3 * colliders + k];
}

}  // namespace detail

inline constexpr int kRounds = 8;   // at most; in a wedge each obstacle pushes into the other, less every time
inline constexpr int kPushes = 16;  // at most; beside an edge of a sampled obstacle each ends a part of the way too short

// Move a point that is deeper than `depth` up to that depth.
inline Vec3 pushed_out(const Collider& collider, SurfaceDistance surface, Vec3 x, double depth) {
    for (int push = 0; push < kPushes && surface.phi < -depth; ++push) {
        for (int a = 0; a < 3; ++a) x[a] -= (surface.phi + depth) * surface.normal[a];
        surface = collider.evaluate(x);
    }
    return x;
}

namespace detail {

// Pushes particles begin to end - 1 out of one obstacle; how many there were. Nearly all lie outside, so lanes of them are
// looked at first.
template <class T, int d>
int64_t push_range_out(const Particles<T>& particles, int64_t begin, int64_t end, double depth, const Collider& collider,
                       double* impulse) {
    using V = Lanes<double>;
    int64_t pushed = 0;
    auto push = [&](int64_t i) {
        Vec3 x{0, 0, 0}, v{0, 0, 0};
        for (int a = 0; a < d; ++a) x[a] = particles.x[a * particles.stride + i], v[a] = particles.v[a * particles.stride + i];
        const SurfaceDistance surface = collider.evaluate(x);
        if (!(surface.phi < -depth)) return;
        ++pushed;
        const Vec3 u = contact_velocity(v, collider.velocity_at(x), surface.normal, collider.mode, collider.friction);
        x = pushed_out(collider, surface, x, depth);
        for (int a = 0; a < d; ++a) {
            particles.x[a * particles.stride + i] = T(x[a]);
            particles.v[a * particles.stride + i] = T(u[a]);
            impulse[a] += double(particles.mass[i]) * (double(T(u[a])) - v[a]);
        }
    };
    constexpr int kLanes = lanes_of<V>();
    for (int64_t i = begin; i < end; i += kLanes) {
        const int64_t next = std::min(i + kLanes, end);
        if (next - i == kLanes) {
            PointOf<V> x{V(0), V(0), V(0)};
            for (int a = 0; a < d; ++a) x[a].copy_from(particles.x + a * particles.stride + i, stdx::element_aligned);
            // Lanes may round otherwise than one point.
            const V phi = collider.surface_at(x).phi;
            if (!any(phi < V(1e-9 * std::fabs(depth) - depth))) continue;
        }
        for (int64_t j = i; j < next; ++j) push(j);
    }
    return pushed;
}

}  // namespace detail

// Particles deeper than `depth` are set back to that depth and obey the contact rule. `travel`: how far particles may
// have moved since they were sorted into blocks.
template <class T, int d>
int64_t push_out(const Particles<T>& particles, const Blocks& blocks, const Lattice<T, d>& lattice, double depth,
                 double travel, const std::vector<Collider>& colliders, double* impulses) {
    const int64_t count = int64_t(colliders.size());
    std::vector<double> partial(size_t(blocks.count) * 3 * count, 0.0);
    std::vector<int64_t> pushed(blocks.count, 0);
    // The stencils of a block begin in it; particles lie up to one cell farther than their first node.
    const double dx = lattice.dx, reach = (0.5 * kSide + 1.0) * dx * std::sqrt(double(d)) + travel;
#pragma omp parallel for schedule(dynamic, 16) num_threads(team(particles.count))
    for (int64_t b = 0; b < blocks.count; ++b) {
        const BlockCoords<d> block = block_coords<d>(blocks.keys[b]);
        Vec3 centre{0, 0, 0};
        for (int a = 0; a < d; ++a)
            centre[a] = double(lattice.origin[a]) + dx * (kSide * (block[a] + 0.5) + 0.5);
        std::vector<int64_t> near;
        for (int64_t c = 0; c < count; ++c)
            if (colliders[c].kind != ColliderKind::region &&
                !(colliders[c].evaluate(centre).phi > colliders[c].steepest() * reach - depth))
                near.push_back(c);
        auto push = [&](int64_t c) {  // whether there were any
            const int64_t some = detail::push_range_out<T, d>(particles, blocks.offsets[b], blocks.offsets[b + 1], depth,
                                                              colliders[c], partial.data() + (b * count + c) * 3);
            pushed[b] += some;
            return some > 0;
        };
        for (int round = 0; round < kRounds; ++round)
            if (std::count_if(near.begin(), near.end(), push) < 2) break;
    }
    detail::sum_impulses(partial, blocks.count, count, impulses);
    int64_t total = 0;
    for (int64_t p : pushed) total += p;
    return total;
}

}  // namespace continua
