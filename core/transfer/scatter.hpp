// Particles to grid. Every particle contributes to node i
//     w_i (m, m v + m C r_i) - dt V0 tau grad w_i            J15 section 2.2, (5.8), (6.20)-(6.22)
// which along each axis is a polynomial in the node offset, so planes and rows of nodes share their coefficients.
// In the "mls" form the force uses grad w_i ~ w_i r_i / (spread dx^2) and merges with the affine term.
#pragma once

#include "particles.hpp"

namespace continua {

template <class T>
struct ScatterOptions {
    T dt;
    bool momentum;  // carry mass and momentum
    bool affine;    // carry C
    bool stress;    // carry the stress impulse -dt V0 tau grad w
};

namespace detail {

// Coefficients of one particle: value, factors of r (q) and of grad w (t) per axis.
template <class T, int d>
struct alignas(64) NodePolynomial {
    T value[4], q[d][4], t[d][4];
};

template <class T, int d, int degree, bool gradient>
inline void scatter_rows(T* node, const Stencils<T, d, degree>& st, int j, Quad<T> value, Quad<T> qa, Quad<T> ta,
                         Quad<T> qb, Quad<T> tb) {
    using Q = Quad<T>;
    constexpr int K = degree + 1, S = kSide + degree, A = d - 2, B = d - 1;
    for (int a = 0; a < K; ++a) {
        const Q w = Q(st.w[A][a][j]);
        Q row = w * value + Q(st.wr[A][a][j]) * qa;
        if constexpr (gradient) row += Q(st.dw[A][a][j]) * ta;
        const Q row_q = w * qb, row_t = w * tb;
        T* at = node + 4 * a * S;
        for (int b = 0; b < K; ++b) {
            Q sum = Q(at + 4 * b, stdx::element_aligned) + Q(st.w[B][b][j]) * row + Q(st.wr[B][b][j]) * row_q;
            if constexpr (gradient) sum += Q(st.dw[B][b][j]) * row_t;
            sum.copy_to(at + 4 * b, stdx::element_aligned);
        }
    }
}

template <class T, int d, int degree, bool gradient>
inline void scatter_particle(T* tile, const Stencils<T, d, degree>& st, int j, const NodePolynomial<T, d>& c) {
    using Q = Quad<T>;
    constexpr int K = degree + 1, S = kSide + degree;
    auto quad = [](const T* p) { return Q(p, stdx::element_aligned); };
    T* node = tile + 4 * st.node[j];
    const Q value = quad(c.value), qa = quad(c.q[d - 2]), ta = quad(c.t[d - 2]);
    const Q qb = quad(c.q[d - 1]), tb = quad(c.t[d - 1]);
    if constexpr (d == 2) {
        scatter_rows<T, d, degree, gradient>(node, st, j, value, qa, ta, qb, tb);
    } else {
        const Q q0 = quad(c.q[0]), t0 = quad(c.t[0]);
        for (int i = 0; i < K; ++i) {
            const Q w = Q(st.w[0][i][j]);
            Q plane = w * value + Q(st.wr[0][i][j]) * q0;
            if constexpr (gradient) plane += Q(st.dw[0][i][j]) * t0;
            scatter_rows<T, d, degree, gradient>(node + 4 * i * S * S, st, j, plane, w * qa, w * ta, w * qb, w * tb);
        }
    }
}

// Coefficients of a batch, in lanes, then turned into one record per particle.
template <class T, int d, int degree, bool gradient>
inline void node_polynomials(const T* mass, const T* volume, const T* v, const T* C, const T* tau,
                             const Lattice<T, d>& lattice, const ScatterOptions<T>& options, int count,
                             NodePolynomial<T, d>* out) {
    using V = Lanes<T>;
    const V dx = V(lattice.dx);
    const V scale = V(-options.dt * lattice.inv_dx * (gradient ? T(1) : T(1.0 / BSpline<degree>::spread)));
    constexpr int kSymIndex[3][3] = {{0, 1, 2}, {1, d == 2 ? 2 : 3, 4}, {2, 4, 5}};
    alignas(64) T value[d][kBatch], q[d][d][kBatch], t[d][d][kBatch];
    for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
        const V m = load<V>(mass + lane), s = scale * load<V>(volume + lane);
        for (int i = 0; i < d; ++i) {
            store(V(m * load<V>(v + i * kBatch + lane)), value[i] + lane);
            for (int a = 0; a < d; ++a) {
                V affine = options.affine ? V(m * dx * load<V>(C + (i * d + a) * kBatch + lane)) : V(0);
                const V force = options.stress ? V(s * load<V>(tau + kSymIndex[i][a] * kBatch + lane)) : V(0);
                if constexpr (!gradient) affine += force;
                store(affine, q[a][i] + lane);
                if constexpr (gradient) store(force, t[a][i] + lane);
            }
        }
    }
    for (int j = 0; j < count; ++j) {
        NodePolynomial<T, d>& c = out[j];
        for (int i = 0; i < d; ++i) {
            c.value[i] = value[i][j];
            for (int a = 0; a < d; ++a) {
                c.q[a][i] = q[a][i][j];
                if constexpr (gradient) c.t[a][i] = t[a][i][j];
            }
        }
        c.value[3] = mass[j];
    }
}

}  // namespace detail

// tiles: (blocks, tile nodes, 4), overwritten. given_tau: stress computed elsewhere, or null to ask the material.
template <class T, int d, int degree, bool gradient>
void scatter(const Particles<T>& particles, const Parameters<T>& parameters, const BatchFunctions<T, d>* material,
             const T* given_tau, const Lattice<T, d>& lattice, const Blocks& blocks, const ScatterOptions<T>& options,
             T* tiles) {
    constexpr int64_t kTile = int64_t(kTileNodes<d, degree>) * 4;
    constexpr int kSym = BatchFunctions<T, d>::kSym;
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t s = 0; s < blocks.count; ++s) {
        T* tile = tiles + s * kTile;
        std::fill(tile, tile + kTile, T(0));
        const BlockCoords<d> block = block_coords<d>(blocks.keys[s]);
        alignas(64) T x[d * kBatch], v[d * kBatch] = {}, C[d * d * kBatch], F[d * d * kBatch], tau[kSym * kBatch];
        alignas(64) T mass[kBatch] = {}, volume[kBatch], p[kMaxParameters * kBatch], z[kMaxStates * kBatch];
        Stencils<T, d, degree> stencils;
        detail::NodePolynomial<T, d> polynomial[kBatch] = {};
        for (int64_t begin = blocks.offsets[s]; begin < blocks.offsets[s + 1]; begin += kBatch) {
            const BatchIndices batch(blocks.order, begin, blocks.offsets[s + 1]);
            batch.fetch(particles.x, particles.stride, d, x);
            stencils.compute(x, lattice, block);
            if (options.momentum) {
                batch.fetch(particles.mass, mass);
                batch.fetch(particles.v, particles.stride, d, v);
                if (options.affine) batch.fetch(particles.C, particles.stride, d * d, C);
            }
            if (options.stress) {
                batch.fetch(particles.volume, volume);
                if (given_tau) {
                    batch.fetch(given_tau, particles.stride, kSym, tau);
                } else {
                    batch.fetch(particles.F, particles.stride, d * d, F);
                    batch.fetch(particles.state, particles.stride, particles.states, z);
                    batch.fetch(parameters, p);
                    material->kirchhoff(F, p, z, tau);
                }
            }
            detail::node_polynomials<T, d, degree, gradient>(mass, volume, v, C, tau, lattice, options, batch.count,
                                                             polynomial);
            for (int j = 0; j < batch.count; ++j)
                detail::scatter_particle<T, d, degree, gradient>(tile, stencils, j, polynomial[j]);
        }
    }
}

}  // namespace continua
