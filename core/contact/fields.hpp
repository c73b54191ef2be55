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
    bool walls = true;                      // whether obstacles act on its nodes
    double slack = -1;                      // overlap with obstacles [cells], in place of that of the law if not negative
    double recovery = 0, undone = 0;        // rate at which overlaps are undone [1/s], and the fastest [m/s]

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

// Numbers in a sorted list of some of its keys, sorted too.
inline std::vector<int32_t> find_keys(const std::vector<uint64_t>& keys, const std::vector<uint64_t>& some) {
    std::vector<int32_t> found;
    found.reserve(some.size());
    int32_t at = 0;
    for (uint64_t key : some) {
        while (keys[at] < key) ++at;
        found.push_back(at);
    }
    return found;
}

inline void sort_unique(std::vector<uint64_t>& keys) {
    if (!std::is_sorted(keys.begin(), keys.end())) std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

// The particle blocks whose tiles reach a zone (sorted block keys), and which of its blocks.
struct ZoneTiles {
    std::vector<int64_t> blocks;   // particle blocks, ascending
    std::vector<int32_t> reach;    // (blocks, corners), zone blocks, or -1
    std::vector<int32_t> sources;  // (zone blocks, corners), the other way round: numbers into `blocks`, or -1

    template <class T, int d>
    static ZoneTiles of(const std::vector<uint64_t>& zone, const Blocks& order, const Lattice<T, d>& lattice) {
        constexpr int kAll = kCorners<d>;
        ZoneTiles out;
        out.sources.assign(zone.size() * kAll, -1);
        if (zone.empty()) return out;
        KeyMap number(zone.size());  // from 1 on: 0 stands for none
        for (size_t z = 0; z < zone.size(); ++z) number.insert(zone[z], int32_t(z + 1));
        for (int64_t s = 0; s < order.count; ++s) {
            const BlockCoords<d> here = block_coords<d>(order.keys[s]);
            int32_t found[kAll], last = -1;
            for (int corner = 0; corner < kAll; ++corner) {
                found[corner] = number.find(morton_key<d>(lattice.neighbour(here, corner))) - 1;
                last = std::max(last, found[corner]);
            }
            if (last < 0) continue;
            for (int corner = 0; corner < kAll; ++corner)
                if (found[corner] >= 0) out.sources[size_t(found[corner]) * kAll + corner] = int32_t(out.blocks.size());
            out.reach.insert(out.reach.end(), found, found + kAll);
            out.blocks.push_back(s);
        }
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

}  // namespace continua
