// Symmetric rows  sum over faces of coupling (x_c - x_nb) + own x_c  in colour order, and the sums over neighbours.
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#include "poisson_blocks.hpp"

namespace continua {

// Couplings on lower faces and the rest of the diagonal, cells in plain order: what a level is made from.
template <class T, int d>
struct Faces {
    std::vector<T> lower;     // (blocks, d, cells), 0 where the lower neighbour is no unknown
    std::vector<double> own;  // (blocks, cells) couplings to known zeros and the given diagonal
};

// Rows ready for sweeps. Most blocks lie inside the liquid, where all couplings are the same number: it is all that is
// kept of them, since sweeps take as long as their numbers take to arrive. Sides of other rows: lower and upper along all
// axes but the last; then the two along the last axis, first the one whose neighbour has the same slot among its colour.
template <class T, int d>
struct Stencil {
    std::vector<T> uniform;        // (blocks) the coupling of all cells, or -1 where there are several
    std::vector<int32_t> slot;     // (blocks) where couplings are, if there are several
    std::vector<T> coupling;       // (slots, 2 colours, 2d sides, kHalf)
    std::vector<double> diagonal;  // (blocks, 2 colours, kHalf), 0 where there is no unknown
    std::vector<float> inverse;    // 1 / diagonal or 0
    std::vector<uint64_t> linked;  // (blocks) a bit for every cell, in plain order, that is coupled to another unknown
};

// Threads for a loop over blocks that does little with each cell.
template <int d>
inline int cell_team(int64_t blocks) {
    return team(blocks * kBlockNodes<d>, 16384);
}

// The coupling that all faces of the cells of a block have, or -1.
template <class T, int d>
T uniform_coupling(const LevelBlocks<d>& blocks, const Faces<T, d>& faces, int64_t b) {
    constexpr int N = kBlockNodes<d>;
    const T* lower = faces.lower.data() + b * d * N;
    auto differ = [c = lower[0]](const T* values, int count) {
        bool any = false;
        for (int i = 0; i < count; ++i) any |= values[i] != c;
        return any;
    };
    if (differ(lower, d * N)) return T(-1);
    for (int a = 0; a < d; ++a) {
        const int64_t next = blocks.around[b * 2 * d + 2 * a + 1];
        if (next == blocks.count()) return T(-1);
        bool any = false;
        const T* above = faces.lower.data() + (next * d + a) * N;
        for_cells(kEnds<d>[a][0], [&](int cell) { any |= above[cell] != lower[0]; });
        if (any) return T(-1);
    }
    return lower[0];
}

template <class T, int d>
void build_uniform_rows(const Faces<T, d>& faces, int64_t b, Stencil<T, d>& stencil) {
    constexpr int N = kBlockNodes<d>;
    const double both = 2 * double(stencil.uniform[b]), *own = faces.own.data() + b * N;
    stencil.linked[b] = both > 0 ? kAllCells<d> : 0;
    for (int place = 0; place < N; ++place) {
        double sum = own[kCell<d>[place]];
        for (int a = 0; a < d; ++a) sum += both;
        stencil.diagonal[b * N + place] = sum;
        stencil.inverse[b * N + place] = sum > 0 ? float(1 / sum) : 0.0f;
    }
}

template <class T, int d>
void build_rows(const LevelBlocks<d>& blocks, const Faces<T, d>& faces, int64_t b, Stencil<T, d>& stencil) {
    constexpr int N = kBlockNodes<d>, H = kHalf<d>;
    T* coupling = stencil.coupling.data() + int64_t(stencil.slot[b]) * 2 * d * N;
    double sum[N];
    std::copy_n(faces.own.data() + b * N, N, sum);
    uint64_t linked = 0;
    for (int a = 0; a < d; ++a) {
        constexpr T kNone[N] = {};
        const int stride = axis_stride<d>(a);
        const T* here = faces.lower.data() + (b * d + a) * N;
        const int64_t next = blocks.around[b * 2 * d + 2 * a + 1];
        const T* above = next < blocks.count() ? faces.lower.data() + (next * d + a) * N : kNone;
        for (int cell = 0; cell < N; ++cell) {
            const bool inside = cell / stride % kSide < kSide - 1;
            const T lower = here[cell], upper = inside ? here[cell + stride] : above[cell - (kSide - 1) * stride];
            sum[cell] += double(lower) + double(upper);
            linked |= uint64_t(lower > 0 || upper > 0) << cell;
            const int place = kPlace<d>[cell], row = place / H * 2 * d + 2 * a;
            const int swap = a == d - 1 && cell % 2 == 0;  // even cells have their upper neighbour beside them
            coupling[(row + swap) * H + place % H] = lower;
            coupling[(row + 1 - swap) * H + place % H] = upper;
        }
    }
    stencil.linked[b] = linked;
    for (int cell = 0; cell < N; ++cell) {
        stencil.diagonal[b * N + kPlace<d>[cell]] = sum[cell];
        stencil.inverse[b * N + kPlace<d>[cell]] = sum[cell] > 0 ? float(1 / sum[cell]) : 0.0f;
    }
}

template <class T, int d>
Stencil<T, d> build_stencil(const LevelBlocks<d>& blocks, const Faces<T, d>& faces) {
    const size_t count = size_t(blocks.count()), cells = count * kBlockNodes<d>;
    Stencil<T, d> stencil;
    stencil.uniform.resize(count);
    stencil.slot.resize(count);
    stencil.diagonal.resize(cells);
    stencil.inverse.resize(cells);
    stencil.linked.resize(count);
    const int threads = team(blocks.count(), kBlocksPerThread);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t b = 0; b < blocks.count(); ++b) stencil.uniform[b] = uniform_coupling(blocks, faces, b);
    int32_t slots = 0;
    for (size_t b = 0; b < count; ++b) stencil.slot[b] = stencil.uniform[b] < 0 ? slots++ : 0;
    stencil.coupling.resize(size_t(slots) * kBlockNodes<d> * 2 * d);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t b = 0; b < blocks.count(); ++b)
        if (stencil.uniform[b] < 0)
            build_rows(blocks, faces, b, stencil);
        else
            build_uniform_rows(faces, b, stencil);
    return stencil;
}

// Some cells of one colour in a plane of a block as one vector register: an even number of rows along the last axis, of
// two cells each.
template <class S>
struct Strip {
    static constexpr int width = 32 / sizeof(S);
    typedef S Values __attribute__((vector_size(32)));
    typedef std::conditional_t<sizeof(S) == 4, int32_t, int64_t> Entries __attribute__((vector_size(32)));

    template <class T>
    static Values load(const T* from) {
        if constexpr (std::is_same_v<S, T>) {
            Values values;
            std::memcpy(&values, from, sizeof values);
            return values;
        } else {
            typedef T Other __attribute__((vector_size(width * sizeof(T))));
            Other other;
            std::memcpy(&other, from, sizeof other);
            return __builtin_convertvector(other, Values);
        }
    }
    static void store(const Values& values, S* to) { std::memcpy(to, &values, sizeof values); }

    // entry(l) of two strips, those of the second counted from `width`.
    template <class Function>
    static Values pick(const Values& a, const Values& b, Function&& entry) {
        return [&]<int... l>(std::integer_sequence<int, l...>) {
            return __builtin_shuffle(a, b, Entries{entry(l)...});
        }(std::make_integer_sequence<int, width>());
    }
};

// f(place of a strip's first cell, sums over neighbours of coupling times x) for all strips of one colour of a block,
// with c(side, place in the half of a block) the couplings of a strip. x (blocks + 1, 2, kHalf)
template <int colour, class S, int d, class Coupling, class Function>
inline void for_strips_with(const LevelBlocks<d>& blocks, const S* x, int64_t b, Coupling&& c, Function&& f) {
    using V = typename Strip<S>::Values;
    constexpr int W = Strip<S>::width, H = kHalf<d>;
    const int32_t* around = blocks.around.data() + b * 2 * d;
    auto half = [&](int64_t block) { return x + block * kBlockNodes<d> + (1 - colour) * H; };
    const S *mine = half(b), *below = half(around[2 * d - 2]), *above = half(around[2 * d - 1]);
    const S *behind = half(around[2 * d - 4]), *ahead = half(around[2 * d - 3]);
    for (int s = 0; s < H; s += W) {
        auto at = [](const S* from) { return Strip<S>::load(from); };
        const V here = at(mine + s);
        // Along the last axis but one: the strips before and after, shifted by a row.
        const V back = Strip<S>::pick(at(s % kPlane ? mine + s - W : behind + s + kPlane - W), here,
                                      [](int l) { return W - 2 + l; });
        const V front = Strip<S>::pick(here, at((s + W) % kPlane ? mine + s + W : ahead + s + W - kPlane),
                                       [](int l) { return l + 2; });
        // Along the last axis one neighbour has the same slot; the other is the one before or after it, row by row.
        auto beside = [](int l) { return l % 2 ? W + l - 1 : l + 1; };
        const V before = Strip<S>::pick(at(below + s), here, beside);
        const V after = Strip<S>::pick(here, at(above + s), beside);
        const bool odd = (s / kPlane + colour) & 1;
        const V across = Strip<S>::pick(odd ? after : before, odd ? before : after,
                                        [](int l) { return l / 2 % 2 ? W + l : l; });
        V sum = c(2 * d - 4, s) * back + c(2 * d - 3, s) * front + c(2 * d - 2, s) * here + c(2 * d - 1, s) * across;
        if constexpr (d == 3)
            sum += c(0, s) * at(s >= kPlane ? mine + s - kPlane : half(around[0]) + s + H - kPlane) +
                   c(1, s) * at(s + kPlane < H ? mine + s + kPlane : half(around[1]) + s + kPlane - H);
        f(b * kBlockNodes<d> + colour * H + s, sum);
    }
}

template <int colour, class T, class S, int d, class Function>
inline void for_strips(const Stencil<T, d>& stencil, const LevelBlocks<d>& blocks, const S* x, int64_t b,
                       Function&& f) {
    constexpr int H = kHalf<d>;
    if (const S same = S(stencil.uniform[b]); same >= 0) {
        for_strips_with<colour>(blocks, x, b, [=](int, int) { return same; }, f);
        return;
    }
    const T* coupling = stencil.coupling.data() + (int64_t(stencil.slot[b]) * 2 + colour) * 2 * d * H;
    for_strips_with<colour>(blocks, x, b, [=](int side, int s) { return Strip<S>::load(coupling + side * H + s); }, f);
}

}  // namespace continua
