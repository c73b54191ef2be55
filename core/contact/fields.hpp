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
        KeyMap number(zone.empty() ? 0 : size_t(order.count));  // from 1 on: 0 stands for none
        for (int64_t s = 0; s < order.count && !zone.empty(); ++s) number.insert(order.keys[s], int32_t(s + 1));
        for (size_t z = 0; z < zone.size(); ++z) {
            const BlockCoords<d> here = block_coords<d>(zone[z]);
            for (int corner = 0; corner < kCorners<d>; ++corner) {
                BlockCoords<d> b = here;
                for (int a = 0; a < d; ++a) b[a] = lattice.wrap(b[a] - ((corner >> (d - 1 - a)) & 1), a);
                if (std::any_of(b.begin(), b.end(), [](int32_t c) { return c < -kBias; })) continue;
                source[z * kCorners<d> + corner] = int64_t(number.find(morton_key<d>(b))) - 1;
            }
        }
        std::vector<int32_t> place(size_t(order.count), -1);  // of particle blocks in `blocks`
        for (int64_t s : source)
            if (s >= 0) place[s] = 0;
        for (int64_t s = 0; s < order.count; ++s) {
            if (place[s] < 0) continue;
            place[s] = int32_t(out.blocks.size());
            out.blocks.push_back(s);
        }
        out.sources.reserve(source.size());
        for (int64_t s : source) out.sources.push_back(s < 0 ? -1 : place[s]);
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

// Particles as the deformed cubes they once were, a batch of them: half their width along a unit vector n is r |F^T n|. Points
// without volume have none; they stand for the half cell around them.
template <class T, int d>
struct ParticleCubes {
    alignas(64) double r[kBatch] = {};  // half the side of the cube [m]
    alignas(64) T F[d * d * kBatch] = {};
    bool thin = false;

    void read(const FieldSet<T>& set, const BatchIndices& batch) {
        thin = set.thin;
        if (thin) return;
        alignas(64) T volume[kBatch];
        batch.fetch(set.particles.volume, set.particles.stride, 1, volume);
        batch.fetch(set.particles.F, set.particles.stride, d * d, F);
        for (int j = 0; j < kBatch; ++j) {  // most bodies have particles of one volume: roots are slow
            if (volume[j] != last_volume_) {
                last_volume_ = volume[j];
                last_r_ = 0.5 * (d == 2 ? std::sqrt(double(volume[j])) : std::cbrt(double(volume[j])));
            }
            r[j] = last_r_;
        }
    }
    // Distance across n from a node [m] up to which a particle tells where the surface is: half a diagonal.
    double half_diagonal(int j, double dx) const { return thin ? 0.5 * dx : r[j] * std::sqrt(d - 1.0); }
    // Lanes of particles from j on, along the normals n.
    template <class V>
    V half_widths(int j, const std::array<V, 3>& n) const {
        if (thin) return V(0);
        V sum(0);
        for (int b = 0; b < d; ++b) {
            V component(0);
            for (int a = 0; a < d; ++a) component += V(F + (a * d + b) * kBatch + j, stdx::element_aligned) * n[a];
            sum += component * component;
        }
        return load<V>(r + j) * sqrt(sum);
    }
    // One particle along lanes of normals.
    template <class V>
    V half_width(int j, const std::array<V, 3>& n) const {
        if (thin) return V(0);
        V sum(0);
        for (int b = 0; b < d; ++b) {
            V component(0);
            for (int a = 0; a < d; ++a) component += V(double(F[(a * d + b) * kBatch + j])) * n[a];
            sum += component * component;
        }
        return V(r[j]) * sqrt(sum);
    }

  private:
    T last_volume_ = T(-1);
    double last_r_ = 0;
};

// By how much a particle at off [cells] from a node lies farther beside it, across n, than `own` [m].
inline double beside(const Vec3& off, const Vec3& n, double own, double dx) {
    const double up = dot(off, n);
    return std::max(0.0, dx * std::sqrt(std::max(0.0, dot(off, off) - up * up)) - own);
}

}  // namespace continua
