// Where two continua meet: the nodes that both have mass at, and there the normal and how far they are from filling it.
//     w = min(phi_a, phi_b) min(1, phi_a + phi_b)^16       H = w (g_a - g_b), smoothed twice by [1 2 1]/4 along every axis
//     n = H/|H| from a to b       k = (g_a - g_b).n / 2       gap = (1 - phi_a - phi_b)/k
// The difference of both volume gradients is antisymmetric, so one normal serves both and momentum is kept (Nairn 2013);
// min() keeps the nodes at the interface, the power mutes free edges, smoothing averages the steps of the lattices
// (measured in tests/contact/test_normals.py). The gap is exact to first order for flat faces.
#pragma once

#include "../grid/halo.hpp"
#include "fill.hpp"

namespace continua {

inline constexpr double kFaint = 1e-9;          // steepness [cells^-1] below which fill tells no distance
inline constexpr double kFilled = 1e-5;         // [cells] gaps that rounding may leave where a node is full
inline constexpr double kAgree = 0.5;           // of the area: surface normals that cancel more than this are not used

// One node of a pair. The gap is in metres; positive: still apart.
struct PairNode {
    Vec3 n{0, 0, 0};  // from a to b; zero: not in contact
    double gap_fill = std::numeric_limits<double>::infinity();
    double gap_extent = std::numeric_limits<double>::infinity();
    bool shared = false;        // both have mass here
    bool extent_only = false;   // a side has no volume or a surface of its own: fill tells nothing
    bool wanted = false;        // needs the extent of the particles

    double gap(double slack) const {
        if (extent_only) return gap_extent + slack;
        return gap_fill <= 0 ? gap_fill : std::min(gap_fill, gap_extent + slack);
    }
};

// The blocks that a pair of continua shares.
template <class T, int d>
struct PairZone {
    PairRule rule;
    std::vector<uint64_t> keys;               // sorted
    std::vector<int32_t> block_a, block_b;    // their numbers in the grids of a and b
    std::vector<PairNode> nodes;              // (keys, 4^d)

    PairZone(const PairRule& r, const Field<T>& a, const Field<T>& b) : rule(r) {
        int64_t i = 0, j = 0;
        while (i < a.blocks && j < b.blocks) {
            if (a.keys[i] < b.keys[j]) {
                ++i;
            } else if (b.keys[j] < a.keys[i]) {
                ++j;
            } else {
                add(a, b, i++, j++);
            }
        }
    }
    int64_t blocks() const { return int64_t(keys.size()); }
    PairNode& at(int64_t slot, int node) { return nodes[size_t(slot) * kBlockNodes<d> + node]; }
    const PairNode& at(int64_t slot, int node) const { return nodes[size_t(slot) * kBlockNodes<d> + node]; }

  private:
    void add(const Field<T>& a, const Field<T>& b, int64_t i, int64_t j) {
        const T *in_a = a.nodes + i * kBlockNodes<d> * 4, *in_b = b.nodes + j * kBlockNodes<d> * 4;
        PairNode found[kBlockNodes<d>];
        bool any = false;
        for (int k = 0; k < kBlockNodes<d>; ++k)
            any |= found[k].shared = in_a[4 * k + 3] > T(0) && in_b[4 * k + 3] > T(0);
        if (!any) return;
        keys.push_back(a.keys[i]);
        block_a.push_back(int32_t(i));
        block_b.push_back(int32_t(j));
        nodes.insert(nodes.end(), found, found + kBlockNodes<d>);
    }
};

namespace detail {

// Twice [1 2 1]/4 along one axis: `in` (outer, S, inner) has two more nodes on both sides than `out` (outer, kSide, inner).
inline void smooth_axis(const Vec3* in, int outer, int inner, Vec3* out) {
    constexpr int S = kSide + 4;
    for (int o = 0; o < outer; ++o)
        for (int j = 0; j < kSide; ++j)
            for (int i = 0; i < inner; ++i, ++out) {
                const Vec3* at = in + (o * S + j) * inner + i;
                for (int e = 0; e < 3; ++e)
                    (*out)[e] = 0.0625 * (at[0][e] + at[4 * inner][e]) + 0.25 * (at[inner][e] + at[3 * inner][e]) +
                                0.375 * at[2 * inner][e];
            }
}

// The nodes of a block and two more on every side, read from the blocks around it; missing blocks are zero.
template <int d>
class Surroundings {
  public:
    Surroundings() {
        for (int i = 0; i < kAll; ++i) {
            block_[i] = node_[i] = 0;
            for (int a = 0, stride = kAll / S; a < d; ++a, stride /= S) {
                const int at = i / stride % S + kSide - 2;  // counted from the block below
                block_[i] = uint8_t(block_[i] * 3 + at / kSide);
                node_[i] = uint8_t(node_[i] * kSide + at % kSide);
            }
        }
    }
    // out (4^d): `values` (blocks, 4^d) smoothed.
    void smooth(const std::vector<Vec3>& values, const int32_t* neighbours, Vec3* out) const {
        Vec3 all[kAll], once[kAll / 2], twice[kAll / 4];
        for (int i = 0; i < kAll; ++i) {
            const int32_t b = neighbours[block_[i]];
            all[i] = b >= 0 ? values[size_t(b) * kBlockNodes<d> + node_[i]] : Vec3{0, 0, 0};
        }
        smooth_axis(all, 1, kAll / S, once);
        if constexpr (d == 2) {
            smooth_axis(once, kSide, 1, out);
        } else {
            smooth_axis(once, kSide, S, twice);
            smooth_axis(twice, kSide * kSide, 1, out);
        }
    }

  private:
    static constexpr int S = kSide + 4, kAll = d == 2 ? S * S : S * S * S;
    uint8_t block_[kAll], node_[kAll];
};

inline bool normalise(Vec3& v) {
    const double size = norm(v);
    if (!(size > 0)) return false;
    for (double& c : v) c /= size;
    return true;
}

// A continuum at a node, as its volume or its surface tells. By the theorem of Gauss sum V grad w = sum A n w: a surface
// gives the same outward gradient as the volume inside would.
struct Side {
    Vec3 g{0, 0, 0};      // [m^-1]
    double presence = 0;  // phi, or for a surface its counterpart sum A w / h^(d-1)
    bool surface = false;

    template <class T, int d, int degree>
    static Side of(const FieldZone<T, d, degree>& zone, int32_t slot, int node, double dx) {
        Side side;
        const T *fill = zone.fill_at(slot, node), *own = zone.surface_at(slot, node);
        side.g = vector_of<d>(fill);
        side.presence = double(fill[3]);
        if (!own || !(own[3] > T(0))) return side;
        const Vec3 sum = vector_of<d>(own);
        if (norm(sum) < kAgree * double(own[3])) return side;
        const double scale = std::pow(dx, -d);
        side.surface = true;
        side.presence = scale * dx * double(own[3]);
        for (int e = 0; e < 3; ++e) side.g[e] = scale * sum[e];
        return side;
    }
};

// Nodes at the interface count, those at free edges do not.
inline double interface_weight(const Side& a, const Side& b) {
    if (!(a.presence > 0 && b.presence > 0)) return std::max(a.presence, b.presence);
    double full = a.surface || b.surface ? 1 : std::min(1.0, a.presence + b.presence);
    for (int square = 0; square < 4; ++square) full *= full;
    return std::min(a.presence, b.presence) * full;
}

}  // namespace detail

// Which bodies of a pair are sheets: the normals of a sheet may point to either side.
struct TwoSided {
    bool a, b;
};

// H of the whole zone before smoothing. A body without volume and surface has no gradient: the other one's decides then.
// A sheet is turned against the other body; two sheets against each other leave the sign of the whole open.
template <class T, int d, int degree>
std::vector<Vec3> interface_vectors(PairZone<T, d>& pair, const FieldZone<T, d, degree>& a,
                                    const FieldZone<T, d, degree>& b, double dx, TwoSided two_sided) {
    std::vector<Vec3> H(pair.nodes.size(), Vec3{0, 0, 0});
    for (int64_t z = 0; z < pair.blocks(); ++z) {
        const int32_t in_a = find_key(a.asked.keys, pair.keys[z]), in_b = find_key(b.asked.keys, pair.keys[z]);
        for (int i = 0; i < kBlockNodes<d>; ++i) {
            PairNode& node = pair.at(z, i);
            if (!node.shared) continue;
            detail::Side of_a = detail::Side::of(a, in_a, i, dx), of_b = detail::Side::of(b, in_b, i, dx);
            node.extent_only = of_a.surface || of_b.surface || !(of_a.presence > 0 && of_b.presence > 0);
            const bool turn_a = two_sided.a && of_a.surface && !(two_sided.b && of_b.surface);
            if (dot(of_a.g, of_b.g) > 0 && (turn_a || (two_sided.b && of_b.surface)))
                for (double& c : turn_a ? of_a.g : of_b.g) c = -c;
            const double weight = detail::interface_weight(of_a, of_b);
            for (int e = 0; e < 3; ++e) H[z * kBlockNodes<d> + i][e] = weight * (of_a.g[e] - of_b.g[e]);
        }
    }
    return H;
}

// Normals and filled gaps of all nodes of a pair.
template <class T, int d, int degree>
void find_normals(PairZone<T, d>& pair, const FieldZone<T, d, degree>& a, const FieldZone<T, d, degree>& b,
                  const Lattice<T, d>& lattice, TwoSided two_sided) {
    const int64_t blocks = pair.blocks();
    std::vector<int32_t> neighbours(size_t(blocks) * kNeighbours<d>);
    neighbour_table<T, d>(pair.keys.data(), blocks, lattice, neighbours.data());
    const std::vector<Vec3> H = interface_vectors(pair, a, b, double(lattice.dx), two_sided);
    static const detail::Surroundings<d> surroundings;
#pragma omp parallel for schedule(dynamic, 16) num_threads(team(blocks, kBlocksPerThread))
    for (int64_t z = 0; z < blocks; ++z) {
        Vec3 smoothed[kBlockNodes<d>];
        surroundings.smooth(H, neighbours.data() + z * kNeighbours<d>, smoothed);
        const int32_t in_a = find_key(a.asked.keys, pair.keys[z]), in_b = find_key(b.asked.keys, pair.keys[z]);
        for (int i = 0; i < kBlockNodes<d>; ++i) {
            PairNode& node = pair.at(z, i);
            if (!node.shared) continue;
            const T *fa = a.fill_at(in_a, i), *fb = b.fill_at(in_b, i);
            node.n = smoothed[i];
            if (!detail::normalise(node.n) || node.extent_only) continue;
            const double k = 0.5 * (dot(vector_of<d>(fa), node.n) - dot(vector_of<d>(fb), node.n));
            const double empty = 1 - double(fa[3]) - double(fb[3]);
            if (k * double(lattice.dx) > kFaint)
                node.gap_fill = empty / k;
            else if (empty <= 0)
                node.gap_fill = 0;
        }
    }
}

}  // namespace continua
