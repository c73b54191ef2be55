// Particles to the faces of a MAC grid and the centres of its cells: the transpose of the gather in faces.hpp. Particles of a cell are
// the lanes of vectors, since few nodes of a component fill one; what they give to each face is summed lane by lane and, once per run
// of a cell, over the lanes. It takes the weights themselves, not polynomials: face masses near 0 must not be differences of large numbers.
#pragma once

#include "../math/lane_sums.hpp"
#include "faces.hpp"
#include "scatter.hpp"

namespace continua {

namespace detail {

// The patterns by which particles of a chunk give their modes to the nodes of an axis, see Modes, side by side for the lanes of a
// run: in rows, as structs of vectors were copied through memory. On the own axis of a component they are `laid` over one node more,
// where late particles start at the second.
template <class T, int degree, bool laid>
struct GivingAxis {
    static constexpr int plain = degree + 1, n = plain + laid;
    alignas(64) T w[n][kRow] = {}, linear[degree > 1 ? n : 1][kRow] = {}, square[degree == 3 ? n : 1][kRow] = {};
    alignas(64) T highest[laid ? n : 1][kRow] = {};

    // For one batch at distances from the first nodes.
    void compute(const T* distance, const T* late, int at) {
        using V = Lanes<T>;
        for (int lane = at; lane < at + kBatch; lane += lanes_of<V>()) {
            const V f = load<V>(distance + lane);
            const auto later = load<V>(late + lane) > V(0);
            auto put = [&](const V* pattern, T (*rows)[kRow]) {
                for (int k = 0; k < n; ++k)
                    store(!laid ? pattern[k] : select(later, k > 0 ? pattern[k - 1] : V(0), k < plain ? pattern[k] : V(0)),
                          rows[k] + lane);
            };
            V of[plain], with_r[plain];
            BSpline<degree>::weights(f, of);
            put(of, w);
            if constexpr (degree > 1) {
                for (int k = 0; k < plain; ++k) with_r[k] = of[k] * (V(T(k)) - f);
                put(with_r, linear);
            }
            if constexpr (degree == 3) {
                for (int k = 0; k < plain; ++k) with_r[k] = with_r[k] * (V(T(k)) - f) - of[k] * V(T(1) / T(3));
                put(with_r, square);
            }
            if constexpr (laid) {
                for (int k = 0; k < plain; ++k) of[k] = BSpline<degree>::difference(k, V(1));
                put(of, highest);
            }
        }
    }
    // Of particles p ...
    template <class L>
    struct Run {
        static constexpr int n = GivingAxis::n;
        const GivingAxis& axis;
        int p;

        template <int e>
        L at(int k) const {
            if constexpr (e == 0)
                return load<L>(axis.w[k] + p);
            else if constexpr (e == degree)
                return laid ? load<L>(axis.highest[laid ? k : 0] + p) : BSpline<degree>::difference(k, L(1));
            else if constexpr (e == 1)
                return load<L>(axis.linear[k] + p);
            else
                return load<L>(axis.square[k] + p);
        }
    };
};

// What modes give to all nodes, the transpose of `contract`: put(i, j, k, sum over e of x_e0(i) y_e1(j) z_e2(k) mode(e)).
template <ModeSet set, int d, int degree, class L, class X, class Y, class Z, class Put>
inline void expand(const X& x, const Y& y, const Z& z, const L* mode, Put&& put) {
    using M = Modes<set, d, degree>;
    constexpr int n = M::n;
    static_for<d == 3 ? X::n : 1>([&](auto i) {
        L plane[n][n], line[n];  // of nodes with number i, then i and j along the first axes
        static_for<n * n * (d == 3 ? n : 1)>([&](auto e) {
            constexpr int e0 = e / (n * n), e1 = e / n % n, e2 = e % n;
            if constexpr (M::has(e0, e1, e2)) {
                const L& own = mode[M::slot(e0, e1, e2)];
                if constexpr (d == 2)
                    plane[e1][e2] = own;
                else if constexpr (e0 == 0)
                    plane[e1][e2] = x.template at<e0>(i) * own;
                else
                    plane[e1][e2] += x.template at<e0>(i) * own;
            }
        });
        static_for<Y::n>([&](auto j) {
            static_for<n * n>([&](auto e) {
                constexpr int e1 = e / n, e2 = e % n;
                if constexpr (M::has(0, e1, e2)) {
                    if constexpr (e1 == 0)
                        line[e2] = y.template at<e1>(j) * plane[e1][e2];
                    else
                        line[e2] += y.template at<e1>(j) * plane[e1][e2];
                }
            });
            static_for<Z::n>([&](auto k) {
                L sum = z.template at<0>(k) * line[0];
                static_for<n>([&](auto e2) {
                    if constexpr (e2 > 0 && M::has(0, 0, e2)) sum += z.template at<e2>(k) * line[e2];
                });
                put(i, j, k, sum);
            });
        });
    });
}

// to += from, in few large pieces: GCC would take numbers one by one.
template <int count, class T>
inline void add_row(const T* from, T* to) {
    constexpr int piece = count >= 8 ? 8 : count >= 4 ? 4 : count >= 2 ? 2 : 1;
    using Piece = stdx::simd<T, stdx::simd_abi::deduce_t<T, piece>>;
    (Piece(to, stdx::element_aligned) + Piece(from, stdx::element_aligned)).copy_to(to, stdx::element_aligned);
    if constexpr (count > piece) add_row<count - piece>(from + piece, to + piece);
}

// What the particles of a chunk give to the faces. Every lane of a vector is a particle of one cell; their sums are taken once
// per run of particles that share it.
template <class T, int d, int degree, ModeSet set>
struct FaceScatter {
    using M = Modes<set, d, degree>;
    using Grid = FaceGrid<T, d, degree>;
    using L = CellLanes<T>;
    using Off = GivingAxis<T, degree, false>;
    using Own = GivingAxis<T, degree, true>;
    static constexpr int n = degree + 1, S = Grid::S, kLanes = lanes_of<L>();
    alignas(64) T mode[d][M::count][kRow] = {}, mass[kRow] = {};
    Off off[d];
    Own own[d];

    void place(const FacePlaces<T, d, degree>& places, int at) {
        for (int a = 0; a < d; ++a) {
            off[a].compute(places.off[a], places.late[a], at);
            own[a].compute(places.own[a], places.late[a], at);
        }
    }
    // C in units of dx, see ScatterBatch::node_gradient.
    void take(const ScatterBatch<T, d>& data, bool affine, int at) {
        using V = Lanes<T>;
        for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
            const V m = load<V>(data.mass + lane);
            store(m, mass + at + lane);
            for (int i = 0; i < d; ++i) {
                store(V(m * load<V>(data.v + i * kBatch + lane)), mode[i][0] + at + lane);
                for (int a = 0; a < d && affine; ++a)
                    store(V(m * load<V>(data.C + (i * d + a) * kBatch + lane)), mode[i][M::along(a, 1)] + at + lane);
            }
        }
    }
    void take_high_modes(const BatchIndices& batch, const Particles<T>& from, const HighModes& high,
                         const FaceFactors<T, d, degree>& factors, int at) {
        for (int h = 0; h < high.count; ++h) {
            const int* e = high.exponent[h];
            for (int i = 0; i < d; ++i) {
                T* to = mode[i][M::slot(e[0], e[1], e[2])] + at;
                for (int j = 0; j < kBatch; ++j)
                    to[j] = mass[at + j] * from.modes[(batch.at[j] * int64_t(high.count) + h) * 4 + i];
                for (int a = 0; a < d; ++a)
                    if (e[a + 3 - d] == degree)
                        for (int j = 0; j < kBatch; ++j) to[j] *= factors.norm_of(a, i)[j];
            }
        }
    }

    void add(const int32_t* node, int count, T (*tile)[kPaddedTile<d, degree + 1> / 2]) const {
        for_runs(node, count, [&](int begin, int end) {
            static_for<d + 1>([&](auto c) { add_component<c>(begin, end, tile[c] + 2 * node[begin]); });
        });
    }

  private:
    static constexpr int kCentres = d == 3 ? n * n * n : n * n, kFaces = kCentres / n * (n + 1);
    static constexpr int padded(int numbers) { return (numbers + kLanes - 1) / kLanes * kLanes; }
    // Nodes of a component along an axis.
    static constexpr int extent(int axis, int component) { return axis < 0 ? 1 : axis == component ? n + 1 : n; }

    // The particles of a run to pairs of momentum and mass at the faces of a component, or to masses at centres.
    template <int component>
    [[gnu::flatten]] void add_component(int begin, int end, T* corner) const {
        constexpr int channels = component < d ? 2 : 1, count = channels * (component < d ? kFaces : kCentres);
        L sums[padded(count)];
        std::fill(sums + count, sums + padded(count), L(0));
        give<component, channels, true>(begin, end, sums);
        for (int p = begin + kLanes; p < end; p += kLanes) give<component, channels, false>(p, end, sums);
        put<component, channels>(sums, corner);
    }
    // Particles p ... of a run to vectors of lanes, added to them but the `first` time.
    template <int component, int channels, bool first>
    void give(int p, int end, L* sums) const {
        const auto there = L([](auto lane) { return T(int(lane)); }) < L(T(end - p));
        auto held = [&](const T* row) { return select(there, load<L>(row + p), L(0)); };
        auto axis = [&](auto a) {
            if constexpr (a >= 0 && a == component)
                return typename Own::template Run<L>{own[a], p};
            else
                return typename Off::template Run<L>{off[a < 0 ? 0 : a], p};
        };
        auto all = [&]<ModeSet modes>(const L* from, L* to) {
            expand<modes, d, degree, L>(
                axis(std::integral_constant<int, d - 3>{}), axis(std::integral_constant<int, d - 2>{}),
                axis(std::integral_constant<int, d - 1>{}), from, [&](auto i, auto j, auto k, const L& sum) {
                    L& node = to[channels * ((i * extent(d - 2, component) + j) * extent(d - 1, component) + k)];
                    node = first ? sum : L(node + sum);
                });
        };
        if constexpr (component < d) {
            L from[M::count];
            for (int e = 0; e < M::count; ++e) from[e] = held(mode[component][e]);
            all.template operator()<set>(from, sums);
        }
        const L m = held(mass);
        all.template operator()<ModeSet::value>(&m, sums + channels - 1);
    }
    // The sums over lanes to the nodes of a component, or those of the centres.
    template <int component, int channels, int count>
    static void put(const L (&lanes)[count], T* corner) {
        constexpr int X = extent(d - 3, component), Y = extent(d - 2, component), Z = extent(d - 1, component);
        alignas(64) T sums[count];
        for (int k = 0; k < count; k += kLanes) store(lane_sums<L>(lanes + k), sums + k);
        for (int i = 0; i < X; ++i)
            for (int j = 0; j < Y; ++j) {
                T* row = corner + 2 * (i * S + j) * S;
                const T* own = sums + channels * (i * Y + j) * Z;
                if constexpr (channels == 2)
                    add_row<2 * Z>(own, row);
                else
                    for (int k = 0; k < Z; ++k) row[2 * k] += own[k];
            }
    }
};

// Adds the tiles of all components, pairs of momentum and mass, to the nodes; the last tile belongs to the centres of cells.
template <class T, int d, int overlap>
inline void add_face_tiles(const T (*tiles)[kPaddedTile<d, overlap> / 2], const int32_t* reach, T* momentum, T* mass) {
    static_corners<d>([&](auto corner) {
        const int64_t block = int64_t(reach[corner]) * kBlockNodes<d> * 4;
        for_shared_rows<d, overlap, corner>([&](int from, int to, auto count) {
            for (int k = 0; k < count; k += 2) {  // two nodes at a time; tiles are padded
                Quad<T> q[4] = {};
                for (int c = 0; c <= d; ++c) q[c < d ? c : 3] = Quad<T>(tiles[c] + 2 * (from + k), stdx::element_aligned);
                transpose(q);
                for (int part = 0; part < 4 && k + part / 2 < count; ++part) {
                    T* at = (part % 2 ? mass : momentum) + block + 4 * (to + k + part / 2);
                    (Quad<T>(at, stdx::element_aligned) + q[part]).copy_to(at, stdx::element_aligned);
                }
            }
        });
    });
}

}  // namespace detail

// momentum, mass (grid blocks, 4^d, 4): added to. The last channel of momentum is the mass that belongs to the cell, by the same
// splines; that of mass counts the particles in the cell.
template <class T, int d, int degree, ModeSet set>
void scatter_faces(const Particles<T>& particles, const Lattice<T, d>& lattice, const Blocks& blocks, const Tiles& tiles,
                   const ScatterOptions<T>& options, T* momentum, T* mass) {
    constexpr int overlap = degree + 1;
    const bool affine = options.affine != Affine::none;
    const bool norms = options.high.count > 0 || (degree == 1 && options.affine != Affine::moment);
    for_coloured(tiles.colours, particles.count, [&](int64_t s, int64_t next) {
        const Ahead ahead(blocks, s, next);
        alignas(64) T tile[d + 1][kPaddedTile<d, overlap> / 2] = {};
        const BlockCoords<d> block = block_coords<d>(blocks.keys[s]);
        detail::ScatterBatch<T, d> data;
        FacePlaces<T, d, degree> places;
        FaceFactors<T, d, degree> factors{};
        detail::FaceScatter<T, d, degree, set> scatter;
        for_chunks(blocks, s, [&](int64_t begin, int64_t end) {
            for (int at = 0; begin + at < end; at += kBatch) {
                const BatchIndices batch(blocks.order, begin + at, end);
                ahead.from(begin + at, [&](int64_t place) {
                    detail::prefetch_for_scatter<T, d>(particles, blocks.order[place], options);
                });
                data.fetch(batch, particles, Parameters<T>{}, BatchFunctions<T, d>{}, options);
                places.compute(data.x, lattice, block, at);
                if (norms) factors.compute(places, at, norms);
                if (affine) data.node_gradient(factors, lattice, options.affine);
                scatter.place(places, at);
                scatter.take(data, affine, at);
                if (options.high.count) scatter.take_high_modes(batch, particles, options.high, factors, at);
            }
            const int count = int(end - begin);
            scatter.add(places.node, count, tile);
            for (int j = 0; j < count; ++j) tile[d][2 * places.cell[j] + 1] += T(1);
        });
        detail::add_face_tiles<T, d, overlap>(tile, tiles.reach + s * kCorners<d>, momentum, mass);
    });
}

}  // namespace continua
