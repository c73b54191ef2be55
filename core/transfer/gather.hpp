// Grid to particles, and everything that happens to a particle while its velocity gradient is at hand:
// velocity and C, F update, plastic flow, position. Reads one set of arrays and writes another in block order, so a
// step can be discarded, and the arrays stay sorted. J15 section 2.2 step 8, 6.4.9-10, A.6.2.
#pragma once

#include "../math/transpose.hpp"
#include "deform.hpp"
#include "particles.hpp"

namespace continua {

template <class T>
struct GatherOptions {
    T dt;
    bool affine;                      // APIC: C from the grid; otherwise C stays as it is
    T flip;                           // FLIP fraction, used with velocity changes on nodes
    bool exponential;                 // F update by exp(dt L)
    T wrap_lower[3], wrap_length[3];  // periodic axes, length 0 = none
};

struct GatherReport {
    double max_speed2 = 0, max_wave_speed2 = 0, max_strain2 = 0, max_viscosity = 0;  // viscosity: kinematic
    int64_t halvings = 0;
    int64_t bad = -1;  // a particle (index into the input arrays) whose new state is not finite

    void merge(const GatherReport& o) {
        max_speed2 = std::max(max_speed2, o.max_speed2);
        max_wave_speed2 = std::max(max_wave_speed2, o.max_wave_speed2);
        max_strain2 = std::max(max_strain2, o.max_strain2);
        max_viscosity = std::max(max_viscosity, o.max_viscosity);
        halvings += o.halvings;
        if (bad < 0) bad = o.bad;
    }
};

namespace detail {

// Sums over the stencil as node quads: w v, per axis w r v (moment) and e v (correction, up to kappa).
template <class T, int d>
struct alignas(64) NodeSums {
    T value[4], moment[d][4], correction[d][4];
};

template <class Q>
struct PlaneSums {
    Q value = Q(0), moment_a = Q(0), moment_b = Q(0), correction_a = Q(0), correction_b = Q(0);
};

template <int G, bool moments, bool gradient, class T, int d, int degree>
inline PlaneSums<Pack<T, G>> gather_rows(const T* node, const PackWeights<G, T, d, degree>& st) {
    using Q = Pack<T, G>;
    constexpr int K = degree + 1, S = kSide + degree, A = d - 2, B = d - 1;
    PlaneSums<Q> sums;
    for (int a = 0; a < K; ++a) {
        Q value = Q(0), moment = Q(0), correction = Q(0);
        for (int b = 0; b < K; ++b) {
            const Q v = repeat<G>(node + 4 * (a * S + b));
            value += st.w[B][b] * v;
            if constexpr (moments) moment += st.wr[B][b] * v;
            if constexpr (gradient) correction += st.correction(B, b, v);
        }
        const Q w = st.w[A][a];
        sums.value += w * value;
        if constexpr (moments) {
            sums.moment_a += st.wr[A][a] * value;
            sums.moment_b += w * moment;
        }
        if constexpr (gradient) {
            sums.correction_a += st.correction(A, a, value);
            sums.correction_b += w * correction;
        }
    }
    return sums;
}

// Sums of particles j ... j + G - 1, which share their nodes.
template <int G, bool moments, bool gradient, class T, int d, int degree>
inline void gather_pack(const T* tile, const Stencils<T, d, degree>& stencils, int j, NodeSums<T, d>* out) {
    using Q = Pack<T, G>;
    constexpr int K = degree + 1, S = kSide + degree, stride = sizeof(NodeSums<T, d>) / sizeof(T);
    const PackWeights<G, T, d, degree> st(stencils, j);
    const T* node = tile + 4 * stencils.node[j];
    auto put = [](const Q& q, T* to) { store_records<G, T>(q, to, stride); };
    PlaneSums<Q> sums;
    if constexpr (d == 2) {
        sums = gather_rows<G, moments, gradient>(node, st);
    } else {
        Q moment = Q(0), correction = Q(0);
        for (int i = 0; i < K; ++i) {
            const PlaneSums<Q> plane = gather_rows<G, moments, gradient>(node + 4 * i * S * S, st);
            const Q w = st.w[0][i];
            sums.value += w * plane.value;
            if constexpr (moments) {
                moment += st.wr[0][i] * plane.value;
                sums.moment_a += w * plane.moment_a;
                sums.moment_b += w * plane.moment_b;
            }
            if constexpr (gradient) {
                correction += st.correction(0, i, plane.value);
                sums.correction_a += w * plane.correction_a;
                sums.correction_b += w * plane.correction_b;
            }
        }
        if constexpr (moments) put(moment, out[j].moment[0]);
        if constexpr (gradient) put(correction, out[j].correction[0]);
    }
    put(sums.value, out[j].value);
    if constexpr (moments) put(sums.moment_a, out[j].moment[d - 2]), put(sums.moment_b, out[j].moment[d - 1]);
    if constexpr (gradient)
        put(sums.correction_a, out[j].correction[d - 2]), put(sums.correction_b, out[j].correction[d - 1]);
}

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
template <class T, int d, int degree, bool mls>
struct GatherBatch {
    using V = Lanes<T>;
    // Degree 1 has C = sum v grad w (J15 5.3.3), which is the gradient itself.
    static constexpr bool kMoments = degree > 1, kGradient = !mls || degree == 1;
    alignas(64) T x[d * kBatch], v[d * kBatch], C[d * d * kBatch], F[d * d * kBatch];
    alignas(64) T mass[kBatch], volume[kBatch], p[kMaxParameters * kBatch], z[kMaxStates * kBatch];
    // grid velocity and its change, moments [axis][component], corrections [axis][component]
    alignas(64) T u[d * kBatch], change[d * kBatch], moment[d][d * kBatch], correction[d][d * kBatch];
    alignas(64) T grad_v[d * d * kBatch], tau[BatchFunctions<T, d>::kSym * kBatch];
    alignas(64) int32_t ids[kBatch];
    NodeSums<T, d> sums[kBatch] = {};
    V speed2_max = V(0), strain2_max = V(0), wave2_max = V(0), viscosity_max = V(0);
    int halvings = 0;

    void fetch(const BatchIndices& batch, const Particles<T>& in, bool flip) {
        batch.fetch(in.x, in.stride, d, x);
        batch.fetch(in.F, in.stride, d * d, F);
        batch.fetch(in.mass, mass);
        batch.fetch(in.volume, volume);
        batch.fetch(in.ids, ids);
        batch.fetch(in.state, in.stride, in.states, z);
        if (flip) batch.fetch(in.v, in.stride, d, v);
    }

    // Sums over the nodes of every particle, turned component-major. Padding repeats the last particle.
    void sum_nodes(const Stencils<T, d, degree>& stencils, int count, const T* tile, const T* change_tile) {
        constexpr int stride = sizeof(NodeSums<T, d>) / sizeof(T);
        if (change_tile) {
            stencils.for_packs(count, [&]<int G>(int j) { gather_pack<G, false, false>(change_tile, stencils, j, sums); });
            for (int j = count; j < kBatch; ++j) sums[j] = sums[count - 1];
            from_records<T, d>(sums->value, stride, change);
        }
        stencils.for_packs(count, [&]<int G>(int j) { gather_pack<G, kMoments, kGradient>(tile, stencils, j, sums); });
        for (int j = count; j < kBatch; ++j) sums[j] = sums[count - 1];
        from_records<T, d>(sums->value, stride, u);
        for (int a = 0; a < d; ++a) {
            if constexpr (kMoments) from_records<T, d>(sums->moment[a], stride, moment[a]);
            if constexpr (kGradient) from_records<T, d>(sums->correction[a], stride, correction[a]);
        }
    }

    // New x, v, C and trial F. Returns false when something is not finite.
    bool advance(const Stencils<T, d, degree>& stencils, const Lattice<T, d>& lattice, const GatherOptions<T>& options,
                 bool flip) {
        const V dt = V(options.dt), inv_dx = V(lattice.inv_dx);
        const V share = V(T(BSpline<degree>::share)) * inv_dx;
        V finite = V(0);
        for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
            Mat<V, d> grad, f;
            for (int a = 0; a < d; ++a) {
                const V kappa = load<V>(stencils.kappa[a] + lane) * inv_dx;
                for (int i = 0; i < d; ++i) {
                    V c = V(0);
                    if constexpr (kMoments) c = share * load<V>(moment[a] + i * kBatch + lane);
                    grad(i, a) = c;
                    if constexpr (kGradient) grad(i, a) += kappa * load<V>(correction[a] + i * kBatch + lane);
                    if constexpr (!kMoments) c = grad(i, a);
                    store(c, C + (i * d + a) * kBatch + lane);
                    store(grad(i, a), grad_v + (i * d + a) * kBatch + lane);
                    f(i, a) = load<V>(F + (i * d + a) * kBatch + lane);
                }
            }
            const Mat<V, d> step = dt * grad;
            strain2_max = max(strain2_max, V(dot(step, step)));
            f = (options.exponential ? exponential(step) : safe_map_lanes(step, halvings)) * f;
            for (int k = 0; k < d * d; ++k) {
                store(f.a[k], F + k * kBatch + lane);
                finite += V(0) * f.a[k];
            }
            finite += move(lane, dt, options, flip);
        }
        return all(finite == V(0));
    }

    // Positions follow the grid velocity; the particle's own velocity is PIC, APIC or a FLIP blend. J15 A.6.2.
    V move(int lane, const V& dt, const GatherOptions<T>& options, bool flip) {
        V speed2 = V(0), finite = V(0);
        for (int i = 0; i < d; ++i) {
            V velocity = load<V>(u + i * kBatch + lane);
            V moved = load<V>(x + i * kBatch + lane) + dt * velocity;
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

    void write(int64_t at, int count, const Particles<T>& out, bool affine) const {
        put_back(x, count, d, out.stride, out.x + at);
        put_back(v, count, d, out.stride, out.v + at);
        if (affine) put_back(C, count, d * d, out.stride, out.C + at);
        put_back(F, count, d * d, out.stride, out.F + at);
        put_back(z, count, out.states, out.stride, out.state + at);
        put_back(mass, count, 1, out.stride, out.mass + at);
        put_back(volume, count, 1, out.stride, out.volume + at);
        put_back(ids, count, 1, out.stride, out.ids + at);
        if (out.tau) put_back(tau, count, BatchFunctions<T, d>::kSym, out.stride, out.tau + at);
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
inline void prefetch_for_gather(const Particles<T>& in, int64_t from, const Particles<T>& out, int64_t to, bool flip, bool affine) {
    prefetch<false>(in.x, in.stride, d, from);
    prefetch<false>(in.F, in.stride, d * d, from);
    prefetch<false>(in.mass, 0, 1, from);
    prefetch<false>(in.volume, 0, 1, from);
    prefetch<false>(in.ids, 0, 1, from);
    prefetch<false>(in.state, in.stride, in.states, from);
    if (flip) prefetch<false>(in.v, in.stride, d, from);
    prefetch<true>(out.x, out.stride, d, to);
    prefetch<true>(out.v, out.stride, d, to);
    if (affine) prefetch<true>(out.C, out.stride, d * d, to);
    prefetch<true>(out.F, out.stride, d * d, to);
}

}  // namespace detail

// mls: the velocity gradient is C; otherwise the true B-spline gradient. `change`: node velocity increments for FLIP,
// or null. `material`: null leaves the trial F (its flow happens elsewhere).
template <class T, int d, int degree, bool mls>
GatherReport gather(const Particles<T>& in, const Particles<T>& out, const Parameters<T>& parameters,
                    const BatchFunctions<T, d>* material, const Lattice<T, d>& lattice, const Blocks& blocks,
                    const int32_t* reach, const T* velocity, const T* change, const GatherOptions<T>& options) {
    constexpr int kTile = kTileNodes<d, degree> * 4;
    std::vector<GatherReport> reports(blocks.count);
    const bool flip = change != nullptr;
#pragma omp parallel for schedule(dynamic, 1) num_threads(team(in.count))
    for (int64_t s = 0; s < blocks.count; ++s) {
        alignas(64) T tile[kTile], change_tile[kTile];
        read_tile<T, d, degree>(velocity, reach + s * kCorners<d>, tile);
        if (flip) read_tile<T, d, degree>(change, reach + s * kCorners<d>, change_tile);
        const BlockCoords<d> block = block_coords<d>(blocks.keys[s]);
        detail::GatherBatch<T, d, degree, mls> data;
        Stencils<T, d, degree> stencils;
        GatherReport& report = reports[s];
        for (int64_t begin = blocks.offsets[s]; begin < blocks.offsets[s + 1]; begin += kBatch) {
            const BatchIndices batch(blocks.order, begin, blocks.offsets[s + 1]);
            if (begin + kAhead < in.count)
                detail::prefetch_for_gather<T, d>(in, blocks.order[begin + kAhead], out, begin + kAhead, flip, options.affine);
            data.fetch(batch, in, flip);
            stencils.compute(data.x, lattice, block);
            data.sum_nodes(stencils, batch.count, tile, flip ? change_tile : nullptr);
            if (!data.advance(stencils, lattice, options, flip) && report.bad < 0) {
                const int j = data.first_bad(batch.count);
                if (j >= 0) report.bad = batch.at[j];
            }
            if (material) data.flow(batch, *material, parameters, options.dt);
            data.write(begin, batch.count, out, options.affine);
        }
        report.max_speed2 = double(stdx::hmax(data.speed2_max));
        report.max_strain2 = double(stdx::hmax(data.strain2_max));
        report.max_wave_speed2 = double(stdx::hmax(data.wave2_max));
        report.max_viscosity = double(stdx::hmax(data.viscosity_max));
        report.halvings = data.halvings;
    }
    GatherReport total;
    for (const auto& report : reports) total.merge(report);
    return total;
}

}  // namespace continua
