// How much of the space at a node a continuum fills, and where its surface faces.
//     phi_i = sum_p V_p w_ip / h^d        g_i = sum_p V_p grad w_ip / h^d        V_p = V0 det F
// The gradient is that by x_p, so g points out of the body. Volume, never mass: heavy bodies would float (Nairn 2013).
#pragma once

#include "../transfer/scatter.hpp"
#include "fields.hpp"

namespace continua {

namespace detail {

// V0 det F / h^d of a batch, from the arrays of ScatterBatch.
template <class T, int d>
inline void current_volumes(const T* F, const T* volume, T scale, T* out) {
    using V = Lanes<T>;
    for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
        auto f = [&](int c) { return load<V>(F + c * kBatch + lane); };
        V det;
        if constexpr (d == 2)
            det = f(0) * f(3) - f(1) * f(2);
        else
            det = f(0) * (f(4) * f(8) - f(5) * f(7)) - f(1) * (f(3) * f(8) - f(5) * f(6)) + f(2) * (f(3) * f(7) - f(4) * f(6));
        store(V(det * load<V>(volume + lane) * V(scale)), out + lane);
    }
}

}  // namespace detail

// tiles (zone.count(), tile nodes, 4): records (g_x, g_y, g_z, phi), overwritten. It is the sum that carries momentum and
// stress to the grid, of unit pressure.
template <class T, int d, int degree>
void scatter_fill(const FieldSet<T>& set, const Lattice<T, d>& lattice, const ZoneTiles& zone, T* tiles) {
    constexpr int64_t kTile = int64_t(kTileNodes<d, degree>) * 4;
    constexpr ModeSet modes = ModeSet::gradient;
    const Particles<T>& particles = set.particles;
    const T scale = T(1 / std::pow(double(lattice.dx), d));
    const ScatterOptions<T> options{T(-1), true, true, true, Affine::none, {}};
#pragma omp parallel for schedule(dynamic, 1) num_threads(team(zone.count(), kBlocksPerThread))
    for (int64_t k = 0; k < zone.count(); ++k) {
        const int64_t s = zone.blocks[k];
        alignas(64) T tile[detail::kScatterTile<T, d, degree>] = {};
        const BlockCoords<d> block = block_coords<d>(set.order.keys[s]);
        detail::ScatterBatch<T, d> data;
        std::fill(std::begin(data.tau), std::end(data.tau), T(0));
        for (int a = 0; a < d; ++a) std::fill_n(data.tau + (a == 0 ? 0 : a == 1 ? d : 5) * kBatch, kBatch, T(1));
        Stencils<T, d, degree> stencils;
        ModeRecord<T, Modes<modes, d, degree>::count> records[kBatch] = {};
        for (int64_t begin = set.order.offsets[s]; begin < set.order.offsets[s + 1]; begin += kBatch) {
            const BatchIndices batch(set.order.order, begin, set.order.offsets[s + 1]);
            batch.fetch(particles.x, particles.stride, d, data.x);
            batch.fetch(particles.F, particles.stride, d * d, data.F);
            batch.fetch(particles.volume, particles.stride, 1, data.volume);
            detail::current_volumes<T, d>(data.F, data.volume, scale, data.mass);
            std::copy(data.mass, data.mass + kBatch, data.volume);
            stencils.compute(data.x, lattice, block, degree == 1);
            data.template coefficients<modes>(stencils, lattice, options, records);
            stencils.for_packs(batch.count, [&]<int G>(int j) { scatter_pack<G, modes>(tile, stencils, j, records + j); });
        }
        detail::fold_tile<T, kTileNodes<d, degree>>(tile, tiles + k * kTile);
    }
}

// The same for surfaces: tiles of records (sum w A n, sum w A) over points with normal n and area A.
template <class T, int d, int degree>
void scatter_normals(const FieldSet<T>& set, const Lattice<T, d>& lattice, const ZoneTiles& zone, T* tiles) {
    constexpr int64_t kTile = int64_t(kTileNodes<d, degree>) * 4;
    const Particles<T>& particles = set.particles;
#pragma omp parallel for schedule(dynamic, 1) num_threads(team(zone.count(), kBlocksPerThread))
    for (int64_t k = 0; k < zone.count(); ++k) {
        const int64_t s = zone.blocks[k];
        alignas(64) T tile[detail::kScatterTile<T, d, degree>] = {}, x[d * kBatch], n[3 * kBatch] = {}, area[kBatch];
        const BlockCoords<d> block = block_coords<d>(set.order.keys[s]);
        Stencils<T, d, degree> stencils;
        ModeRecord<T, 1> records[kBatch] = {};
        for (int64_t begin = set.order.offsets[s]; begin < set.order.offsets[s + 1]; begin += kBatch) {
            const BatchIndices batch(set.order.order, begin, set.order.offsets[s + 1]);
            batch.fetch(particles.x, particles.stride, d, x);
            batch.fetch(set.normals, particles.stride, d, n);
            for (int j = 0; j < kBatch; ++j)
                area[j] = std::sqrt(n[j] * n[j] + n[kBatch + j] * n[kBatch + j] + n[2 * kBatch + j] * n[2 * kBatch + j]);
            stencils.compute(x, lattice, block, false);
            to_records<T, 4>({n, n + kBatch, n + 2 * kBatch, area}, records->c[0], sizeof(ModeRecord<T, 1>) / sizeof(T));
            stencils.for_packs(
                batch.count, [&]<int G>(int j) { scatter_pack<G, ModeSet::value>(tile, stencils, j, records + j); });
        }
        detail::fold_tile<T, kTileNodes<d, degree>>(tile, tiles + k * kTile);
    }
}

// What contact knows of one continuum in the blocks where it may meet others.
template <class T, int d>
struct FieldZone {
    std::vector<uint64_t> keys;  // sorted
    std::vector<T> fill;         // (keys, 4^d, 4): g, phi
    std::vector<T> surface;      // (keys, 4^d, 4): sum w A n, sum w A; empty without normals

    template <int degree>
    void scatter(const Field<T>& field, const Lattice<T, d>& lattice) {
        const size_t numbers = keys.size() * size_t(kBlockNodes<d>) * 4;
        fill.assign(numbers, T(0));
        if (field.any_normals()) surface.assign(numbers, T(0));
        std::vector<T> tiles;
        for (const FieldSet<T>& set : field.sets) {
            if (set.thin && !set.normals) continue;
            const ZoneTiles zone = ZoneTiles::of<T, d>(keys, set.order, lattice);
            tiles.resize(size_t(zone.count()) * kTileNodes<d, degree> * 4);
            if (!set.thin) {
                scatter_fill<T, d, degree>(set, lattice, zone, tiles.data());
                collect_tiles<T, d, degree>(tiles.data(), zone.sources.data(), int64_t(keys.size()), true, fill.data());
            }
            if (set.normals) {
                scatter_normals<T, d, degree>(set, lattice, zone, tiles.data());
                collect_tiles<T, d, degree>(tiles.data(), zone.sources.data(), int64_t(keys.size()), true, surface.data());
            }
        }
    }
    const T* fill_at(int32_t slot, int node) const { return fill.data() + (size_t(slot) * kBlockNodes<d> + node) * 4; }
    const T* surface_at(int32_t slot, int node) const {
        return surface.empty() ? nullptr : surface.data() + (size_t(slot) * kBlockNodes<d> + node) * 4;
    }
};

}  // namespace continua
