// Continua that may meet: each has its own velocities on its own sparse grid, all on one lattice.
#pragma once

#include <vector>

#include "../grid/nodes.hpp"
#include "../math/vector.hpp"
#include "../transfer/particles.hpp"

namespace continua {

// Particles of one continuum, sorted into blocks.
template <class T>
struct FieldSet {
    Particles<T> particles;
    Blocks order;
    bool thin;         // without volume: vertices of meshes, sheets, strands
    bool two_sided;    // the normals do not tell inside from outside
    const T* normals;  // (d, stride): outward normals times their areas, or null
};

// nodes (blocks, 4^d, 4): velocities after forces, and mass.
template <class T>
struct Field {
    const uint64_t* keys;
    int64_t blocks;
    T* nodes;
    std::vector<FieldSet<T>> sets;
    const double* wall_friction = nullptr;  // of the rows of obstacles, in place of their own

    bool any_normals() const {
        return std::any_of(sets.begin(), sets.end(), [](const auto& set) { return set.normals != nullptr; });
    }
    bool two_sided() const {
        return std::any_of(sets.begin(), sets.end(), [](const auto& set) { return set.normals && set.two_sided; });
    }
    int32_t find(uint64_t key) const {
        const uint64_t* at = std::lower_bound(keys, keys + blocks, key);
        return at < keys + blocks && *at == key ? int32_t(at - keys) : -1;
    }
};

struct PairRule {
    int a, b;
    double friction, slack;  // slack in cells
};

template <int d, class T>
inline Vec3 vector_of(const T* record) {
    return {double(record[0]), double(record[1]), d == 3 ? double(record[2]) : 0.0};
}

// Number of a key in a sorted list, or -1.
inline int32_t find_key(const std::vector<uint64_t>& keys, uint64_t key) {
    const auto at = std::lower_bound(keys.begin(), keys.end(), key);
    return at != keys.end() && *at == key ? int32_t(at - keys.begin()) : -1;
}

inline void sort_unique(std::vector<uint64_t>& keys) {
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

// The particle blocks whose tiles reach a zone (sorted block keys), and for every zone block and corner which of them.
struct ZoneTiles {
    std::vector<int64_t> blocks;   // particle blocks, ascending
    std::vector<int32_t> sources;  // (zone blocks, corners), numbers into `blocks`, or -1

    template <class T, int d>
    static ZoneTiles of(const std::vector<uint64_t>& zone, const Blocks& order, const Lattice<T, d>& lattice) {
        ZoneTiles out;
        std::vector<int64_t> source(zone.size() * kCorners<d>, -1);
        for (size_t z = 0; z < zone.size(); ++z)
            for (int corner = 0; corner < kCorners<d>; ++corner) {
                BlockCoords<d> b = block_coords<d>(zone[z]);
                for (int a = 0; a < d; ++a) b[a] = lattice.wrap(b[a] - ((corner >> (d - 1 - a)) & 1), a);
                if (std::any_of(b.begin(), b.end(), [](int32_t c) { return c < -kBias; })) continue;
                const uint64_t key = morton_key<d>(b);
                const uint64_t* at = std::lower_bound(order.keys, order.keys + order.count, key);
                if (at < order.keys + order.count && *at == key) source[z * kCorners<d> + corner] = at - order.keys;
            }
        for (int64_t s : source)
            if (s >= 0) out.blocks.push_back(s);
        std::sort(out.blocks.begin(), out.blocks.end());
        out.blocks.erase(std::unique(out.blocks.begin(), out.blocks.end()), out.blocks.end());
        for (int64_t s : source)
            out.sources.push_back(
                s < 0 ? -1 : int32_t(std::lower_bound(out.blocks.begin(), out.blocks.end(), s) - out.blocks.begin()));
        return out;
    }
    int64_t count() const { return int64_t(blocks.size()); }
};

// Where block `key` begins: position of its first node.
template <class T, int d>
inline Vec3 first_node(const Lattice<T, d>& lattice, uint64_t key) {
    const BlockCoords<d> block = block_coords<d>(key);
    Vec3 x{0, 0, 0};
    for (int a = 0; a < d; ++a) x[a] = double(lattice.origin[a]) + double(lattice.dx) * kSide * block[a];
    return x;
}

// The box around the wanted nodes of a tile, so that most particles are passed over at once.
template <int d, int degree>
struct WantedBox {
    int low[3] = {kSide + degree, kSide + degree, kSide + degree}, high[3] = {-1, -1, -1};

    template <class Wanted>
    explicit WantedBox(Wanted&& wanted) {
        constexpr int S = kSide + degree;
        for (int node = 0; node < kTileNodes<d, degree>; ++node) {
            if (!wanted(node)) continue;
            for (int a = d - 1, rest = node; a >= 0; --a, rest /= S) {
                low[a] = std::min(low[a], rest % S);
                high[a] = std::max(high[a], rest % S);
            }
        }
    }
    bool empty() const { return high[0] < 0; }
};

// A particle among the nodes of its tile: the first node of its stencil and the distance from it, in cells.
template <class T, int d, int degree>
struct TilePlace {
    int first[3] = {};
    double from_first[3] = {};

    TilePlace(const Particles<T>& particles, int64_t i, const Lattice<T, d>& lattice, const BlockCoords<d>& block) {
        for (int a = 0; a < d; ++a) {  // as Stencils does it, so that both agree on the nodes
            T q = (particles.x[a * particles.stride + i] - lattice.origin[a]) * lattice.inv_dx - T(kSide * block[a]);
            const T shift = T(BSpline<degree>::shift), span = T(kSide * lattice.period[a]);
            if (lattice.period[a] && q < shift + T(kSide / 2) - T(0.5) * span) q += span;
            const T f = std::min(std::max(std::floor(q - shift), T(0)), T(kSide - 1));
            first[a] = int(f);
            from_first[a] = double(q) - double(f);
        }
    }
    // function(tile node, offset of the particle from it in cells) for the nodes of its stencil inside a box of the tile
    template <class Function>
    void for_nodes(const WantedBox<d, degree>& box, Function&& function) const {
        constexpr int S = kSide + degree;
        int begin[3] = {}, end[3] = {1, 1, 1};
        for (int a = 0; a < d; ++a) {
            begin[a] = std::max(0, box.low[a] - first[a]);
            end[a] = std::min(degree, box.high[a] - first[a]) + 1;
        }
        for (int i = begin[0]; i < end[0]; ++i)
            for (int j = begin[1]; j < end[1]; ++j) {
                const Vec3 off{from_first[0] - i, from_first[1] - j, 0};
                const int row = (first[0] + i) * S + first[1] + j;
                if constexpr (d == 2)
                    function(row, off);
                else
                    for (int k = begin[2]; k < end[2]; ++k)
                        function(row * S + first[2] + k, Vec3{off[0], off[1], from_first[2] - k});
            }
    }
};

// A particle as the deformed cube it once was: half its width along a unit vector n is r |F^T n|. Points without volume
// have none; they stand for the half cell around them.
template <int d>
struct ParticleCube {
    double r = -1, F[d * d];  // r < 0: not read yet

    template <class T>
    void read(const FieldSet<T>& set, int64_t i) {
        if (r >= 0) return;
        const double volume = set.particles.volume[i];
        r = 0.5 * (d == 2 ? std::sqrt(volume) : std::cbrt(volume));
        for (int c = 0; c < d * d; ++c) F[c] = set.particles.F[c * set.particles.stride + i];
    }
    // Distance across n from a node [m] up to which the particle tells where the surface is: half a diagonal.
    template <class T>
    double half_diagonal(const FieldSet<T>& set, int64_t i, double dx) {
        if (set.thin) return 0.5 * dx;
        read(set, i);
        return r * std::sqrt(d - 1.0);
    }
    template <class T>
    double half_width(const FieldSet<T>& set, int64_t i, const Vec3& n) {
        if (set.thin) return 0;
        read(set, i);
        double sum = 0;
        for (int b = 0; b < d; ++b) {
            double component = 0;
            for (int a = 0; a < d; ++a) component += F[a * d + b] * n[a];
            sum += component * component;
        }
        return r * std::sqrt(sum);
    }
};

// By how much a particle at off [cells] from a node lies farther beside it, across n, than `own` [m].
inline double beside(const Vec3& off, const Vec3& n, double own, double dx) {
    const double up = dot(off, n);
    return std::max(0.0, dx * std::sqrt(std::max(0.0, dot(off, off) - up * up)) - own);
}

}  // namespace continua
