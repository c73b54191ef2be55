// Chunks of particles of one block, and the runs of neighbours in them that share their cell, hence all their nodes.
#pragma once

#include "../math/transpose.hpp"
#include "particles.hpp"

namespace continua {

// Two batches: longer runs than in one, and everything still in the first-level cache.
inline constexpr int kChunk = 2 * kBatch;
// Rows of a chunk have room for lanes that start at its last particle.
inline constexpr int kRow = kChunk + kBatch;

// One vector of particles of a cell: cells rarely hold more than eight.
template <class T>
using CellLanes = stdx::simd<T, stdx::simd_abi::deduce_t<T, (lanes_of<Lanes<T>>() < 8 ? lanes_of<Lanes<T>>() : 8)>>;

// function(begin, end) for every run of equal numbers.
template <class Function>
inline void for_runs(const int32_t* node, int count, Function&& function) {
    for (int begin = 0; begin < count;) {
        int end = begin + 1;
        while (end < count && node[end] == node[begin]) ++end;
        function(begin, end);
        begin = end;
    }
}

// Where the particles of a chunk are on the nodes: per axis the distance f from the first node of their stencil in units of
// dx, and that node's number in the tile.
template <class T, int d, int degree>
struct Places {
    static constexpr int S = kSide + degree;
    alignas(64) T f[d][kRow] = {};
    alignas(64) int32_t node[kRow] = {};

    // x: component-major, one batch, placed from particle `at` of the chunk on.
    void compute(const T* x, const Lattice<T, d>& lattice, const BlockCoords<d>& block, int at) {
        using V = Lanes<T>;
        alignas(64) T number[kBatch] = {};
        for (int a = 0; a < d; ++a) {
            const V first_of_block = V(T(kSide * block[a])), span = V(T(kSide * lattice.period[a]));
            const V shift = V(T(BSpline<degree>::shift));
            for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
                V q = (load<V>(x + a * kBatch + lane) - V(lattice.origin[a])) * V(lattice.inv_dx) - first_of_block;
                // Across the seam: halfway between where block particles lie and where their images would.
                if (lattice.period[a]) q = select(q < shift + V(T(kSide / 2)) - V(0.5f) * span, V(q + span), q);
                // Rounding may disagree with the sort by one cell at a block face; the clamp keeps the stencil in the tile.
                const V first = min(max(V(stdx::floor(V(q - shift))), V(0)), V(T(kSide - 1)));
                store(V(q - first), f[a] + at + lane);
                store(V(load<V>(number + lane) * V(T(S)) + first), number + lane);
            }
        }
        for (int j = 0; j < kBatch; ++j) node[at + j] = int32_t(number[j]);
    }
};

// Factors of one batch that depend on where particles are in their cells, the same for all components: see BSpline.
template <class T, int d, int degree_>
struct BatchFactors {
    using Scalar = T;
    static constexpr int dimension = d, degree = degree_;
    alignas(64) T kappa[d][kBatch], norm[d][kBatch];

    const T* kappa_of(int axis, int) const { return kappa[axis]; }
    const T* norm_of(int axis, int) const { return norm[axis]; }

    void compute(const Places<T, d, degree>& places, int at, bool norms) { compute_from(places.f, at, norms); }
    void compute_from(const T (&distance)[d][kRow], int at, bool norms) {
        using V = Lanes<T>;
        using Spline = BSpline<degree>;
        for (int a = 0; a < d; ++a)
            for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
                const V f = load<V>(distance[a] + at + lane);
                store(Spline::kappa(f), kappa[a] + lane);
                if (!norms) continue;
                V w[degree + 1];
                Spline::weights(f, w);
                store(Spline::norm(w), norm[a] + lane);
            }
    }
};

// function(begin, end) for the chunks of a block. They end at multiples of kChunk, so that what is written in block order
// fills whole cache lines but for the ends of a block.
template <class Function>
inline void for_chunks(const Blocks& blocks, int64_t s, Function&& function) {
    for (int64_t begin = blocks.offsets[s]; begin < blocks.offsets[s + 1];) {
        const int64_t end = std::min((begin / kChunk + 1) * kChunk, blocks.offsets[s + 1]);
        function(begin, end);
        begin = end;
    }
}

}  // namespace continua
