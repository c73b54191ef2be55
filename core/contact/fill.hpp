// How much of the space at a node a continuum fills, and where its surface faces.
//     phi_i = sum_p V_p w_ip / h^d        g_i = sum_p V_p grad w_ip / h^d        V_p = V0 det F
// The gradient is that by x_p, so g points out of the body. Volume, never mass: heavy bodies would float (Nairn 2013).
#pragma once

#include "near.hpp"

namespace continua {

namespace detail {

// Weights and slopes of a batch of particles, per axis and node.
template <class T, int d, int degree>
struct FillWeights {
    static constexpr int K = degree + 1;
    alignas(64) T w[d][K][kBatch], slope[d][K][kBatch];

    void compute(const TilePlaces<T, d, degree>& places, T inv_dx) {
        using V = Lanes<T>;
        using Spline = BSpline<degree>;
        for (int a = 0; a < d; ++a)
            for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
                const V f = load<V>(places.from_first[a] + lane), kappa = V(inv_dx) * Spline::kappa(f);
                V weight[K];
                Spline::weights(f, weight);
                for (int k = 0; k < K; ++k) {
                    const V linear = V(T(Spline::share) * inv_dx) * weight[k] * (V(T(k)) - f);
                    store(weight[k], w[a][k] + lane);
                    store(V(linear + Spline::difference(k, kappa)), slope[a][k] + lane);
                }
            }
    }
    // What an axis contributes to the channels (g_x, g_y, g_z, phi) of its node k: the slope to its own, else the weight.
    Quad<T> factor(int a, int k, int j) const {
        const auto own = Quad<T>([](auto c) { return T(int(c)); }) == Quad<T>(T(a));
        return select(own, Quad<T>(slope[a][k][j]), Quad<T>(w[a][k][j]));
    }
};

// V0 det F / h^d of a batch.
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

// Adds value times the product of the factors of all axes to the nodes of a stencil; quads of `factor(axis, node)`.
template <class T, int d, int degree, class Factor>
inline void add_products(const StencilRows<d, degree>& rows, const Quad<T>& value, Factor&& factor, T* tile) {
    Quad<T> last[degree + 1], plane;
    for (int k = 0; k <= degree; ++k) last[k] = factor(d - 1, k);
    rows.each([&](int i) { plane = value * factor(0, i); },
              [&](int node, int j) {
                  const Quad<T> product = d == 2 ? plane : Quad<T>(plane * factor(1, j));
                  for (int k = 0; k <= degree; ++k) {
                      T* to = tile + 4 * (node + k);
                      Quad<T>(Quad<T>(to, stdx::element_aligned) + product * last[k]).copy_to(to, stdx::element_aligned);
                  }
              });
}

}  // namespace detail

// Adds records (g_x, g_y, g_z, phi) of the near particles of a tile to its nodes (tile nodes, 4).
template <class T, int d, int degree>
void add_fill(const FieldSet<T>& set, const NearTiles<T, d, degree>& near, int64_t k, const Lattice<T, d>& lattice, T* sums) {
    const T scale = T(1 / std::pow(double(lattice.dx), d));
    alignas(64) T F[d * d * kBatch], volume[kBatch];
    detail::FillWeights<T, d, degree> weights;
    near.for_batches(set, near.tiles[k], lattice, [&](const BatchIndices& batch, const TilePlaces<T, d, degree>& places) {
        batch.fetch(set.particles.F, set.particles.stride, d * d, F);
        batch.fetch(set.particles.volume, set.particles.stride, 1, volume);
        detail::current_volumes<T, d>(F, volume, scale, volume);
        weights.compute(places, lattice.inv_dx);
        for (int j = 0; j < batch.count; ++j) {
            const Quad<T> value([&](auto c) { return d == 2 && c == 2 ? T(0) : volume[j]; });
            detail::add_products<T, d, degree>({places, j, near.tiles[k].box}, value,
                                               [&](int a, int node) { return weights.factor(a, node, j); }, sums);
        }
    });
}

// The same for surfaces: records (sum w A n, sum w A) over points with normal n and area A.
template <class T, int d, int degree>
void add_normals(const FieldSet<T>& set, const NearTiles<T, d, degree>& near, int64_t k, const Lattice<T, d>& lattice, T* sums) {
    alignas(64) T n[3 * kBatch] = {};
    detail::FillWeights<T, d, degree> weights;
    near.for_batches(set, near.tiles[k], lattice, [&](const BatchIndices& batch, const TilePlaces<T, d, degree>& places) {
        batch.fetch(set.normals, set.particles.stride, d, n);
        weights.compute(places, lattice.inv_dx);
        for (int j = 0; j < batch.count; ++j) {
            const T x = n[j], y = n[kBatch + j], z = n[2 * kBatch + j], area = std::sqrt(x * x + y * y + z * z);
            const Quad<T> value([&](auto c) { return c == 0 ? x : c == 1 ? y : c == 2 ? z : area; });
            detail::add_products<T, d, degree>({places, j, near.tiles[k].box}, value,
                                               [&](int a, int node) { return Quad<T>(weights.w[a][node][j]); }, sums);
        }
    });
}

// What contact knows of one continuum at the nodes where it may meet others.
template <class T, int d, int degree>
struct FieldZone {
    AskedNodes<d> asked;
    std::vector<NearTiles<T, d, degree>> near;  // one per set of particles
    std::vector<T> fill;                        // (asked, 4): g, phi
    std::vector<T> surface;                     // (asked, 4): sum w A n, sum w A; empty without normals

    void scatter(const Field<T>& field, const Lattice<T, d>& lattice) {
        fill.assign(asked.count() * 4, T(0));
        if (field.any_normals()) surface.assign(asked.count() * 4, T(0));
        for (const FieldSet<T>& set : field.sets) add(set, near.emplace_back(set, asked, lattice), lattice);
    }
    const T* fill_at(int32_t slot, int node) const { return fill.data() + size_t(asked.at(slot, node)) * 4; }
    const T* surface_at(int32_t slot, int node) const {
        return surface.empty() ? nullptr : surface.data() + size_t(asked.at(slot, node)) * 4;
    }

  private:
    using Near = NearTiles<T, d, degree>;
    static constexpr int kTile = kTileNodes<d, degree> * 4, kChunk = 8;

    // Tiles first, then blocks of nodes, whose tiles come in the order of corners: the same bits for any number of threads.
    void add(const FieldSet<T>& set, Near& tiles, const Lattice<T, d>& lattice) {
        const size_t numbers = size_t(tiles.all_targets) * 4;
        const auto of_fill = std::make_unique_for_overwrite<T[]>(set.thin ? 0 : numbers);
        const auto of_surface = std::make_unique_for_overwrite<T[]>(set.normals ? numbers : 0);
        const int64_t chunks = (tiles.count() + kChunk - 1) / kChunk;
#pragma omp parallel for schedule(dynamic, 1) num_threads(team(tiles.count(), kBlocksPerThread))
        for (int64_t chunk = 0; chunk < chunks; ++chunk) {
            const int64_t end = std::min((chunk + 1) * kChunk, tiles.count());
            tiles.find(set, asked, chunk * kChunk, lattice);
            for (int64_t k = chunk * kChunk; k < end; ++k) {
                if (k + 1 < end) tiles.find(set, asked, k + 1, lattice), tiles.prefetch_tile(set, k + 1);
                if (!set.thin) keep(add_fill<T, d, degree>, set, tiles, k, lattice, of_fill.get());
                if (set.normals) keep(add_normals<T, d, degree>, set, tiles, k, lattice, of_surface.get());
            }
        }
        if (!set.thin) add_up(tiles, of_fill.get(), fill.data());
        if (set.normals) add_up(tiles, of_surface.get(), surface.data());
    }
    template <class AddParticles>
    static void keep(AddParticles&& add_particles, const FieldSet<T>& set, const Near& tiles, int64_t k,
                     const Lattice<T, d>& lattice, T* found) {
        alignas(64) T sums[kTile] = {};
        add_particles(set, tiles, k, lattice, sums);
        const auto& tile = tiles.tiles[k];
        for (int64_t t = tile.first_target; t < tile.first_target + tile.targets; ++t)
            std::copy_n(sums + 4 * tiles.targets[t].node, 4, found + 4 * t);
    }
    void add_up(const Near& tiles, const T* found, T* records) const {
        const int64_t blocks = int64_t(asked.keys.size());
#pragma omp parallel for schedule(static) num_threads(team(blocks, kBlocksPerThread))
        for (int64_t z = 0; z < blocks; ++z)
            for (int corner = 0; corner < kCorners<d>; ++corner) {
                const int64_t k = tiles.zone.sources[z * kCorners<d> + corner];
                if (k < 0) continue;
                const T* from = found + 4 * tiles.start[k * kCorners<d> + corner];
                for_bits(tiles.asked_at(asked, k, corner), [&](int node) {
                    T* to = records + 4 * size_t(asked.at(int32_t(z), node));
                    for (int c = 0; c < 4; ++c) to[c] += *from++;
                });
            }
    }
};

}  // namespace continua
