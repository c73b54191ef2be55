// Transfers to and from the faces of a MAC grid: every velocity component lives on its own grid, offset by half a cell along the
// other axes. J15 section 5.4, G20 section 2.5.
//
// The channels of a node are the components, so all face grids share one array: node I holds the lower faces of cell I, and
// its last channel the centre of the cell. Per axis there are only two kinds of weights, those of the own axis of a component and
// those half a cell off; a component takes the former along its own axis and the latter along the others. Their stencils
// start at most one node apart, so both are laid over K = degree + 2 nodes. Particles are sorted by the lattice of cell
// centres, whose stencils start first. Everything else is the collocated transfer.
#pragma once

#include "gather.hpp"
#include "scatter.hpp"

namespace continua {

template <class T, int d, int degree_>
struct FaceStencils {
    using Scalar = T;
    static constexpr int dimension = d, degree = degree_;
    static constexpr int K = degree + 2;
    static constexpr int S = kSide + degree + 1;
    static constexpr int kNode = 8, kTileDegree = degree + 1, kFactors = d;
    enum Kind { off_axis, own_axis };
    alignas(64) T w[2][d][K][kBatch], wr[2][d][K][kBatch], w2[2][d][degree == 3 ? K : 1][kBatch];
    alignas(64) T difference[d][K][kBatch];  // along the own axis; off it they start at the first node
    alignas(64) T kappa[2][d][kBatch], norm[2][d][kBatch], norm2[2][d][kBatch];
    int32_t node[kBatch], cell[kBatch];  // tile nodes: first of the stencil, and of the cell that holds the particle

    static Kind kind(int axis, int component) { return axis == component ? own_axis : off_axis; }
    const T* norm_of(int axis, int component) const { return norm[kind(axis, component)][axis]; }
    const T* norm2_of(int axis, int component) const { return norm2[kind(axis, component)][axis]; }
    const T* kappa_of(int axis, int component) const { return kappa[kind(axis, component)][axis]; }
    template <int G>
    auto scatter_weights(int j, bool quadratic) const;
    template <int G>
    auto gather_weights(int j, bool quadratic) const;

    // block: of the lattice of cell centres.
    void compute(const T* x, const Lattice<T, d>& lattice, const BlockCoords<d>& block, bool norms) {
        using V = Lanes<T>;
        using Spline = BSpline<degree>;
        alignas(64) T local[d][kBatch], holder[d][kBatch];
        for (int a = 0; a < d; ++a) {
            const V first_of_block = V(T(kSide * block[a])), span = V(T(kSide * lattice.period[a]));
            const V shift = V(T(Spline::shift)), half = V(T(0.5));
            for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
                V q = (load<V>(x + a * kBatch + lane) - V(lattice.origin[a])) * V(lattice.inv_dx) - first_of_block;
                // Across the seam: halfway between where block particles lie and where their images would.
                if (lattice.period[a]) q = select(q < shift + half + V(T(kSide / 2)) - half * span, V(q + span), q);
                // Rounding may disagree with the sort by one cell at a block face; the clamps keep stencils in the tile.
                const V first = min(max(V(stdx::floor(V(q - half - shift))), V(0)), V(T(kSide - 1)));
                const V own = min(max(V(stdx::floor(V(q - shift))), first), V(first + V(1)));
                store(first, local[a] + lane);
                store(min(max(V(stdx::floor(q)), V(0)), V(T(S - 1))), holder[a] + lane);
                patterns(off_axis, a, lane, V(q - half - first), V(0), norms);
                patterns(own_axis, a, lane, V(q - own), V(own - first), norms);
            }
        }
        tile_indices<d, S>(local, node);
        tile_indices<d, S>(holder, cell);
    }
    template <class Function>
    void for_packs(int count, Function&& function) const {
        for_equal_pairs<T>(node, count, function);
    }

  private:
    // f: distance from the first of degree + 1 nodes; `late` (0 or 1): how far that one is from the first of K.
    template <class V>
    void patterns(Kind kind, int a, int lane, const V& f, const V& late, bool norms) {
        using Spline = BSpline<degree>;
        V weight[degree + 1], moment[degree + 1], square[degree + 1], differences[degree + 1];
        Spline::weights(f, weight);
        V spread = V(0);
        for (int k = 0; k <= degree; ++k) {
            const V r = V(T(k)) - f, s = r * r - V(T(1) / T(3));
            moment[k] = weight[k] * r;
            square[k] = weight[k] * s;
            differences[k] = Spline::difference(k, V(1));
            spread += square[k] * s;
        }
        auto lay = [&](const V* from, T(&to)[K][kBatch]) {
            for (int k = 0; k < K; ++k) {
                const V early = k <= degree ? from[k] : V(0), later = k > 0 ? from[k - 1] : V(0);
                store(select(late > V(0), later, early), to[k] + lane);
            }
        };
        lay(weight, w[kind][a]);
        if (kind == own_axis) lay(differences, difference[a]);
        if constexpr (degree > 1) lay(moment, wr[kind][a]);
        store(Spline::kappa(f), kappa[kind][a] + lane);
        if (!norms) return;
        store(Spline::norm(weight), norm[kind][a] + lane);
        if constexpr (degree == 3) {
            lay(square, w2[kind][a]);
            store(spread, norm2[kind][a] + lane);
        }
    }
};

// Channel `axis` of every quad from `own`, the others from `off`.
template <int axis, class Q>
inline Q with_channel(const Q& off, const Q& own) {
    using T = typename Q::value_type;
    constexpr int n = int(Q::size());
    using Raw = typename detail::RawVector<T, n>::type;
    const Raw a = static_cast<Raw>(off), b = static_cast<Raw>(own);
    if constexpr (n == 4)
        return Q(__builtin_shufflevector(a, b, axis == 0 ? 4 : 0, axis == 1 ? 5 : 1, axis == 2 ? 6 : 2, 3));
    else
        return Q(__builtin_shufflevector(a, b, axis == 0 ? 8 : 0, axis == 1 ? 9 : 1, axis == 2 ? 10 : 2, 3,
                                         axis == 0 ? 12 : 4, axis == 1 ? 13 : 5, axis == 2 ? 14 : 6, 7));
}

// Weights of G particles that share their nodes, or (twice) of one particle for both its records.
template <int G, bool twice, class Stencil>
struct FaceWeights {
    using T = typename Stencil::Scalar;
    using Q = Pack<T, G>;
    static constexpr int d = Stencil::dimension, degree = Stencil::degree, K = Stencil::K;
    Q w[d][K], wr[d][K], w2[d][degree == 3 ? K : 1], D[d][K];

    FaceWeights(const Stencil& st, int j, bool quadratic) {
        static_for<d>([&](auto a) {
            // Off its own axis a component starts at the first node, so it has nothing on the last one.
            auto both = [&](const T(&off)[K][kBatch], const T(&own)[K][kBatch], Q* out) {
                for (int k = 0; k < K; ++k) out[k] = with_channel<a>(k <= degree ? one(off[k] + j) : Q(0), one(own[k] + j));
            };
            both(st.w[0][a], st.w[1][a], w[a]);
            if constexpr (degree > 1) both(st.wr[0][a], st.wr[1][a], wr[a]);
            if (degree == 1 || quadratic)
                for (int k = 0; k < K; ++k)
                    D[a][k] = with_channel<a>(k <= degree ? BSpline<degree>::difference(k, Q(1)) : Q(0),
                                              one(st.difference[a][k] + j));
            if constexpr (degree == 3)
                if (quadratic) both(st.w2[0][a], st.w2[1][a], w2[a]);
        });
    }
    static Q one(const T* value) {
        if constexpr (twice)
            return Q(*value);
        else
            return spread<G>(value);
    }
    template <int e>
    Q times(int axis, int k, const Q& t) const {
        if constexpr (e == 0)
            return w[axis][k] * t;
        else if constexpr (e == degree)
            return D[axis][k] * t;
        else if constexpr (e == 1)
            return wr[axis][k] * t;
        else
            return w2[axis][k] * t;
    }
};

template <class T, int d, int degree>
template <int G>
auto FaceStencils<T, d, degree>::scatter_weights(int j, bool quadratic) const {
    return FaceWeights<G, G == 2, FaceStencils>(*this, j, quadratic);
}
template <class T, int d, int degree>
template <int G>
auto FaceStencils<T, d, degree>::gather_weights(int j, bool quadratic) const {
    return FaceWeights<G, false, FaceStencils>(*this, j, quadratic);
}

// Where the particles of a chunk are on the faces. `node` is the first of all their nodes, that of the components off their axis;
// along its own axis a component starts there or one node later.
template <class T, int d, int degree_>
struct FacePlaces {
    static constexpr int degree = degree_, S = kSide + degree + 1;
    alignas(64) T off[d][kRow] = {}, own[d][kRow] = {}, late[d][kRow] = {};  // distances from the first node; late: 0 or 1
    alignas(64) int32_t node[kRow] = {}, cell[kRow] = {};                    // cell: that holds the particle

    void compute(const T* x, const Lattice<T, d>& lattice, const BlockCoords<d>& block, int at) {
        using V = Lanes<T>;
        using Spline = BSpline<degree>;
        alignas(64) T number[kBatch] = {}, holder[kBatch] = {};
        for (int a = 0; a < d; ++a) {
            const V first_of_block = V(T(kSide * block[a])), span = V(T(kSide * lattice.period[a]));
            const V shift = V(T(Spline::shift)), half = V(T(0.5));
            for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
                V q = (load<V>(x + a * kBatch + lane) - V(lattice.origin[a])) * V(lattice.inv_dx) - first_of_block;
                // Across the seam: halfway between where block particles lie and where their images would.
                if (lattice.period[a]) q = select(q < shift + half + V(T(kSide / 2)) - half * span, V(q + span), q);
                // Rounding may disagree with the sort by one cell at a block face; the clamps keep stencils in the tile.
                const V first = min(max(V(stdx::floor(V(q - half - shift))), V(0)), V(T(kSide - 1)));
                const V own_first = min(max(V(stdx::floor(V(q - shift))), first), V(first + V(1)));
                store(V(q - half - first), off[a] + at + lane);
                store(V(q - own_first), own[a] + at + lane);
                store(V(own_first - first), late[a] + at + lane);
                store(V(load<V>(number + lane) * V(T(S)) + first), number + lane);
                const V held = min(max(V(stdx::floor(q)), V(0)), V(T(S - 1)));
                store(V(load<V>(holder + lane) * V(T(S)) + held), holder + lane);
            }
        }
        for (int j = 0; j < kBatch; ++j) node[at + j] = int32_t(number[j]), cell[at + j] = int32_t(holder[j]);
    }
    const T* distance(int axis, int component) const { return axis == component ? own[axis] : off[axis]; }
};

// As BatchFactors, with factors that differ between a component's own axis and the others.
template <class T, int d, int degree_>
struct FaceFactors {
    using Scalar = T;
    static constexpr int dimension = d, degree = degree_;
    BatchFactors<T, d, degree> off, own;

    const BatchFactors<T, d, degree>& of(int axis, int component) const { return axis == component ? own : off; }
    const T* kappa_of(int axis, int component) const { return of(axis, component).kappa[axis]; }
    const T* norm_of(int axis, int component) const { return of(axis, component).norm[axis]; }
    const T* norm2_of(int axis, int component) const { return of(axis, component).norm2[axis]; }
    void compute(const FacePlaces<T, d, degree>& places, int at, bool norms) {
        off.compute_from(places.off, at, norms);
        own.compute_from(places.own, at, norms);
    }
};

// Velocities at faces: every component with weights of its own along its own axis, where it may start one node later, so that they
// are laid over one node more.
template <class T, int d, int degree_>
struct FaceGrid {
    using Scalar = T;
    static constexpr int dimension = d, degree = degree_, kReach = degree + 1;
    static constexpr int K = degree + 2, n = degree + 1, S = kSide + degree + 1;
    using Places = FacePlaces<T, d, degree>;
    using Factors = FaceFactors<T, d, degree>;
    using L = CellLanes<T>;
    using Polynomial = PolynomialAxis<L, degree, Linear::moment>;
    using Laid = WeightedAxis<L, K, degree>;

    static Laid laid(const Places& places, int axis, int p, bool quadratic) {
        const auto plain = weighted_axis<L, degree, Linear::moment>(load<L>(places.own[axis] + p), quadratic);
        const auto later = load<L>(places.late[axis] + p) > L(0);
        Laid axis_;
        auto lay = [&](const L* from, L* to) {
            for (int k = 0; k < K; ++k) to[k] = select(later, k > 0 ? from[k - 1] : L(0), k < n ? from[k] : L(0));
        };
        lay(plain.w, axis_.w), lay(plain.highest, axis_.highest);
        if constexpr (degree > 1) lay(plain.linear, axis_.linear);
        if constexpr (degree == 3)
            if (quadratic) lay(plain.square, axis_.square);
        return axis_;
    }
    static auto straight(const Places& places, int axis, int p, bool quadratic) {
        return weighted_axis<L, degree, Linear::moment>(load<L>(places.off[axis] + p), quadratic);
    }
    static Polynomial polynomial(const Places& places, int axis, int p, bool quadratic) {
        return Polynomial(load<L>(places.off[axis] + p), quadratic);
    }

    // Rows of nodes of one cell: as they are along the axes of a component, as coefficients along the others.
    struct Rows {
        static constexpr int K0 = d == 3 ? K : 1;
        alignas(64) T at[K0][K][kRowNumbers<K>];

        template <bool along_x, bool along_y>
        void read(const T* corner) {
            for_node_packs<T, K>([&]<int G>(int first) {
                using Q = Pack<T, G>;
                Q v[K0][K];
                for (int i = 0; i < K0; ++i) {
                    for (int j = 0; j < K; ++j)
                        v[i][j] = Q(corner + 4 * ((i * S * (d == 3) + j) * S + first), stdx::element_aligned);
                    if constexpr (along_y) Polynomial::transform(v[i]);
                }
                for (int j = 0; j < K; ++j) {
                    Q column[K0];
                    for (int i = 0; i < K0; ++i) column[i] = v[i][j];
                    if constexpr (along_x && d == 3) Polynomial::transform(column);
                    for (int i = 0; i < K0; ++i) column[i].copy_to(at[i][j] + 4 * first, stdx::element_aligned);
                }
            });
        }
    };

    template <ModeSet set>
    static void gather(const T* tile, const Places& places, int count, T (*sums)[d][kRow]) {
        constexpr bool quadratic = set == ModeSet::full;
        Rows rows[d];
        for_runs(places.node, count, [&](int begin, int end) {
            const T* corner = tile + 4 * places.node[begin];
            static_for<d>([&](auto c) { rows[c].template read<c != 0, c != d - 2>(corner); });
            for (int p = begin; p < end; p += lanes_of<L>())
                static_for<d>([&](auto c) {
                    auto axis = [&](auto a) {
                        if constexpr (a < 0)
                            return NoAxis<L>{};
                        else if constexpr (a == c)
                            return laid(places, a, p, quadratic);
                        else if constexpr (a == d - 1)
                            return straight(places, a, p, quadratic);
                        else
                            return polynomial(places, a, p, quadratic);
                    };
                    contract<set, d, degree, L>(
                        axis(std::integral_constant<int, d - 3>{}), axis(std::integral_constant<int, d - 2>{}),
                        axis(std::integral_constant<int, d - 1>{}),
                        [&](int i, int j, int k) { return L(rows[c].at[i][j][4 * k + c]); },
                        [&](int slot, const L& sum) { store(sum, sums[slot][c] + p); });
                });
        });
    }
    static void lightest(const T*, const Places&, int, T*) {}
    // The last channel, at centres of cells.
    static void crowd(const T* tile, const Places& places, int count, T* found) {
        Rows rows;
        for_runs(places.node, count, [&](int begin, int end) {
            rows.template read<true, true>(tile + 4 * places.node[begin]);
            for (int p = begin; p < end; p += lanes_of<L>()) {
                const auto x = [&] {
                    if constexpr (d == 3)
                        return polynomial(places, 0, p, false);
                    else
                        return NoAxis<L>{};
                }();
                contract<ModeSet::value, d, degree, L>(
                    x, polynomial(places, d - 2, p, false), straight(places, d - 1, p, false),
                    [&](int i, int j, int k) { return L(rows.at[i][j][4 * k + 3]); },
                    [&](int, const L& sum) { store(sum, found + p); });
            }
        });
    }
};

namespace detail {

// Adds particle j of a batch: momentum[j] and mass[j] side by side where registers are wide enough for both.
template <ModeSet set, class Stencil, class Record, class T>
inline void scatter_faces_of(T* tile, const Stencil& stencils, int j, const Record* momentum_and_mass) {
    if constexpr (kPacked<T> == 2) {
        scatter_pack<2, set>(tile, stencils, j, momentum_and_mass);
    } else {
        scatter_pack<1, set>(tile, stencils, j, momentum_and_mass);
        scatter_pack<1, ModeSet::value>(tile + 4, stencils, j, momentum_and_mass + 1);
    }
    tile[8 * stencils.cell[j] + 7] += T(1);
}

}  // namespace detail

// momentum, mass: tiles (blocks, tile nodes, 4), overwritten. The last channel of momentum is the mass that belongs to the cell,
// by the same splines; that of mass counts the particles in the cell.
template <class T, int d, int degree, ModeSet set>
void scatter_faces(const Particles<T>& particles, const Lattice<T, d>& lattice, const Blocks& blocks,
                   const ScatterOptions<T>& options, T* momentum, T* mass) {
    using Stencil = FaceStencils<T, d, degree>;
    using Record = ModeRecord<T, Modes<set, d, degree>::count>;
    constexpr int kNodes = kTileNodes<d, Stencil::kTileDegree>;
    const Parameters<T> none{};
    const BatchFunctions<T, d> nothing{};
#pragma omp parallel for schedule(dynamic, 1) num_threads(team(particles.count))
    for (int64_t s = 0; s < blocks.count; ++s) {
        alignas(64) T tile[kNodes * 8] = {};
        const BlockCoords<d> block = block_coords<d>(blocks.keys[s]);
        detail::ScatterBatch<T, d> data;
        Stencil stencils;
        Record records[kBatch] = {};
        struct alignas(64) {
            Record momentum, mass;
        } both[1] = {};
        for (int64_t begin = blocks.offsets[s]; begin < blocks.offsets[s + 1]; begin += kBatch) {
            const BatchIndices batch(blocks.order, begin, blocks.offsets[s + 1]);
            if (begin + kAhead < particles.count)
                detail::prefetch_for_scatter<T, d>(particles, blocks.order[begin + kAhead], options);
            data.fetch(batch, particles, none, nothing, options);
            stencils.compute(data.x, lattice, block, degree == 1 || options.high.count > 0);
            data.template coefficients<set>(stencils, lattice, options, records);
            if (options.high.count) data.template add_high_modes<set>(stencils, batch, particles, options.high, records);
            for (int j = 0; j < batch.count; ++j) {
                both->momentum = records[j];
                std::fill_n(both->mass.c[0], 3, data.mass[j]);
                detail::scatter_faces_of<set>(tile, stencils, j, &both->momentum);
            }
        }
        for (int i = 0; i < kNodes; ++i) {
            std::copy_n(tile + 8 * i, 4, momentum + (s * kNodes + i) * 4);
            std::copy_n(tile + 8 * i + 4, 4, mass + (s * kNodes + i) * 4);
        }
    }
}

}  // namespace continua
