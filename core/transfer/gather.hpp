// Grid to particles, and everything that happens to a particle while its velocity gradient is at hand:
// velocity and C, F update, plastic flow, position. Reads one set of arrays and writes another in block order, so a
// step can be discarded, and the arrays stay sorted. J15 section 2.2 step 8, 6.4.9-10, A.6.2.
#pragma once

#include "../math/transpose.hpp"
#include "deform.hpp"
#include "modes.hpp"

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

template <class T>
inline void put_back(const T* from, int count, int components, int64_t stride, T* to) {
    for (int c = 0; c < components; ++c) {
        if (count == kBatch)
            std::memcpy(to + c * stride, from + c * kBatch, sizeof(T) * kBatch);
        else
            std::copy(from + c * kBatch, from + c * kBatch + count, to + c * stride);
    }
}

// One batch of particles, component-major: read, moved by the grid, written.
template <class Stencil, ModeSet set>
struct GatherBatch {
    using T = typename Stencil::Scalar;
    using V = Lanes<T>;
    static constexpr int d = Stencil::dimension, degree = Stencil::degree;
    using M = Modes<set, d, degree>;
    using Record = ModeRecord<T, M::count>;
    static constexpr bool kGradient = set >= ModeSet::gradient && degree > 1;
    alignas(64) T x[d * kBatch], v[d * kBatch], C[d * d * kBatch], F[d * d * kBatch] = {};
    alignas(64) T mass[kBatch], volume[kBatch], p[kMaxParameters * kBatch], z[kMaxStates * kBatch];
    // grid velocity, its change and a displacement, sums of linear modes and differences [axis][component]
    alignas(64) T u[d * kBatch], change[d * kBatch], shift[d * kBatch] = {}, linear[d][d * kBatch], difference[d][d * kBatch];
    alignas(64) T grad_v[d * d * kBatch], tau[BatchFunctions<T, d>::kSym * kBatch];
    alignas(64) int32_t ids[kBatch];
    Record records[kBatch] = {};
    ModeRecord<T, 1> smallest[kBatch];  // of all nodes of a particle; the last channel is the mass
    V speed2_max = V(0), strain2_max = V(0), wave2_max = V(0), viscosity_max = V(0);

    void fetch(const BatchIndices& batch, const Particles<T>& in, bool flip, bool deform) {
        batch.fetch(in.x, in.stride, d, x);
        if (deform) batch.fetch(in.F, in.stride, d * d, F);
        batch.fetch(in.mass, mass);
        if (in.volume) batch.fetch(in.volume, volume);
        batch.fetch(in.ids, ids);
        batch.fetch(in.state, in.stride, in.states, z);
        if (flip) batch.fetch(in.v, in.stride, d, v);
    }

    // Sums over the nodes of every particle, turned component-major. Padding repeats the last particle.
    void sum_nodes(const Stencil& stencils, int count, const T* tile, const T* change_tile, const T* shift_tile,
                   bool need_lightest) {
        constexpr int stride = sizeof(Record) / sizeof(T);
        auto pad = [&] {
            for (int j = count; j < kBatch; ++j) records[j] = records[count - 1];
        };
        auto value_of = [&](const T* of, T* out) {
            stencils.for_packs(count, [&]<int G>(int j) { gather_pack<G, ModeSet::value>(of, stencils, j, records); });
            pad();
            from_records<T, d>(records->c[0], stride, out);
        };
        if (change_tile) value_of(change_tile, change);
        if (shift_tile) value_of(shift_tile, shift);
        if (need_lightest)
            stencils.for_packs(count, [&]<int G>(int j) { gather_pack<G, set, true>(tile, stencils, j, records, smallest); });
        else
            stencils.for_packs(count, [&]<int G>(int j) { gather_pack<G, set>(tile, stencils, j, records); });
        pad();
        from_records<T, d>(records->c[0], stride, u);
        for (int a = 0; a < d; ++a) {
            from_records<T, d>(records->c[M::along(a, 1)], stride, linear[a]);
            if constexpr (kGradient) from_records<T, d>(records->c[M::along(a, degree)], stride, difference[a]);
        }
    }

    // New x, v, C and trial F. Returns false when something is not finite.
    bool advance(const Stencil& stencils, const Lattice<T, d>& lattice, const GatherOptions<T>& options, bool flip) {
        const V dt = V(options.dt), inv_dx = V(lattice.inv_dx);
        const V share = V(T(degree == 1 ? 1.0 : BSpline<degree>::share)) * inv_dx;
        V finite = V(0);
        for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
            Mat<V, d> c, grad, f;
            for (int a = 0; a < d; ++a)
                for (int i = 0; i < d; ++i) {
                    c(i, a) = grad(i, a) = share * load<V>(linear[a] + i * kBatch + lane);
                    if constexpr (kGradient)
                        if (options.gradient)
                            grad(i, a) += load<V>(stencils.kappa_of(a, i) + lane) * inv_dx *
                                          load<V>(difference[a] + i * kBatch + lane);
                    f(i, a) = load<V>(F + (i * d + a) * kBatch + lane);
                }
            if (options.affine != Affine::none) keep_affine(stencils, options, lane, c);
            finite += move(lane, dt, options, flip);
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
    void keep_affine(const Stencil& stencils, const GatherOptions<T>& options, int lane, Mat<V, d> c) {
        const V keep = V(options.keep), damping = V(options.shear_damping), half = V(0.5f) * damping;
        if (options.moving_map) {  // C (I + dt C)^-1
            const Mat<V, d> map = Mat<V, d>::identity() + V(options.dt) * c, cof = cofactor(map);
            c = (V(1) / determinant(map, cof)) * (c * transpose(cof));
        }
        if constexpr (degree == 1) {
            if (options.affine != Affine::gradient)
                for (int a = 0; a < d; ++a)
                    for (int i = 0; i < d; ++i) c(i, a) *= load<V>(stencils.norm_of(a, i) + lane);
            if (options.affine == Affine::spin) c = c - transpose(c);
        }
        for (int i = 0; i < d; ++i)
            for (int a = 0; a < d; ++a) {
                const V damped = c(i, a) - half * (c(i, a) + c(a, i));
                store(options.linear[a] ? V(keep * damped) : V(0), C + (i * d + a) * kBatch + lane);
            }
    }

    // The modes beyond C go from the sums straight to where they are kept.
    void keep_high_modes(const Stencil& stencils, const GatherOptions<T>& options, int64_t at, int count,
                         const Particles<T>& out) const {
        const HighModes& high = options.high;
        alignas(64) T guard[kBatch];  // 0 where a node is too light for differences
        for (int j = 0; j < kBatch; ++j)
            guard[j] = options.light > T(0) && smallest[std::min(j, count - 1)].c[0][3] < options.light * mass[j] ? T(0) : T(1);
        const Quad<T> velocity([](auto i) { return T(i < 3); });  // not the channel of the mass
        ComponentFactors<T, Stencil::kFactors> factor[HighModes::kMost];
        int slot[HighModes::kMost];
        for (int h = 0; h < high.count; ++h) {
            const int* e = high.exponent[h];
            bool squares = false;
            for (int a = 0; a < d; ++a) squares |= e[a + 3 - d] >= 2;
            for (int c = 0; c < Stencil::kFactors; ++c)
                for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
                    V f = squares ? V(V(options.keep) * load<V>(guard + lane)) : V(options.keep);
                    for (int a = 0; a < d; ++a) f *= gather_factor<V>(stencils, a, c, e[a + 3 - d], lane);
                    store(f, factor[h].of[c] + lane);
                }
            slot[h] = M::slot(e[0], e[1], e[2]);
        }
        // Many modes are more than caches hold until the next step.
        constexpr int64_t kLarge = int64_t(1) << 25;
        const bool past_cache = out.count * high.count * int64_t(sizeof(Quad<T>)) > kLarge &&
                                reinterpret_cast<uintptr_t>(out.modes) % 16 == 0;
        for (int j = 0; j < count; ++j) {
            T* own = out.modes + (at + j) * high.count * 4;
            for (int h = 0; h < high.count; ++h) {
                const Quad<T> q = factor[h].quad(j) * velocity * Quad<T>(records[j].c[slot[h]], stdx::element_aligned);
                if (past_cache)
                    stream(q, own + 4 * h);
                else
                    q.copy_to(own + 4 * h, stdx::element_aligned);
            }
        }
        if (past_cache) stream_end();
    }

    // Positions follow the grid velocity; the particle's own velocity is PIC, APIC or a FLIP blend. J15 A.6.2.
    V move(int lane, const V& dt, const GatherOptions<T>& options, bool flip) {
        V speed2 = V(0), finite = V(0);
        for (int i = 0; i < d; ++i) {
            V velocity = load<V>(u + i * kBatch + lane);
            V moved = load<V>(x + i * kBatch + lane) + dt * velocity + load<V>(shift + i * kBatch + lane);
            if (flip) {
                const V kept = load<V>(v + i * kBatch + lane) + load<V>(change + i * kBatch + lane);
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

    void write(int64_t at, int count, const Particles<T>& out, bool affine, bool deform) const {
        put_back(x, count, d, out.stride, out.x + at);
        put_back(v, count, d, out.stride, out.v + at);
        if (affine) put_back(C, count, d * d, out.stride, out.C + at);
        if (deform) put_back(F, count, d * d, out.stride, out.F + at);
        put_back(z, count, out.states, out.stride, out.state + at);
        put_back(mass, count, 1, out.stride, out.mass + at);
        if (out.volume) put_back(volume, count, 1, out.stride, out.volume + at);
        put_back(ids, count, 1, out.stride, out.ids + at);
        if (out.tau) put_back(tau, count, BatchFunctions<T, d>::kSym, out.stride, out.tau + at);
    }

    // Particles in one place would move together for ever; where too many meet, each goes its own way by up to a tenth of a cell.
    void shake_apart(int count, const Lattice<T, d>& lattice, const GatherOptions<T>& options) {
        for (int j = 0; j < count; ++j) {
            if (!(records[j].c[0][3] > options.crowded)) continue;
            for (int a = 0; a < d; ++a) {
                uint64_t bits = (options.seed ^ (uint64_t(ids[j]) * d + a + 1)) * 0x9e3779b97f4a7c15ull;
                bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ull;
                const double unit = double((bits ^ bits >> 31) >> 11) * 0x1p-52 - 1;
                x[a * kBatch + j] += T(0.1 * unit) * lattice.dx;
            }
        }
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
inline void prefetch_for_gather(const Particles<T>& in, int64_t from, const Particles<T>& out, int64_t to, bool flip,
                                bool affine, bool deform) {
    prefetch<false>(in.x, in.stride, d, from);
    if (deform) prefetch<false>(in.F, in.stride, d * d, from);
    prefetch<false>(in.mass, 0, 1, from);
    prefetch<false>(in.volume, 0, 1, from);
    prefetch<false>(in.ids, 0, 1, from);
    prefetch<false>(in.state, in.stride, in.states, from);
    if (flip) prefetch<false>(in.v, in.stride, d, from);
    prefetch<true>(out.x, out.stride, d, to);
    prefetch<true>(out.v, out.stride, d, to);
    if (affine) prefetch<true>(out.C, out.stride, d * d, to);
    if (deform) prefetch<true>(out.F, out.stride, d * d, to);
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
// `material`: null leaves the trial F (its flow happens elsewhere).
template <class Stencil, ModeSet set, class T = typename Stencil::Scalar, int d = Stencil::dimension>
GatherReport gather(const Particles<T>& in, const Particles<T>& out, const Parameters<T>& parameters,
                    const BatchFunctions<T, d>* material, const Lattice<T, d>& lattice, const Blocks& blocks,
                    const int32_t* reach, const NodeFields<T>& nodes, const GatherOptions<T>& options) {
    constexpr int kReach = Stencil::kTileDegree, kTile = kTileNodes<d, kReach> * 4;
    std::vector<GatherReport> reports(blocks.count);
    const bool flip = nodes.change != nullptr, affine = options.affine != Affine::none, deform = options.deform;
    bool guarded = false;
    for (int h = 0; h < options.high.count; ++h)
        for (const int e : options.high.exponent[h]) guarded |= e >= 2 && options.light > T(0);
#pragma omp parallel for schedule(dynamic, 1) num_threads(team(in.count))
    for (int64_t s = 0; s < blocks.count; ++s) {
        alignas(64) T tile[kTile], change_tile[kTile], shift_tile[kTile];
        auto read = [&](const T* from, T* to) {
            if (from) read_tile<T, d, kReach>(from, reach + s * kCorners<d>, to);
            return from ? to : nullptr;
        };
        const T *velocity = read(nodes.velocity, tile), *change = read(nodes.change, change_tile),
                *shift = read(nodes.shift, shift_tile);
        const BlockCoords<d> block = block_coords<d>(blocks.keys[s]);
        detail::GatherBatch<Stencil, set> data;
        Stencil stencils;
        GatherReport& report = reports[s];
        for (int64_t begin = blocks.offsets[s]; begin < blocks.offsets[s + 1]; begin += kBatch) {
            const BatchIndices batch(blocks.order, begin, blocks.offsets[s + 1]);
            if (begin + kAhead < in.count)
                detail::prefetch_for_gather<T, d>(in, blocks.order[begin + kAhead], out, begin + kAhead, flip, affine, deform);
            data.fetch(batch, in, flip, deform);
            stencils.compute(data.x, lattice, block, Stencil::degree == 1 || options.high.count > 0);
            data.sum_nodes(stencils, batch.count, velocity, change, shift, guarded);
            if (!data.advance(stencils, lattice, options, flip) && report.bad < 0) {
                const int j = data.first_bad(batch.count);
                if (j >= 0) report.bad = batch.at[j];
            }
            if (material) data.flow(batch, *material, parameters, options.dt);
            if (options.crowded > T(0)) data.shake_apart(batch.count, lattice, options);
            data.write(begin, batch.count, out, affine, deform);
            if (options.high.count) data.keep_high_modes(stencils, options, begin, batch.count, out);
        }
        report.max_speed2 = double(stdx::hmax(data.speed2_max));
        report.max_strain2 = double(stdx::hmax(data.strain2_max));
        report.max_wave_speed2 = double(stdx::hmax(data.wave2_max));
        report.max_viscosity = double(stdx::hmax(data.viscosity_max));
    }
    GatherReport total;
    for (const auto& report : reports) total.merge(report);
    return total;
}

}  // namespace continua
