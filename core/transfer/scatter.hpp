// Particles to grid. Every particle contributes to node i
//     w_i (m, m v(x_i)) - dt V0 tau grad w_i            J15 section 2.2, (5.8), (6.20)-(6.22); G20 (2.11)
// where v(x) is its polynomial velocity. All of it is a sum of modes (see Modes), so planes and rows of nodes share their
// coefficients: the force adds to the linear modes (the whole force in the "mls" form) and to the differences.
#pragma once

#include "../math/transpose.hpp"
#include "run_scatter.hpp"
#include "tiles.hpp"

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
            batch.fetch(from.mass, from.stride, 1, mass);
            batch.fetch(from.v, from.stride, d, v);
            if (options.affine != Affine::none) batch.fetch(from.C, from.stride, d * d, C);
        }
        if (!options.stress) return;
        batch.fetch(from.volume, from.stride, 1, volume);
        if (from.tau) {
            batch.fetch(from.tau, from.stride, kSym, tau);
        } else {
            batch.fetch(from.F, from.stride, d * d, F);
            batch.fetch(from.state, from.stride, from.states, z);
            batch.fetch(parameters, p);
            material.kirchhoff(F, p, z, tau);
        }
    }

    // Node coefficients of all modes of the batch. With distances f[axis][particle] from the first node, the linear modes are taken
    // from there instead of from the particle (see `scatter_runs`).
    template <ModeSet set, class Stencil, class Record>
    void coefficients(const Stencil& stencils, const Lattice<T, d>& lattice, const ScatterOptions<T>& options, Record* out,
                      const T (*f)[kRow] = nullptr, int at = 0) {
        using V = Lanes<T>;
        constexpr int degree = Stencil::degree;
        using M = Modes<set, d, degree>;
        constexpr bool gradient = set >= ModeSet::gradient && degree > 1;
        constexpr int stride = sizeof(Record) / sizeof(T);
        const V share = V(T(degree == 1 ? 1.0 : BSpline<degree>::share)), impulse = V(-options.dt * lattice.inv_dx);
        constexpr int kSymIndex[3][3] = {{0, 1, 2}, {1, d == 2 ? 2 : 3, 4}, {2, 4, 5}};
        const bool affine = options.affine != Affine::none;
        if (affine) node_gradient(stencils, lattice, options.affine);
        for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
            const V m = load<V>(mass + lane), s = impulse * load<V>(volume + lane);
            T* record = out->c[0] + lane * stride;
            V first[4] = {V(0), V(0), V(0), m};
            for (int i = 0; i < d; ++i) first[i] = m * load<V>(v + i * kBatch + lane);
            for (int a = 0; a < d; ++a) {
                V slope[3], difference[3];
                for (int i = 0; i < 3; ++i) slope[i] = difference[i] = V(0);
                for (int i = 0; i < d; ++i) {
                    if (affine) slope[i] = m * load<V>(C + (i * d + a) * kBatch + lane);
                    if (options.stress) {
                        const V force = s * load<V>(tau + kSymIndex[i][a] * kBatch + lane);
                        slope[i] += share * force;
                        if constexpr (gradient) difference[i] = load<V>(stencils.kappa_of(a, i) + lane) * force;
                    }
                    if (f) first[i] -= load<V>(f[a] + at + lane) * slope[i];
                }
                lanes_to_records(slope, record + 4 * M::along(a, 1), stride);
                if constexpr (gradient) {
                    if (!options.gradient)
                        for (auto& q : difference) q = V(0);
                    lanes_to_records(difference, record + 4 * M::along(a, degree), stride);
                }
            }
            lanes_to_records(first, record, stride);
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
        alignas(64) T factor[HighModes::kMost][kBatch];
        int slot[HighModes::kMost];
        bool added[HighModes::kMost];  // to the difference of the force
        for (int h = 0; h < high.count; ++h) {
            const int* e = high.exponent[h];
            for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
                V f = load<V>(mass + lane);
                for (int a = 0; a < d; ++a)
                    if (e[a + 3 - d] == degree) f *= load<V>(stencils.norm_of(a, 0) + lane);
                store(f, factor[h] + lane);
            }
            slot[h] = M::slot(e[0], e[1], e[2]);
            added[h] = degree > 1 && set >= ModeSet::gradient && e[0] + e[1] + e[2] == degree &&
                       (e[0] == degree || e[1] == degree || e[2] == degree);
        }
        for (int j = 0; j < batch.count; ++j) {
            const T* own = from.modes + batch.at[j] * int64_t(high.count) * 4;
            for (int h = 0; h < high.count; h += 16 / int(sizeof(T))) prefetch_line(own + 4 * (kAhead * high.count + h));
            for (int h = 0; h < high.count; ++h) {
                T* to = out[j].c[slot[h]];
                Quad<T> q = factor[h][j] * Quad<T>(own + 4 * h, stdx::element_aligned);
                if (added[h]) q += Quad<T>(to, stdx::element_aligned);
                q.copy_to(to, stdx::element_aligned);
            }
        }
    }
};

template <class T, int d>
inline void prefetch_for_scatter(const Particles<T>& from, int64_t i, const ScatterOptions<T>& options) {
    prefetch(from.x, from.stride, d, i);
    if (options.momentum) {
        prefetch(from.v, from.stride, d, i);
        prefetch(from.mass, 0, 1, i);
        if (options.affine != Affine::none) prefetch(from.C, from.stride, d * d, i);
    }
    if (options.stress) {
        prefetch(from.volume, 0, 1, i);
        if (from.tau) {
            prefetch(from.tau, from.stride, BatchFunctions<T, d>::kSym, i);
        } else {
            prefetch(from.state, from.stride, from.states, i);
            prefetch(from.F, from.stride, d * d, i);
        }
    }
}

}  // namespace detail

// nodes (grid blocks, 4^d, 4): added to. Stress is what the particles keep, or else what the material says of F.
template <class T, int d, int degree, ModeSet set>
void scatter(const Particles<T>& particles, const Parameters<T>& parameters, const BatchFunctions<T, d>& material,
             const Lattice<T, d>& lattice, const Blocks& blocks, const Tiles& tiles, const ScatterOptions<T>& options,
             T* nodes) {
    constexpr bool products = set >= ModeSet::products;
    for_coloured(tiles.colours, particles.count, [&](int64_t s, int64_t next) {
        const Ahead ahead(blocks, s, next);
        prefetch_tile<T, d, degree>(nodes, tiles.reach + s * kCorners<d>);
        alignas(64) T tile[kPaddedTile<d, degree>] = {};
        const BlockCoords<d> block = block_coords<d>(blocks.keys[s]);
        detail::ScatterBatch<T, d> data;
        Places<T, d, degree> places;
        RunWeights<T, d, degree> weights;
        BatchFactors<T, d, degree> factors;
        ModeRecord<T, Modes<set, d, degree>::count> records[kChunk + 1] = {};
        for_chunks(blocks, s, [&](int64_t begin, int64_t end) {
            for (int at = 0; begin + at < end; at += kBatch) {
                const BatchIndices batch(blocks.order, begin + at, end);
                ahead.from(begin + at, [&](int64_t place) {
                    detail::prefetch_for_scatter<T, d>(particles, blocks.order[place], options);
                });
                data.fetch(batch, particles, parameters, material, options);
                places.compute(data.x, lattice, block, at);
                weights.compute(places, at);
                if (set >= ModeSet::gradient) factors.compute(places, at, degree == 1 || options.high.count > 0);
                data.template coefficients<set>(factors, lattice, options, records + at,
                                                products || degree == 1 ? nullptr : places.f, at);
                if (options.high.count)
                    data.template add_high_modes<set>(factors, batch, particles, options.high, records + at);
            }
            scatter_runs<T, d, degree, set>(places, weights, int(end - begin), records, tile);
        });
        add_tile<T, d, degree>(tile, tiles.reach + s * kCorners<d>, nodes);
    });
}

}  // namespace continua
