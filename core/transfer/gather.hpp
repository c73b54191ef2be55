// Grid to particles, and everything that happens to a particle while its velocity gradient is at hand:
// velocity and C, F update, plastic flow, position. Reads one set of arrays and writes another in block order, so a
// step can be discarded, and the arrays stay sorted. J15 section 2.2 step 8, 6.4.9-10, A.6.2.
#pragma once

#include "deform.hpp"
#include "particles.hpp"

namespace continua {

template <class T>
struct GatherOptions {
    T dt;
    bool affine;       // APIC: C from the grid; otherwise C stays as it is
    T flip;            // FLIP fraction; needs `change` (velocity increments on nodes) when not 0
    bool exponential;  // F update by exp(dt L)
    T wrap_lower[3], wrap_length[3];  // periodic axes, length 0 = none
};

struct GatherReport {
    double max_speed2 = 0, max_wave_speed2 = 0, max_strain2 = 0;
    int64_t halvings = 0;
    int64_t bad = -1;  // a particle (index into the input arrays) whose new state is not finite

    void merge(const GatherReport& o) {
        max_speed2 = std::max(max_speed2, o.max_speed2);
        max_wave_speed2 = std::max(max_wave_speed2, o.max_wave_speed2);
        max_strain2 = std::max(max_strain2, o.max_strain2);
        halvings += o.halvings;
        if (bad < 0) bad = o.bad;
    }
};

namespace detail {

// Sums over the stencil: value sum w v, moments sum w v r and gradients sum v dw per axis, as node quads.
template <class T, int d>
struct alignas(64) NodeSums {
    T value[4], moment[d][4], gradient[d][4];
};

template <class T>
struct PlaneSums {
    Quad<T> value = T(0), moment_a = T(0), moment_b = T(0), gradient_a = T(0), gradient_b = T(0);
};

template <class T, int d, int degree, bool affine, bool gradient>
inline PlaneSums<T> gather_rows(const T* node, const Stencils<T, d, degree>& st, int j) {
    using Q = Quad<T>;
    constexpr int K = degree + 1, S = kSide + degree, A = d - 2, B = d - 1;
    PlaneSums<T> sums;
    for (int a = 0; a < K; ++a) {
        Q value = T(0), moment = T(0), slope = T(0);
        for (int b = 0; b < K; ++b) {
            const Q v = Q(node + 4 * (a * S + b), stdx::element_aligned);
            value += Q(st.w[B][b][j]) * v;
            if constexpr (affine) moment += Q(st.wr[B][b][j]) * v;
            if constexpr (gradient) slope += Q(st.dw[B][b][j]) * v;
        }
        const Q w = Q(st.w[A][a][j]);
        sums.value += w * value;
        if constexpr (affine) {
            sums.moment_a += Q(st.wr[A][a][j]) * value;
            sums.moment_b += w * moment;
        }
        if constexpr (gradient) {
            sums.gradient_a += Q(st.dw[A][a][j]) * value;
            sums.gradient_b += w * slope;
        }
    }
    return sums;
}

template <class T, int d, int degree, bool affine, bool gradient>
inline void gather_particle(const T* tile, const Stencils<T, d, degree>& st, int j, NodeSums<T, d>& out) {
    using Q = Quad<T>;
    constexpr int K = degree + 1, S = kSide + degree;
    const T* node = tile + 4 * st.node[j];
    auto put = [](const Q& q, T* to) { q.copy_to(to, stdx::element_aligned); };
    PlaneSums<T> sums;
    if constexpr (d == 2) {
        sums = gather_rows<T, d, degree, affine, gradient>(node, st, j);
    } else {
        Q moment = T(0), slope = T(0);
        for (int i = 0; i < K; ++i) {
            const PlaneSums<T> plane = gather_rows<T, d, degree, affine, gradient>(node + 4 * i * S * S, st, j);
            const Q w = Q(st.w[0][i][j]);
            sums.value += w * plane.value;
            if constexpr (affine) {
                moment += Q(st.wr[0][i][j]) * plane.value;
                sums.moment_a += w * plane.moment_a;
                sums.moment_b += w * plane.moment_b;
            }
            if constexpr (gradient) {
                slope += Q(st.dw[0][i][j]) * plane.value;
                sums.gradient_a += w * plane.gradient_a;
                sums.gradient_b += w * plane.gradient_b;
            }
        }
        if constexpr (affine) put(moment, out.moment[0]);
        if constexpr (gradient) put(slope, out.gradient[0]);
    }
    put(sums.value, out.value);
    if constexpr (affine) put(sums.moment_a, out.moment[d - 2]), put(sums.moment_b, out.moment[d - 1]);
    if constexpr (gradient) put(sums.gradient_a, out.gradient[d - 2]), put(sums.gradient_b, out.gradient[d - 1]);
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

}  // namespace detail

// kMls: velocity gradient := C (affine moments); otherwise the true B-spline gradient.
template <class T, int d, int degree, bool mls>
GatherReport gather(const Particles<T>& in, const Particles<T>& out, const Parameters<T>& parameters,
                    const BatchFunctions<T, d>* material, const Lattice<T, d>& lattice, const Blocks& blocks,
                    const int32_t* reach, const T* velocity, const T* change, const GatherOptions<T>& options) {
    using V = Lanes<T>;
    // Degree 1 has C = sum v grad w (J15 5.3.3), which is the gradient itself.
    constexpr bool kMoments = degree > 1, kGradient = !mls || degree == 1;
    constexpr int kTile = kTileNodes<d, degree> * 4;
    const V dt = V(options.dt), inv_dx = V(lattice.inv_dx);
    const V moment_scale = V(lattice.inv_dx * T(1.0 / BSpline<degree>::spread));
    std::vector<GatherReport> reports(blocks.count);
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t s = 0; s < blocks.count; ++s) {
        alignas(64) T tile[kTile], change_tile[kTile];
        read_tile<T, d, degree>(velocity, reach + s * kCorners<d>, tile);
        if (change) read_tile<T, d, degree>(change, reach + s * kCorners<d>, change_tile);
        const BlockCoords<d> block = block_coords<d>(blocks.keys[s]);
        alignas(64) T x[d * kBatch], v[d * kBatch], C[d * d * kBatch], F[d * d * kBatch];
        alignas(64) T mass[kBatch], volume[kBatch], p[kMaxParameters * kBatch], z[kMaxStates * kBatch], stiff[kBatch];
        int32_t ids[kBatch];
        Stencils<T, d, degree> stencils;
        detail::NodeSums<T, d> sums[kBatch] = {}, change_sums[kBatch] = {};
        GatherReport& report = reports[s];
        V speed2_max = V(0), strain2_max = V(0), wave2_max = V(0);
        int halvings = 0;
        for (int64_t begin = blocks.offsets[s]; begin < blocks.offsets[s + 1]; begin += kBatch) {
            const BatchIndices batch(blocks.order, begin, blocks.offsets[s + 1]);
            batch.fetch(in.x, in.stride, d, x);
            batch.fetch(in.F, in.stride, d * d, F);
            batch.fetch(in.mass, mass);
            batch.fetch(in.volume, volume);
            batch.fetch(in.ids, ids);
            batch.fetch(in.state, in.stride, in.states, z);
            if (change) batch.fetch(in.v, in.stride, d, v);
            stencils.compute(x, lattice, block);
            for (int j = 0; j < batch.count; ++j)
                detail::gather_particle<T, d, degree, kMoments, kGradient>(tile, stencils, j, sums[j]);
            for (int j = batch.count; j < kBatch; ++j) sums[j] = sums[batch.count - 1];
            if (change) {
                for (int j = 0; j < batch.count; ++j)
                    detail::gather_particle<T, d, degree, false, false>(change_tile, stencils, j, change_sums[j]);
                for (int j = batch.count; j < kBatch; ++j) change_sums[j] = change_sums[batch.count - 1];
            }
            V finite = V(0);
            for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
                auto lanes = [&](auto&& pick) { return V([&](auto k) { return pick(lane + int(k)); }); };
                Mat<V, d> grad, f;
                for (int i = 0; i < d; ++i)
                    for (int a = 0; a < d; ++a) {
                        V c = V(0);
                        if constexpr (kMoments) c = moment_scale * lanes([&](int j) { return sums[j].moment[a][i]; });
                        if constexpr (kGradient) {
                            grad(i, a) = inv_dx * lanes([&](int j) { return sums[j].gradient[a][i]; });
                            if constexpr (!kMoments) c = grad(i, a);
                        } else {
                            grad(i, a) = c;
                        }
                        store(c, C + (i * d + a) * kBatch + lane);
                        f(i, a) = load<V>(F + (i * d + a) * kBatch + lane);
                    }
                const Mat<V, d> step = dt * grad;
                strain2_max = max(strain2_max, V(dot(step, step)));
                f = (options.exponential ? exponential(step) : safe_map_lanes(step, halvings)) * f;
                V speed2 = V(0);
                for (int i = 0; i < d; ++i) {
                    V u = lanes([&](int j) { return sums[j].value[i]; });
                    V moved = load<V>(x + i * kBatch + lane) + dt * u;
                    if (change) {
                        const V kept = load<V>(v + i * kBatch + lane) + lanes([&](int j) { return change_sums[j].value[i]; });
                        u += V(options.flip) * (kept - u);
                    }
                    if (options.wrap_length[i] > T(0)) {
                        const V lower = V(options.wrap_lower[i]), length = V(options.wrap_length[i]);
                        moved = select(moved < lower, V(moved + length), moved);
                        moved = select(moved >= lower + length, V(moved - length), moved);
                    }
                    speed2 += u * u;
                    finite += V(0) * moved;
                    store(u, v + i * kBatch + lane);
                    store(moved, x + i * kBatch + lane);
                }
                speed2_max = max(speed2_max, speed2);
                finite += V(0) * speed2;
                for (int k = 0; k < d * d; ++k) {
                    store(f.a[k], F + k * kBatch + lane);
                    finite += V(0) * f.a[k];
                }
            }
            if (!all(finite == V(0)) && report.bad < 0)
                for (int j = 0; j < batch.count && report.bad < 0; ++j) {
                    T sum = T(0);
                    for (int k = 0; k < d; ++k) sum += T(0) * (x[k * kBatch + j] + v[k * kBatch + j]);
                    for (int k = 0; k < d * d; ++k) sum += T(0) * F[k * kBatch + j];
                    if (!(sum == T(0))) report.bad = batch.at[j];
                }
            if (material) {
                batch.fetch(parameters, p);
                if (material->flow) material->flow(F, p, z);
                material->modulus(p, z, stiff);
                for (int lane = 0; lane < kBatch; lane += lanes_of<V>())
                    wave2_max = max(wave2_max, V(load<V>(stiff + lane) * load<V>(volume + lane) / load<V>(mass + lane)));
            }
            const int n = batch.count;
            detail::put_back(x, n, d, out.stride, out.x + begin);
            detail::put_back(v, n, d, out.stride, out.v + begin);
            if (options.affine) detail::put_back(C, n, d * d, out.stride, out.C + begin);
            detail::put_back(F, n, d * d, out.stride, out.F + begin);
            detail::put_back(z, n, in.states, out.stride, out.state + begin);
            detail::put_back(mass, n, 1, out.stride, out.mass + begin);
            detail::put_back(volume, n, 1, out.stride, out.volume + begin);
            detail::put_back(ids, n, 1, out.stride, out.ids + begin);
        }
        report.max_speed2 = double(stdx::hmax(speed2_max));
        report.max_strain2 = double(stdx::hmax(strain2_max));
        report.max_wave_speed2 = double(stdx::hmax(wave2_max));
        report.halvings = halvings;
    }
    GatherReport total;
    for (const auto& report : reports) total.merge(report);
    return total;
}

}  // namespace continua
