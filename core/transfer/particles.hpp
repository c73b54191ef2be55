// Particle arrays as the kernels see them, and batches of particles in block order.
#pragma once

#include "../grid/nodes.hpp"
#include "../grid/sort.hpp"
#include "../materials/batch.hpp"
#include "../math/pack.hpp"

namespace continua {

inline constexpr int kMaxParameters = 12;
inline constexpr int kMaxStates = 16;  // history variables plus per-particle parameters

// Component-major arrays: component c of particle i is at [c * stride + i].
template <class T>
struct Particles {
    T *x, *v, *C, *F, *mass, *volume, *state;
    T* tau;    // Kirchhoff stress (upper triangle) where it is kept with the particles, else null
    T* modes;  // coefficients of the polynomial modes beyond C in m/s, (mode, component, particle); null without any
    int32_t* ids;
    int64_t stride;
    int64_t count;
    int states, mode_count;
};

// Material parameters, each uniform (step 0) or one per particle (step 1). Per-particle ones travel with the body.
template <class T>
struct Parameters {
    const T* at[kMaxParameters];
    int64_t step[kMaxParameters];
    int64_t stride;  // of the columns
    int count;
};

struct Blocks {
    const uint64_t* keys;
    const int64_t* offsets;
    const int32_t* order;
    int64_t count;
};

// Component-major arrays are more streams than the hardware prefetcher follows, so kernels ask for the cache lines of a
// batch two batches ahead: one line per component.
inline constexpr int kAhead = 4 * kBatch;

// Bytes that will not stay in any cache until they are read again.
inline constexpr int64_t kLargerThanCaches = int64_t(1) << 25;

template <class T>
inline void prefetch(const T* component, int64_t stride, int components, int64_t index) {
    for (int c = 0; c < components; ++c)
        for (int line = 0; line < kBatch; line += 64 / int(sizeof(T)))
            __builtin_prefetch(component + c * stride + index + line, 0, 3);
}

// Places in block order that come kAhead after those of a block at work: in it, or in the one that the same thread takes next.
struct Ahead {
    int64_t end, next, next_end;

    Ahead(const Blocks& blocks, int64_t s, int64_t next_block) : end(blocks.offsets[s + 1]), next(0), next_end(0) {
        if (next_block >= 0) next = blocks.offsets[next_block], next_end = blocks.offsets[next_block + 1];
    }
    // function(place) if there is one.
    template <class Function>
    void from(int64_t place, Function&& function) const {
        int64_t there = place + kAhead;
        if (there >= end) {
            there += next - end;
            if (there >= next_end) return;
        }
        function(there);
    }
};

// Up to kBatch particles of one block; missing ones repeat the last index.
struct BatchIndices {
    alignas(64) int32_t at[kBatch];
    int count = 0;
    bool in_a_row = false;  // one after the other in memory

    BatchIndices() = default;
    BatchIndices(const int32_t* order, int64_t begin, int64_t end) {
        count = int(std::min<int64_t>(kBatch, end - begin));
        int32_t apart = 0;
        if (count == kBatch) {
            std::memcpy(at, order + begin, sizeof at);
            for (int j = 0; j < kBatch; ++j) apart |= at[j] - at[0] - j;
        } else {
            for (int j = 0; j < kBatch; ++j) at[j] = order[begin + std::min(j, count - 1)];
            for (int j = 0; j < count; ++j) apart |= at[j] - at[0] - j;
        }
        in_a_row = apart == 0;
    }
    // Component-major columns of `stride` numbers.
    template <class T>
    void fetch(const T* from, int64_t stride, int components, T* to) const {
        if (in_a_row && at[0] + kBatch <= stride) {
            for (int c = 0; c < components; ++c) std::memcpy(to + c * kBatch, from + c * stride + at[0], sizeof(T) * kBatch);
            if (count < kBatch)
                for (int c = 0; c < components; ++c)
                    std::fill(to + c * kBatch + count, to + (c + 1) * kBatch, to[c * kBatch + count - 1]);
        } else {
            for (int c = 0; c < components; ++c)
                for (int j = 0; j < kBatch; ++j) to[c * kBatch + j] = from[c * stride + at[j]];
        }
    }
    template <class T>
    void fetch(const Parameters<T>& from, T* to) const {
        for (int c = 0; c < from.count; ++c) {
            if (from.step[c] == 0)
                std::fill(to + c * kBatch, to + (c + 1) * kBatch, *from.at[c]);
            else
                fetch(from.at[c], from.stride, 1, to + c * kBatch);
        }
    }
};

// The polynomial modes that particles carry beyond C, as exponents per axis (in 2D the first is 0; see Modes).
struct HighModes {
    static constexpr int kMost = 63;
    int count = 0;
    int exponent[kMost][3] = {};
};

// Tile nodes of a batch from their local coordinates.
template <int d, int S, class T>
inline void tile_indices(const T (*local)[kBatch], int32_t* node) {
    for (int j = 0; j < kBatch; ++j) {
        int32_t index = int32_t(local[0][j]);
        for (int a = 1; a < d; ++a) index = index * S + int32_t(local[a][j]);
        node[j] = index;
    }
}

// Call function<G>(j) for all particles, G of them at once where neighbours in the batch share their nodes.
template <class T, class Function>
inline void for_equal_pairs(const int32_t* node, int count, Function&& function) {
    for (int j = 0; j < count; ++j) {
        if constexpr (kPacked<T> == 2) {
            if (j + 1 < count && node[j] == node[j + 1]) {
                function.template operator()<2>(j++);
                continue;
            }
        }
        function.template operator()<1>(j);
    }
}

// G2P factor of the pattern with exponent e along an axis, in units of dx; P2G needs `norm` for e = degree only.
template <class V, class Stencil>
inline V gather_factor(const Stencil& stencils, int axis, int component, int e, int lane) {
    using T = typename Stencil::Scalar;
    constexpr int degree = Stencil::degree;
    if (e == 0) return V(1);
    if (e == degree) return V(T(BSpline<degree>::down));
    return e == 1 ? V(T(BSpline<degree>::share)) : V(V(1) / load<V>(stencils.norm2_of(axis, component) + lane));
}

// Interpolation of a batch: per axis the patterns of Modes (D is constant), the factor kappa of D in the gradient, and, where
// polynomial modes ask for it, the norms of the highest pattern and of pattern 2. `node` is the first tile node of each stencil.
//
// Kernels know a stencil by: Scalar, dimension, degree, K (nodes per axis), S (tile side), kNode (numbers per node while
// scattering), kTileDegree (how far tiles overlap), kFactors (1 if all velocity components share their weights, else d),
// compute, norm_of, norm2_of, kappa_of (per axis and component), for_packs, and weights of packs for both directions.
template <class T, int d, int degree_>
struct Stencils {
    using Scalar = T;
    static constexpr int dimension = d, degree = degree_;
    static constexpr int K = degree + 1;
    static constexpr int S = kSide + degree;
    static constexpr int kNode = 4 * kPacked<T>, kTileDegree = degree, kFactors = 1;
    alignas(64) T w[d][K][kBatch], wr[d][K][kBatch], w2[d][degree == 3 ? K : 1][kBatch];
    alignas(64) T kappa[d][kBatch], norm[d][kBatch], norm2[d][kBatch];
    int32_t node[kBatch];

    const T* norm_of(int axis, int) const { return norm[axis]; }
    const T* norm2_of(int axis, int) const { return norm2[axis]; }
    const T* kappa_of(int axis, int) const { return kappa[axis]; }
    template <int G>
    auto scatter_weights(int j, bool quadratic) const;
    template <int G>
    auto gather_weights(int j, bool quadratic) const;

    void compute(const T* x, const Lattice<T, d>& lattice, const BlockCoords<d>& block, bool norms) {
        using V = Lanes<T>;
        alignas(64) T local[d][kBatch];
        for (int a = 0; a < d; ++a) {
            const V first_of_block = V(T(kSide * block[a])), span = V(T(kSide * lattice.period[a]));
            const V shift = V(T(BSpline<degree>::shift));
            for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
                V q = (load<V>(x + a * kBatch + lane) - V(lattice.origin[a])) * V(lattice.inv_dx) - first_of_block;
                // Across the seam: halfway between where block particles lie and where their images would.
                if (lattice.period[a]) q = select(q < shift + V(T(kSide / 2)) - V(0.5f) * span, V(q + span), q);
                // Rounding may disagree with the sort by one cell at a block face; the clamp keeps the stencil in the tile.
                const V first = min(max(V(stdx::floor(V(q - shift))), V(0)), V(T(kSide - 1)));
                store(first, local[a] + lane);
                const V f = q - first;
                V weight[K];
                BSpline<degree>::weights(f, weight);
                for (int k = 0; k < K; ++k) {
                    store(weight[k], w[a][k] + lane);
                    store(V(weight[k] * (V(T(k)) - f)), wr[a][k] + lane);
                }
                store(BSpline<degree>::kappa(f), kappa[a] + lane);
                if (norms) orthogonal(a, lane, weight, f);
            }
        }
        tile_indices<d, S>(local, node);
    }
    // What polynomial modes need beyond w and w r: the quadratic pattern of cubic splines, and norms. G20 A.1.2
    template <class V>
    void orthogonal(int a, int lane, const V* weight, const V& f) {
        store(BSpline<degree>::norm(weight), norm[a] + lane);
        if constexpr (degree == 3) {
            V spread = V(0);
            for (int k = 0; k < K; ++k) {
                const V r = V(T(k)) - f, s = r * r - V(T(1) / T(3));
                store(V(weight[k] * s), w2[a][k] + lane);
                spread += weight[k] * s * s;
            }
            store(spread, norm2[a] + lane);
        }
    }
    template <class Function>
    void for_packs(int count, Function&& function) const {
        for_equal_pairs<T>(node, count, function);
    }
};

// The patterns of G particles with the same nodes, in registers or close by.
template <int G, class T, int d, int degree>
struct PackWeights {
    using Q = Pack<T, G>;
    static constexpr int K = degree + 1;
    Q w[d][K], wr[d][K], w2[d][degree == 3 ? K : 1];

    PackWeights(const Stencils<T, d, degree>& st, int j, bool quadratic) {
        for (int a = 0; a < d; ++a)
            for (int k = 0; k < K; ++k) {
                w[a][k] = spread<G>(st.w[a][k] + j);
                if constexpr (degree > 1) wr[a][k] = spread<G>(st.wr[a][k] + j);
                if constexpr (degree == 3)
                    if (quadratic) w2[a][k] = spread<G>(st.w2[a][k] + j);
            }
    }
    // Pattern e at node k of an axis, times t.
    template <int e>
    Q times(int axis, int k, const Q& t) const {
        if constexpr (e == 0)
            return w[axis][k] * t;
        else if constexpr (e == degree)
            return BSpline<degree>::difference(k, t);
        else if constexpr (e == 1)
            return wr[axis][k] * t;
        else
            return w2[axis][k] * t;
    }
};

template <class T, int d, int degree>
template <int G>
auto Stencils<T, d, degree>::scatter_weights(int j, bool quadratic) const {
    return PackWeights<G, T, d, degree>(*this, j, quadratic);
}
template <class T, int d, int degree>
template <int G>
auto Stencils<T, d, degree>::gather_weights(int j, bool quadratic) const {
    return PackWeights<G, T, d, degree>(*this, j, quadratic);
}

}  // namespace continua
