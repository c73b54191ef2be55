// Totals over particles in double, in fixed chunks and order.
#pragma once

#include "particles.hpp"

namespace continua {

struct ParticleSums {
    double mass = 0, kinetic = 0, elastic = 0;
    double momentum[3] = {}, angular[3] = {}, first_moment[3] = {};

    void merge(const ParticleSums& o) {
        mass += o.mass, kinetic += o.kinetic, elastic += o.elastic;
        for (int i = 0; i < 3; ++i)
            momentum[i] += o.momentum[i], angular[i] += o.angular[i], first_moment[i] += o.first_moment[i];
    }
};

// C of particle i times its spread D_a = sum_i w r_a^2, whatever the scheme keeps instead of C: momentum B and energy.
struct AffinePart {
    double B[3][3] = {};
    double speed2 = 0;  // of C and of all higher modes, per unit mass
};

// affine(i): the velocity modes of particle i beyond its velocity. energy(i): its elastic energy.
template <class T, int d, class Affine_, class Energy>
ParticleSums sum_particles(const Particles<T>& P, Affine_&& affine, Energy&& energy) {
    constexpr int64_t kChunk = 4096;
    const int64_t chunks = (P.count + kChunk - 1) / kChunk;
    std::vector<ParticleSums> partial(chunks);
#pragma omp parallel for schedule(dynamic, 1) num_threads(team(P.count))
    for (int64_t c = 0; c < chunks; ++c) {
        ParticleSums& s = partial[c];
        for (int64_t i = c * kChunk; i < std::min(P.count, (c + 1) * kChunk); ++i) {
            const AffinePart own = affine(i);
            double x[3] = {}, v[3] = {}, speed2 = own.speed2;
            const double m = P.mass[i];
            for (int a = 0; a < d; ++a) {
                x[a] = P.x[a * P.stride + i], v[a] = P.v[a * P.stride + i];
                speed2 += v[a] * v[a];
            }
            s.mass += m;
            s.kinetic += 0.5 * m * speed2;
            s.elastic += energy(i);
            for (int a = 0; a < 3; ++a) {
                const int b = (a + 1) % 3, e = (a + 2) % 3;
                s.momentum[a] += m * v[a];
                s.first_moment[a] += m * x[a];
                s.angular[a] += m * (x[b] * v[e] - x[e] * v[b] + own.B[e][b] - own.B[b][e]);  // J15 (5.11)
            }
        }
    }
    ParticleSums total;
    for (const auto& s : partial) total.merge(s);
    return total;
}

}  // namespace continua
