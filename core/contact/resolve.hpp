// Contact on grid nodes and the push-out of particles that still got too deep.
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

inline Vec3 resolved_velocity(const Collider& c, const SurfaceDistance& surface, const Vec3& x, const Vec3& v) {
    if (c.kind != ColliderKind::region) return contact_velocity(v, c.velocity_at(x), surface.normal, c.mode, c.friction);
    Vec3 out = v;  // prescribed components; NaN leaves one free
    for (int i = 0; i < 3; ++i)
        if (c.velocity[i] == c.velocity[i]) out[i] = c.velocity[i];
    return out;
}

}  // namespace detail

// nodes: velocities and mass. impulses (colliders, 3): momentum given to the nodes by each collider.
template <class T, int d>
void resolve_nodes(T* nodes, const uint64_t* keys, int64_t blocks, const Lattice<T, d>& lattice,
                   const std::vector<Collider>& colliders, double* impulses) {
    const int64_t count = int64_t(colliders.size());
    std::vector<double> partial(size_t(blocks) * 3 * count, 0.0);
    const double dx = lattice.dx, reach = 0.5 * (kSide - 1) * dx * std::sqrt(double(d)) * (1 + 1e-9);
#pragma omp parallel for schedule(dynamic, 16) num_threads(team(blocks, kBlocksPerThread))
    for (int64_t b = 0; b < blocks; ++b) {
        const BlockCoords<d> block = block_coords<d>(keys[b]);
        Vec3 first{0, 0, 0}, centre{0, 0, 0};
        for (int a = 0; a < d; ++a) {
            first[a] = double(lattice.origin[a]) + dx * kSide * block[a];
            centre[a] = first[a] + 0.5 * dx * (kSide - 1);
        }
        for (int64_t c = 0; c < count; ++c) {
            const Collider& collider = colliders[c];
            if (collider.evaluate(centre).phi > reach) continue;
            double* impulse = partial.data() + (b * count + c) * 3;
            for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
                T* node = nodes + (b * kBlockNodes<d> + i) * 4;
                if (!(node[3] > T(0))) return;
                Vec3 x = first;
                for (int a = 0; a < d; ++a) x[a] += dx * l[a];
                const SurfaceDistance surface = collider.evaluate(x);
                if (!(surface.phi < 0)) return;
                const Vec3 v{double(node[0]), double(node[1]), d == 3 ? double(node[2]) : 0.0};
                const Vec3 u = detail::resolved_velocity(collider, surface, x, v);
                for (int a = 0; a < d; ++a) {
                    node[a] = T(u[a]);
                    impulse[a] += double(node[3]) * (double(node[a]) - v[a]);
                }
            });
        }
    }
    detail::sum_impulses(partial, blocks, count, impulses);
}

// Particles deeper than `depth` are set back to that depth and obey the contact rule. `travel`: how far particles may
// have moved since they were sorted into blocks.
template <class T, int d>
int64_t push_out(const Particles<T>& particles, const Blocks& blocks, const Lattice<T, d>& lattice, double depth,
                 double travel, const std::vector<Collider>& colliders, double* impulses) {
    const int64_t count = int64_t(colliders.size());
    std::vector<double> partial(size_t(blocks.count) * 3 * count, 0.0);
    std::vector<int64_t> pushed(blocks.count, 0);
    const double dx = lattice.dx, reach = (0.5 * kSide + 1.5) * dx * std::sqrt(double(d)) + travel;
#pragma omp parallel for schedule(dynamic, 4) num_threads(team(particles.count))
    for (int64_t b = 0; b < blocks.count; ++b) {
        const BlockCoords<d> block = block_coords<d>(blocks.keys[b]);
        Vec3 centre{0, 0, 0};
        for (int a = 0; a < d; ++a)
            centre[a] = double(lattice.origin[a]) + dx * (kSide * (block[a] + 0.5) + 0.5);
        for (int64_t c = 0; c < count; ++c) {
            const Collider& collider = colliders[c];
            if (collider.kind == ColliderKind::region || collider.evaluate(centre).phi > reach) continue;
            double* impulse = partial.data() + (b * count + c) * 3;
            for (int64_t i = blocks.offsets[b]; i < blocks.offsets[b + 1]; ++i) {
                Vec3 x{0, 0, 0}, v{0, 0, 0};
                for (int a = 0; a < d; ++a)
                    x[a] = particles.x[a * particles.stride + i], v[a] = particles.v[a * particles.stride + i];
                const SurfaceDistance surface = collider.evaluate(x);
                if (!(surface.phi < -depth)) continue;
                ++pushed[b];
                const Vec3 u = detail::resolved_velocity(collider, surface, x, v);
                for (int a = 0; a < d; ++a) {
                    particles.x[a * particles.stride + i] = T(x[a] - (surface.phi + depth) * surface.normal[a]);
                    particles.v[a * particles.stride + i] = T(u[a]);
                    impulse[a] += double(particles.mass[i]) * (double(T(u[a])) - v[a]);
                }
            }
        }
    }
    detail::sum_impulses(partial, blocks.count, count, impulses);
    int64_t total = 0;
    for (int64_t p : pushed) total += p;
    return total;
}

}  // namespace continua
