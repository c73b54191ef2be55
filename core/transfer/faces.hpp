// Transfers to and from the faces of a MAC grid: every velocity component lives on its own grid, offset by half a cell along the
// other axes. J15 section 5.4, G20 section 2.5.
//
// The channels of a node are the components, so all face grids share one array: node I holds the lower faces of cell I, and
// its last channel the centre of the cell. Per axis there are only two kinds of weights, those of the own axis of a component and
// those half a cell off; a component takes the former along its own axis and the latter along the others. Their stencils
// start at most one node apart, so both are laid over K = degree + 2 nodes. Particles are sorted by the lattice of cell
// centres, whose stencils start first.
#pragma once

#include "gather.hpp"

namespace continua {

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

}  // namespace continua
