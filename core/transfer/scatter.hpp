// Particles to grid. Every particle contributes to node i
//     w_i (m, m v + m C r_i) - dt V0 tau grad w_i            J15 section 2.2, (5.8), (6.20)-(6.22)
// which along each axis is a polynomial in the node offset, so planes and rows of nodes share their coefficients.
// The gradient is split as in BSpline: its moment part merges with the affine term (the whole force in the "mls"
// form), the correction is added in the "gradient" form.
#pragma once

#include "../math/transpose.hpp"
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

// Coefficients of one particle: value, factors of w r (q) and of the correction e (t) per axis.
template <class T, int d>
struct alignas(64) NodePolynomial {
    T value[4], q[d][4], t[d][4];
};

// A tile node holds one record per packed particle; they are added up when the block is done.
template <class T, int d, int degree>
inline constexpr int kScatterTile = kTileNodes<d, degree> * 4 * kPacked<T>;

template <int G, bool gradient, class T, int d, int degree>
inline void scatter_rows(T* node, const PackWeights<G, T, d, degree>& st, const Pack<T, G>& value,
                         const Pack<T, G>& qa, const Pack<T, G>& ta, const Pack<T, G>& qb, const Pack<T, G>& tb) {
    using Q = Pack<T, G>;
    constexpr int K = degree + 1, S = kSide + degree, A = d - 2, B = d - 1, kNode = 4 * kPacked<T>;
    for (int a = 0; a < K; ++a) {
        const Q w = st.w[A][a];
        Q row = w * value + st.wr[A][a] * qa;
        if constexpr (gradient) row += st.correction(A, a, ta);
        const Q row_q = w * qb, row_t = w * tb;
        T* at = node + kNode * a * S;
        for (int b = 0; b < K; ++b) {
            Q sum = Q(at + kNode * b, stdx::element_aligned) + st.w[B][b] * row + st.wr[B][b] * row_q;
            if constexpr (gradient) sum += st.correction(B, b, row_t);
            sum.copy_to(at + kNode * b, stdx::element_aligned);
        }
    }
}

// Adds particles j ... j + G - 1, which share their nodes, to the tile.
template <int G, bool gradient, class T, int d, int degree>
inline void scatter_pack(T* tile, const Stencils<T, d, degree>& stencils, int j, const NodePolynomial<T, d>* c) {
    using Q = Pack<T, G>;
    constexpr int K = degree + 1, S = kSide + degree, kNode = 4 * kPacked<T>;
    constexpr int stride = sizeof(NodePolynomial<T, d>) / sizeof(T);
    auto quad = [](const T* p) { return load_records<G>(p, stride); };
    const PackWeights<G, T, d, degree> st(stencils, j);
    T* node = tile + kNode * stencils.node[j];
    const Q value = quad(c[j].value), qa = quad(c[j].q[d - 2]), ta = quad(c[j].t[d - 2]);
    const Q qb = quad(c[j].q[d - 1]), tb = quad(c[j].t[d - 1]);
    if constexpr (d == 2) {
        scatter_rows<G, gradient>(node, st, value, qa, ta, qb, tb);
    } else {
        const Q q0 = quad(c[j].q[0]), t0 = quad(c[j].t[0]);
        for (int i = 0; i < K; ++i) {
            const Q w = st.w[0][i];
            Q plane = w * value + st.wr[0][i] * q0;
            if constexpr (gradient) plane += st.correction(0, i, t0);
            scatter_rows<G, gradient, T, d, degree>(node + kNode * i * S * S, st, plane, Q(w * qa), Q(w * ta), Q(w * qb),
                                                    Q(w * tb));
        }
    }
}

template <class T, int nodes>
inline void fold_tile(const T* packed, T* tile) {
    for (int i = 0; i < nodes; ++i) {
        Quad<T> sum(packed + 4 * kPacked<T> * i, stdx::element_aligned);
        if constexpr (kPacked<T> == 2) sum += Quad<T>(packed + 8 * i + 4, stdx::element_aligned);
        sum.copy_to(tile + 4 * i, stdx::element_aligned);
    }
}

// One batch of particles, component-major.
template <class T, int d>
struct ScatterBatch {
    static constexpr int kSym = BatchFunctions<T, d>::kSym;
    alignas(64) T x[d * kBatch], v[d * kBatch] = {}, C[d * d * kBatch], F[d * d * kBatch], tau[kSym * kBatch];
    alignas(64) T mass[kBatch] = {}, volume[kBatch], p[kMaxParameters * kBatch], z[kMaxStates * kBatch];

    void fetch(const BatchIndices& batch, const Particles<T>& from, const Parameters<T>& parameters,
               const BatchFunctions<T, d>& material, const ScatterOptions<T>& options) {
        batch.fetch(from.x, from.stride, d, x);
        if (options.momentum) {
            batch.fetch(from.mass, mass);
            batch.fetch(from.v, from.stride, d, v);
            if (options.affine) batch.fetch(from.C, from.stride, d * d, C);
        }
        if (!options.stress) return;
        batch.fetch(from.volume, volume);
        if (from.tau) {
            batch.fetch(from.tau, from.stride, kSym, tau);
        } else {
            batch.fetch(from.F, from.stride, d * d, F);
            batch.fetch(from.state, from.stride, from.states, z);
            batch.fetch(parameters, p);
            material.kirchhoff(F, p, z, tau);
        }
    }

    template <int degree, bool gradient>
    void polynomials(const Stencils<T, d, degree>& stencils, const Lattice<T, d>& lattice,
                     const ScatterOptions<T>& options, NodePolynomial<T, d>* out) const {
        using V = Lanes<T>;
        const V dx = V(lattice.dx), share = V(T(BSpline<degree>::share));
        const V impulse = V(-options.dt * lattice.inv_dx);
        constexpr int kSymIndex[3][3] = {{0, 1, 2}, {1, d == 2 ? 2 : 3, 4}, {2, 4, 5}};
        alignas(64) T value[3][kBatch] = {}, q[d][3][kBatch] = {}, t[d][3][kBatch] = {};
        for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
            const V m = load<V>(mass + lane), s = impulse * load<V>(volume + lane);
            for (int i = 0; i < d; ++i) {
                store(V(m * load<V>(v + i * kBatch + lane)), value[i] + lane);
                for (int a = 0; a < d; ++a) {
                    V affine = options.affine ? V(m * dx * load<V>(C + (i * d + a) * kBatch + lane)) : V(0);
                    if (options.stress) {
                        const V force = s * load<V>(tau + kSymIndex[i][a] * kBatch + lane);
                        affine += share * force;
                        if constexpr (gradient)
                            store(V(load<V>(stencils.kappa[a] + lane) * force), t[a][i] + lane);
                    }
                    store(affine, q[a][i] + lane);
                }
            }
        }
        constexpr int stride = sizeof(NodePolynomial<T, d>) / sizeof(T);
        to_records<T, 4>({value[0], value[1], value[2], mass}, out->value, stride);
        for (int a = 0; a < d; ++a) {
            to_records<T, 3>({q[a][0], q[a][1], q[a][2]}, out->q[a], stride);
            if constexpr (gradient) to_records<T, 3>({t[a][0], t[a][1], t[a][2]}, out->t[a], stride);
        }
    }
};

template <class T, int d>
inline void prefetch_for_scatter(const Particles<T>& from, int64_t i, const ScatterOptions<T>& options) {
    prefetch<false>(from.x, from.stride, d, i);
    if (options.momentum) {
        prefetch<false>(from.v, from.stride, d, i);
        prefetch<false>(from.mass, 0, 1, i);
        if (options.affine) prefetch<false>(from.C, from.stride, d * d, i);
    }
    if (options.stress) {
        prefetch<false>(from.volume, 0, 1, i);
        if (from.tau) {
            prefetch<false>(from.tau, from.stride, BatchFunctions<T, d>::kSym, i);
        } else {
            prefetch<false>(from.state, from.stride, from.states, i);
            prefetch<false>(from.F, from.stride, d * d, i);
        }
    }
}

}  // namespace detail

// tiles: (blocks, tile nodes, 4), overwritten. Stress is what the particles keep, or else what the material says of F.
template <class T, int d, int degree, bool gradient>
void scatter(const Particles<T>& particles, const Parameters<T>& parameters, const BatchFunctions<T, d>& material,
             const Lattice<T, d>& lattice, const Blocks& blocks, const ScatterOptions<T>& options, T* tiles) {
    constexpr int64_t kTile = int64_t(kTileNodes<d, degree>) * 4;
#pragma omp parallel for schedule(dynamic, 1) num_threads(team(particles.count))
    for (int64_t s = 0; s < blocks.count; ++s) {
        alignas(64) T tile[detail::kScatterTile<T, d, degree>] = {};
        const BlockCoords<d> block = block_coords<d>(blocks.keys[s]);
        detail::ScatterBatch<T, d> data;
        Stencils<T, d, degree> stencils;
        detail::NodePolynomial<T, d> polynomial[kBatch];
        for (int64_t begin = blocks.offsets[s]; begin < blocks.offsets[s + 1]; begin += kBatch) {
            const BatchIndices batch(blocks.order, begin, blocks.offsets[s + 1]);
            if (begin + kAhead < particles.count)
                detail::prefetch_for_scatter<T, d>(particles, blocks.order[begin + kAhead], options);
            data.fetch(batch, particles, parameters, material, options);
            stencils.compute(data.x, lattice, block);
            data.template polynomials<degree, gradient>(stencils, lattice, options, polynomial);
            stencils.for_packs(batch.count, [&]<int G>(int j) {
                detail::scatter_pack<G, gradient>(tile, stencils, j, polynomial);
            });
        }
        detail::fold_tile<T, kTileNodes<d, degree>>(tile, tiles + s * kTile);
    }
}

}  // namespace continua
