// Grid to particles, and everything that happens to a particle while its velocity gradient is at hand:
// velocity and C, F update, plastic flow, position. Reads one set of arrays and writes another in block order, so a
// step can be discarded, and the arrays stay sorted. J15 section 2.2 step 8, 6.4.9-10, A.6.2.
#pragma once

#include "cell_gather.hpp"
#include "deform.hpp"
#include "tiles.hpp"

namespace continua {

template <class T>
struct GatherOptions {
    T dt;
    Affine affine;                    // what is kept of the velocity gradient; none: C stays as it is
    T flip;                           // FLIP fraction, used with velocity changes on nodes
    T keep;                           // factor on C and all higher modes, below 1 blends with PIC (J15 figure 5.5)
    T shear_damping;                  // 1 keeps the rotation of C only (G20 3.52)
    bool linear[3];                   // axes along which C is kept
    bool moving_map;                  // C as seen from the moved position, (I + dt C)^-1 r (G20 2.10)
    HighModes high;
    T light;                          // nodes lighter than this fraction of the particle switch off differences
    bool gradient;                    // L is the true gradient of the grid velocity; else C
    bool exponential;                 // F update by exp(dt L)
    bool deform;                      // F follows; else it stays as it is in both sets of arrays, or there is none
    T wrap_lower[3], wrap_length[3];  // periodic axes, length 0 = none
    T crowded;                        // value of the last channel beyond which particles are shaken apart, 0 = never
    uint64_t seed;                    // of the shaking
};

struct GatherReport {
    double max_speed2 = 0, max_wave_speed2 = 0, max_strain2 = 0, max_viscosity = 0;  // viscosity: kinematic
    int64_t bad = -1;  // a particle (index into the input arrays) whose new state is not finite

    void merge(const GatherReport& o) {
        max_speed2 = std::max(max_speed2, o.max_speed2);
        max_wave_speed2 = std::max(max_wave_speed2, o.max_wave_speed2);
        max_strain2 = std::max(max_strain2, o.max_strain2);
        max_viscosity = std::max(max_viscosity, o.max_viscosity);
        if (bad < 0) bad = o.bad;
    }
};

namespace detail {

// Columns of one batch to where they are kept. Whole aligned batches go past the cache if `stream`: nobody reads them soon.
template <class T>
inline void put_back(const T* from, int count, int components, int64_t stride, T* to, bool past_cache) {
    for (int c = 0; c < components; ++c) {
        T* at = to + c * stride;
        if (count < kBatch)
            std::copy(from + c * kBatch, from + c * kBatch + count, at);
        else if (past_cache && reinterpret_cast<uintptr_t>(at) % 64 == 0)
            stream_batch(from + c * kBatch, at);
        else
            std::memcpy(at, from + c * kBatch, sizeof(T) * kBatch);
    }
}

// One batch of particles, component-major: read, moved by the grid, written.
template <class Grid, ModeSet set>
struct GatherBatch {
    using T = typename Grid::Scalar;
    using V = Lanes<T>;
    static constexpr int d = Grid::dimension, degree = Grid::degree;
    using M = Modes<set, d, degree>;
    using Factors = typename Grid::Factors;
    using Sums = ChunkSums<T, d, M::count>;
    static constexpr bool kGradient = set >= ModeSet::gradient && degree > 1;
    alignas(64) T x[d * kBatch], v[d * kBatch], C[d * d * kBatch], F[d * d * kBatch] = {};
    alignas(64) T mass[kBatch], volume[kBatch], p[kMaxParameters * kBatch], z[kMaxStates * kBatch];
    alignas(64) T grad_v[d * d * kBatch], tau[BatchFunctions<T, d>::kSym * kBatch];
    alignas(64) int32_t ids[kBatch];
    V speed2_max = V(0), strain2_max = V(0), wave2_max = V(0), viscosity_max = V(0);

    void fetch(const BatchIndices& batch, const Particles<T>& in, bool flip, bool deform) {
        batch.fetch(in.x, in.stride, d, x);
        if (deform) batch.fetch(in.F, in.stride, d * d, F);
        batch.fetch(in.mass, in.stride, 1, mass);
        if (in.volume) batch.fetch(in.volume, in.stride, 1, volume);
        batch.fetch(in.ids, in.stride, 1, ids);
        batch.fetch(in.state, in.stride, in.states, z);
        if (flip) batch.fetch(in.v, in.stride, d, v);
    }

    // New x, v, C and trial F. Returns false when something is not finite.
    bool advance(const Sums& sums, const Factors& factors, int at, const Lattice<T, d>& lattice,
                 const GatherOptions<T>& options, bool flip) {
        const V dt = V(options.dt), inv_dx = V(lattice.inv_dx), up = inv_dx * V(T(1 / BSpline<degree>::down));
        V finite = V(0);
        for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
            Mat<V, d> c, grad, f;
            for (int a = 0; a < d; ++a)
                for (int i = 0; i < d; ++i) {
                    c(i, a) = grad(i, a) = inv_dx * load<V>(sums.of[M::along(a, 1)][i] + at + lane);
                    if constexpr (kGradient)
                        if (options.gradient)
                            grad(i, a) += load<V>(factors.kappa_of(a, i) + lane) * up *
                                          load<V>(sums.of[M::along(a, degree)][i] + at + lane);
                    f(i, a) = load<V>(F + (i * d + a) * kBatch + lane);
                }
            if (options.affine != Affine::none) keep_affine(factors, options, lane, c);
            finite += move(sums, at, lane, dt, options, flip);
            const Mat<V, d> step = dt * grad;
            strain2_max = max(strain2_max, V(dot(step, step)));
            if (!options.deform) continue;
            for (int k = 0; k < d * d; ++k) store(grad.a[k], grad_v + k * kBatch + lane);
            f = (options.exponential ? exponential(step) : safe_map_lanes(step)) * f;
            for (int k = 0; k < d * d; ++k) {
                store(f.a[k], F + k * kBatch + lane);
                finite += V(0) * f.a[k];
            }
        }
        return all(finite == V(0));
    }

    // What the particle takes along of the velocity gradient: C, blended and damped.
    void keep_affine(const Factors& factors, const GatherOptions<T>& options, int lane, Mat<V, d>& c) {
        const V keep = V(options.keep), damping = V(options.shear_damping), half = V(0.5f) * damping;
        if (options.moving_map) {  // C (I + dt C)^-1
            const Mat<V, d> map = Mat<V, d>::identity() + V(options.dt) * c, cof = cofactor(map);
            c = (V(1) / determinant(map, cof)) * (c * transpose(cof));
        }
        if constexpr (degree == 1) {
            if (options.affine != Affine::gradient)
                for (int a = 0; a < d; ++a)
                    for (int i = 0; i < d; ++i) c(i, a) *= load<V>(factors.norm_of(a, i) + lane);
            if (options.affine == Affine::spin) c = c - transpose(c);
        }
        for (int i = 0; i < d; ++i)
            for (int a = 0; a < d; ++a) {
                const V damped = c(i, a) - half * (c(i, a) + c(a, i));
                store(options.linear[a] ? V(keep * damped) : V(0), C + (i * d + a) * kBatch + lane);
            }
    }

    // The modes beyond C are sums already; only those with differences are switched off near nodes that are too light.
    void keep_high_modes(const Sums& sums, int at, const GatherOptions<T>& options, int64_t place, int count,
                         const Particles<T>& out, bool past_cache) const {
        alignas(64) T modes[kBatch * HighModes::kMost * 4];
        const int own = 4 * options.high.count;  // numbers of a particle
        for (int h = 0; h < options.high.count; ++h) {
            const int* e = options.high.exponent[h];
            const bool guarded = options.light > T(0) && (e[0] >= 2 || e[1] >= 2 || e[2] >= 2);
            for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
                V mode[d];
                for (int i = 0; i < d; ++i) {
                    mode[i] = V(options.keep) * load<V>(sums.of[M::slot(e[0], e[1], e[2])][i] + at + lane);
                    if (guarded) {
                        const V least = V(options.light) * load<V>(mass + lane);
                        mode[i] = select(load<V>(sums.lightest + at + lane) < least, V(0), mode[i]);
                    }
                }
                lanes_to_records(mode, modes + lane * own + 4 * h, own);
            }
        }
        T* to = out.modes + place * own;
        const int numbers = count * own;
        if (past_cache && reinterpret_cast<uintptr_t>(to) % 64 == 0) {
            int k = 0;
            for (; k + kBatch <= numbers; k += kBatch) stream_batch(modes + k, to + k);
            std::copy(modes + k, modes + numbers, to + k);
        } else {
            std::copy(modes, modes + numbers, to);
        }
    }

    // Positions follow the grid velocity; the particle's own velocity is PIC, APIC or a FLIP blend. J15 A.6.2.
    V move(const Sums& sums, int at, int lane, const V& dt, const GatherOptions<T>& options, bool flip) {
        V speed2 = V(0), finite = V(0);
        for (int i = 0; i < d; ++i) {
            V velocity = load<V>(sums.of[0][i] + at + lane);
            V moved = load<V>(x + i * kBatch + lane) + dt * velocity;
            if (sums.shifted) moved += load<V>(sums.shift[i] + at + lane);
            if (flip) {
                const V kept = load<V>(v + i * kBatch + lane) + load<V>(sums.change[i] + at + lane);
                velocity += V(options.flip) * (kept - velocity);
            }
            if (options.wrap_length[i] > T(0)) {
                const V lower = V(options.wrap_lower[i]), length = V(options.wrap_length[i]);
                moved = select(moved < lower, V(moved + length), moved);
                moved = select(moved >= lower + length, V(moved - length), moved);
            }
            speed2 += velocity * velocity;
            finite += V(0) * moved;
            store(velocity, v + i * kBatch + lane);
            store(moved, x + i * kBatch + lane);
        }
        speed2_max = max(speed2_max, speed2);
        return finite + V(0) * speed2;
    }

    // Plastic flow, the stress where it is kept, and the speeds that limit the next step.
    void flow(const BatchIndices& batch, const BatchFunctions<T, d>& material, const Parameters<T>& parameters, T dt) {
        alignas(64) T out[kBatch];
        batch.fetch(parameters, p);
        if (material.advance)
            material.advance(F, dt, grad_v, p, z, tau);
        else if (material.flow)
            material.flow(F, dt, grad_v, p, z);
        material.modulus(F, p, z, out);
        wave2_max = max(wave2_max, largest_per_density(out));
        if (!material.viscosity) return;
        material.viscosity(p, out);
        viscosity_max = max(viscosity_max, largest_per_density(out));
    }
    V largest_per_density(const T* value) const {
        V most = V(0);
        for (int lane = 0; lane < kBatch; lane += lanes_of<V>())
            most = max(most, V(load<V>(value + lane) * load<V>(volume + lane) / load<V>(mass + lane)));
        return most;
    }

    void write(int64_t at, int count, const Particles<T>& out, bool affine, bool deform, bool past_cache) const {
        auto put = [&](const auto* from, int components, auto* to) {
            put_back(from, count, components, out.stride, to + at, past_cache);
        };
        put(x, d, out.x);
        put(v, d, out.v);
        if (affine) put(C, d * d, out.C);
        if (deform) put(F, d * d, out.F);
        put(z, out.states, out.state);
        put(mass, 1, out.mass);
        if (out.volume) put(volume, 1, out.volume);
        put(ids, 1, out.ids);
        if (out.tau) put(tau, BatchFunctions<T, d>::kSym, out.tau);
    }

    // Particles in one place would move together for ever; where too many meet, each goes its own way by up to a tenth of a cell.
    void shake_apart(const T* crowd, int count, const Lattice<T, d>& lattice, const GatherOptions<T>& options) {
        for (int j = 0; j < count; ++j) {
            if (!(crowd[j] > options.crowded)) continue;
            for (int a = 0; a < d; ++a) {
                uint64_t bits = (options.seed ^ (uint64_t(ids[j]) * d + a + 1)) * 0x9e3779b97f4a7c15ull;
                bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ull;
                const double unit = double((bits ^ bits >> 31) >> 11) * 0x1p-52 - 1;
                x[a * kBatch + j] += T(0.1 * unit) * lattice.dx;
            }
        }
    }

    void report_to(GatherReport& report) const {
        report.max_speed2 = std::max(report.max_speed2, double(stdx::hmax(speed2_max)));
        report.max_strain2 = std::max(report.max_strain2, double(stdx::hmax(strain2_max)));
        report.max_wave_speed2 = std::max(report.max_wave_speed2, double(stdx::hmax(wave2_max)));
        report.max_viscosity = std::max(report.max_viscosity, double(stdx::hmax(viscosity_max)));
    }

    int first_bad(int count) const {
        for (int j = 0; j < count; ++j) {
            T sum = T(0);
            for (int k = 0; k < d; ++k) sum += T(0) * (x[k * kBatch + j] + v[k * kBatch + j]);
            for (int k = 0; k < d * d; ++k) sum += T(0) * F[k * kBatch + j];
            if (!(sum == T(0))) return j;
        }
        return -1;
    }
};

template <class T, int d>
inline void prefetch_for_gather(const Particles<T>& in, int64_t from, bool flip, bool deform) {
    prefetch(in.x, in.stride, d, from);
    if (deform) prefetch(in.F, in.stride, d * d, from);
    prefetch(in.mass, 0, 1, from);
    if (in.volume) prefetch(in.volume, 0, 1, from);
    prefetch(in.ids, 0, 1, from);
    prefetch(in.state, in.stride, in.states, from);
    if (flip) prefetch(in.v, in.stride, d, from);
}

}  // namespace detail

// What the grid hands to the particles, over the same nodes.
template <class T>
struct NodeFields {
    const T* velocity;
    const T* change;  // velocity increments for FLIP, or null
    const T* shift;   // displacements [m] besides the velocity, or null
};

// set: the affine set takes C for the velocity gradient ("mls"), larger ones the true B-spline gradient.
// `material`: null leaves the trial F (its flow happens elsewhere). Grid: NodeGrid or FaceGrid.
template <class Grid, ModeSet set, class T = typename Grid::Scalar, int d = Grid::dimension>
GatherReport gather(const Particles<T>& in, const Particles<T>& out, const Parameters<T>& parameters,
                    const BatchFunctions<T, d>* material, const Lattice<T, d>& lattice, const Blocks& blocks,
                    const int32_t* reach, const NodeFields<T>& nodes, const GatherOptions<T>& options) {
    constexpr int kReach = Grid::kReach, kTile = kPaddedTile<d, kReach>;
    std::vector<GatherReport> reports(blocks.count);
    const bool flip = nodes.change != nullptr, affine = options.affine != Affine::none, deform = options.deform;
    bool guarded = false;
    for (int h = 0; h < options.high.count; ++h)
        for (const int e : options.high.exponent[h]) guarded |= e >= 2 && options.light > T(0);
    const bool past_cache = in.count * int64_t(sizeof(T)) * (2 * d + 2 * d * d + options.high.count * d) > kLargerThanCaches;
    for_blocks(blocks.count, in.count, [&](int64_t s, int64_t next) {
        const Ahead ahead(blocks, s, next);
        alignas(64) T tile[kTile], change_tile[kTile], shift_tile[kTile];
        auto read = [&](const T* from, T* to) {
            if (from) read_tile<T, d, kReach>(from, reach + s * kCorners<d>, to);
            std::fill(to + kTile - 16, to + kTile, T(0));
        };
        const BlockCoords<d> block = block_coords<d>(blocks.keys[s]);
        detail::GatherBatch<Grid, set> data[kChunk / kBatch];
        BatchIndices batches[kChunk / kBatch];
        typename Grid::Places places;
        typename Grid::Factors factors;
        ChunkSums<T, d, Modes<set, d, Grid::degree>::count> sums;
        if (next >= 0) prefetch_tile<T, d, kReach>(nodes.velocity, reach + next * kCorners<d>);
        read(nodes.velocity, tile), read(nodes.change, change_tile), read(nodes.shift, shift_tile);
        sums.shifted = nodes.shift != nullptr;
        for_chunks(blocks, s, [&](int64_t begin, int64_t end) {
            const int count = int(end - begin);
            for (int at = 0; at < count; at += kBatch) {
                BatchIndices& batch = batches[at / kBatch];
                batch.read(blocks.order, begin + at, end);
                ahead.from(begin + at, [&](int64_t place) {
                    detail::prefetch_for_gather<T, d>(in, blocks.order[place], flip, deform);
                });
                data[at / kBatch].fetch(batch, in, flip, deform);
                places.compute(data[at / kBatch].x, lattice, block, at);
            }
            Grid::template gather<set>(tile, places, count, sums.of);
            if (guarded) Grid::lightest(tile, places, count, sums.lightest);
            if (options.crowded > T(0)) Grid::crowd(tile, places, count, sums.crowd);
            if (flip) Grid::template gather<ModeSet::value>(change_tile, places, count, &sums.change);
            if (sums.shifted) Grid::template gather<ModeSet::value>(shift_tile, places, count, &sums.shift);
            for (int at = 0; at < count; at += kBatch) {
                auto& own = data[at / kBatch];
                const BatchIndices& batch = batches[at / kBatch];
                sums.pad(at, batch.count);
                if (set >= ModeSet::gradient) factors.compute(places, at, Grid::degree == 1 || options.high.count > 0);
                if (!own.advance(sums, factors, at, lattice, options, flip) && reports[s].bad < 0) {
                    const int j = own.first_bad(batch.count);
                    if (j >= 0) reports[s].bad = batch.at[j];
                }
                if (material) own.flow(batch, *material, parameters, options.dt);
                if (options.crowded > T(0)) own.shake_apart(sums.crowd + at, batch.count, lattice, options);
                own.write(begin + at, batch.count, out, affine, deform, past_cache);
                if (options.high.count) own.keep_high_modes(sums, at, options, begin + at, batch.count, out, past_cache);
            }
        });
        for (const auto& own : data) own.report_to(reports[s]);
        if (past_cache) stream_end();
    });
    GatherReport total;
    for (const auto& report : reports) total.merge(report);
    return total;
}

}  // namespace continua
