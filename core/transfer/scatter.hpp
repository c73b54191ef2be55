// Particles to grid. Every particle contributes to node i
//     w_i (m, m v(x_i)) - dt V0 tau grad w_i            J15 section 2.2, (5.8), (6.20)-(6.22); G20 (2.11)
// where v(x) is its polynomial velocity. All of it is a sum of modes (see Modes), so planes and rows of nodes share their
// coefficients: the force adds to the linear modes (the whole force in the "mls" form) and to the differences.
#pragma once

#include "../math/transpose.hpp"
#include "modes.hpp"

namespace continua {

template <class T>
struct ScatterOptions {
    T dt;
    bool momentum;  // carry mass and momentum
    bool stress;    // carry the stress impulse -dt V0 tau grad w
    bool gradient;  // with the true gradient; else with its linear part only
    Affine affine;
    HighModes high;
};

namespace detail {

// A tile node holds one record per packed particle; they are added up when the block is done.
template <class T, int d, int degree>
inline constexpr int kScatterTile = kTileNodes<d, degree> * 4 * kPacked<T>;

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
            if (options.affine != Affine::none) batch.fetch(from.C, from.stride, d * d, C);
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

    // Node coefficients of all modes of the batch.
    template <ModeSet set, class Stencil, class Record>
    void coefficients(const Stencil& stencils, const Lattice<T, d>& lattice, const ScatterOptions<T>& options,
                      Record* out) {
        using V = Lanes<T>;
        constexpr int degree = Stencil::degree;
        using M = Modes<set, d, degree>;
        constexpr bool gradient = set >= ModeSet::gradient && degree > 1;
        constexpr int stride = sizeof(Record) / sizeof(T);
        const V share = V(T(degree == 1 ? 1.0 : BSpline<degree>::share)), impulse = V(-options.dt * lattice.inv_dx);
        constexpr int kSymIndex[3][3] = {{0, 1, 2}, {1, d == 2 ? 2 : 3, 4}, {2, 4, 5}};
        alignas(64) T value[3][kBatch] = {}, linear[d][3][kBatch] = {}, difference[d][3][kBatch] = {};
        const bool affine = options.affine != Affine::none;
        if (affine) node_gradient(stencils, lattice, options.affine);
        for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
            const V m = load<V>(mass + lane), s = impulse * load<V>(volume + lane);
            for (int i = 0; i < d; ++i) {
                store(V(m * load<V>(v + i * kBatch + lane)), value[i] + lane);
                for (int a = 0; a < d; ++a) {
                    V slope = affine ? V(m * load<V>(C + (i * d + a) * kBatch + lane)) : V(0);
                    if (options.stress) {
                        const V force = s * load<V>(tau + kSymIndex[i][a] * kBatch + lane);
                        slope += share * force;
                        if constexpr (gradient)
                            if (options.gradient)
                                store(V(load<V>(stencils.kappa_of(a, i) + lane) * force), difference[a][i] + lane);
                    }
                    store(slope, linear[a][i] + lane);
                }
            }
        }
        to_records<T, 4>({value[0], value[1], value[2], mass}, out->c[0], stride);
        for (int a = 0; a < d; ++a) {
            to_records<T, 3>({linear[a][0], linear[a][1], linear[a][2]}, out->c[M::along(a, 1)], stride);
            if constexpr (gradient)
                to_records<T, 3>({difference[a][0], difference[a][1], difference[a][2]}, out->c[M::along(a, degree)],
                                 stride);
        }
    }

    // C as the factor of the linear patterns, in units of dx.
    template <class Stencil>
    void node_gradient(const Stencil& stencils, const Lattice<T, d>& lattice, Affine affine) {
        using V = Lanes<T>;
        for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
            auto norm = [&](int axis, int component) {
                return Stencil::degree == 1 ? load<V>(stencils.norm_of(axis, component) + lane) : V(1);
            };
            V scaled[d * d];
            for (int i = 0; i < d; ++i)
                for (int a = 0; a < d; ++a) {
                    V factor = norm(a, i);
                    if (affine == Affine::moment) factor = V(1);
                    if (affine == Affine::spin) {  // omega = K^-1 L with K = D_i + D_a about the third axis
                        const V inertia = norm(i, a) + factor;
                        factor = select(inertia > V(0), V(factor / inertia), V(0));
                    }
                    scaled[i * d + a] = factor * V(lattice.dx) * load<V>(C + (i * d + a) * kBatch + lane);
                }
            for (int k = 0; k < d * d; ++k) store(scaled[k], C + k * kBatch + lane);
        }
    }

    // The modes beyond C are kept as node records, so they only need their factors; differences add to the force.
    template <ModeSet set, class Stencil, class Record>
    void add_high_modes(const Stencil& stencils, const BatchIndices& batch, const Particles<T>& from,
                        const HighModes& high, Record* out) const {
        using V = Lanes<T>;
        constexpr int degree = Stencil::degree;
        using M = Modes<set, d, degree>;
        ComponentFactors<T, Stencil::kFactors> factor[HighModes::kMost];
        int slot[HighModes::kMost];
        bool add[HighModes::kMost];  // to the difference of the force
        for (int h = 0; h < high.count; ++h) {
            const int* e = high.exponent[h];
            for (int c = 0; c < Stencil::kFactors; ++c)
                for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
                    V f = load<V>(mass + lane);
                    for (int a = 0; a < d; ++a)
                        if (e[a + 3 - d] == degree) f *= load<V>(stencils.norm_of(a, c) + lane);
                    store(f, factor[h].of[c] + lane);
                }
            slot[h] = M::slot(e[0], e[1], e[2]);
            add[h] = degree > 1 && set >= ModeSet::gradient && e[0] + e[1] + e[2] == degree &&
                     (e[0] == degree || e[1] == degree || e[2] == degree);
        }
        for (int j = 0; j < batch.count; ++j) {
            const T* own = from.modes + batch.at[j] * int64_t(high.count) * 4;
            for (int h = 0; h < high.count; ++h) {
                T* to = out[j].c[slot[h]];
                Quad<T> q = factor[h].quad(j) * Quad<T>(own + 4 * h, stdx::element_aligned);
                if (add[h]) q += Quad<T>(to, stdx::element_aligned);
                q.copy_to(to, stdx::element_aligned);
            }
        }
    }
};

template <class T, int d>
inline void prefetch_for_scatter(const Particles<T>& from, int64_t i, const ScatterOptions<T>& options) {
    prefetch<false>(from.x, from.stride, d, i);
    if (options.momentum) {
        prefetch<false>(from.v, from.stride, d, i);
        prefetch<false>(from.mass, 0, 1, i);
        if (options.affine != Affine::none) prefetch<false>(from.C, from.stride, d * d, i);
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
template <class T, int d, int degree, ModeSet set>
void scatter(const Particles<T>& particles, const Parameters<T>& parameters, const BatchFunctions<T, d>& material,
             const Lattice<T, d>& lattice, const Blocks& blocks, const ScatterOptions<T>& options, T* tiles) {
    constexpr int64_t kTile = int64_t(kTileNodes<d, degree>) * 4;
#pragma omp parallel for schedule(dynamic, 1) num_threads(team(particles.count))
    for (int64_t s = 0; s < blocks.count; ++s) {
        alignas(64) T tile[detail::kScatterTile<T, d, degree>] = {};
        const BlockCoords<d> block = block_coords<d>(blocks.keys[s]);
        detail::ScatterBatch<T, d> data;
        Stencils<T, d, degree> stencils;
        ModeRecord<T, Modes<set, d, degree>::count> records[kBatch] = {};
        for (int64_t begin = blocks.offsets[s]; begin < blocks.offsets[s + 1]; begin += kBatch) {
            const BatchIndices batch(blocks.order, begin, blocks.offsets[s + 1]);
            if (begin + kAhead < particles.count)
                detail::prefetch_for_scatter<T, d>(particles, blocks.order[begin + kAhead], options);
            data.fetch(batch, particles, parameters, material, options);
            stencils.compute(data.x, lattice, block, degree == 1 || options.high.count > 0);
            data.template coefficients<set>(stencils, lattice, options, records);
            if (options.high.count) data.template add_high_modes<set>(stencils, batch, particles, options.high, records);
            stencils.for_packs(batch.count, [&]<int G>(int j) { scatter_pack<G, set>(tile, stencils, j, records + j); });
        }
        detail::fold_tile<T, kTileNodes<d, degree>>(tile, tiles + s * kTile);
    }
}

}  // namespace continua
