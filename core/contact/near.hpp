// What contact has to look at: the nodes of a continuum that it asks about, and the particles whose stencils hold some of
// them. Everything else of a continuum costs nothing.
#pragma once

#include <memory>

#include "fields.hpp"

namespace continua {

// function(i) for the bits of a set in turn.
template <class Function>
inline void for_bits(uint64_t bits, Function&& function) {
    for (; bits; bits &= bits - 1) function(__builtin_ctzll(bits));
}

// Nodes of one continuum that contact asks about, in the order of blocks and nodes.
template <int d>
struct AskedNodes {
    static_assert(kBlockNodes<d> <= 64);
    std::vector<uint64_t> keys;   // blocks with such nodes, sorted
    std::vector<uint64_t> nodes;  // (keys) bit i: node i of the block is one of them
    std::vector<int32_t> first;   // (keys + 1) number of the first one of each block

    void ask_in(const std::vector<uint64_t>& some) { keys.insert(keys.end(), some.begin(), some.end()); }
    void settle_blocks() {
        sort_unique(keys);
        nodes.assign(keys.size(), 0);
    }
    void ask(int32_t slot, int node) { nodes[slot] |= uint64_t(1) << node; }
    void count_nodes() {
        first.assign(1, 0);
        for (uint64_t some : nodes) first.push_back(first.back() + __builtin_popcountll(some));
    }
    size_t count() const { return first.empty() ? 0 : size_t(first.back()); }
    // Number of a node that is asked about.
    int32_t at(int32_t slot, int node) const {
        return first[slot] + __builtin_popcountll(nodes[slot] & ((uint64_t(1) << node) - 1));
    }
};

// Which nodes of the grid block at a corner of a tile belong to the tile, as bits, and which nodes of it they are.
template <int d, int degree>
struct CornerNodes {
    uint64_t shared[kCorners<d>] = {};
    uint16_t in_tile[kCorners<d>][kBlockNodes<d>] = {};
    uint64_t layer[d][kSide] = {};  // nodes with a coordinate i along an axis

    constexpr CornerNodes() {
        for (int corner = 0; corner < kCorners<d>; ++corner)
            for (int node = 0; node < kBlockNodes<d>; ++node) {
                bool shares = true;
                int at = 0;
                for (int a = 0, stride = kBlockNodes<d> / kSide; a < d; ++a, stride /= kSide) {
                    const int l = node / stride % kSide, beyond = corner >> (d - 1 - a) & 1;
                    shares &= !beyond || l < degree;
                    at = at * (kSide + degree) + l + beyond * kSide;
                    layer[a][l] |= uint64_t(1) << node;
                }
                if (shares) shared[corner] |= uint64_t(1) << node;
                in_tile[corner][node] = uint16_t(at);
            }
    }
};
template <int d, int degree>
inline constexpr CornerNodes<d, degree> kCornerNodes;

// A box of tile nodes.
template <int d, int degree>
struct TileBox {
    static constexpr int S = kSide + degree;
    int low[3] = {S, S, S}, high[3] = {-1, -1, -1};

    void add(int node) {
        int l[3] = {};
        for (int a = d - 1; a >= 0; --a, node /= S) l[a] = node % S;
        add(l);
    }
    void add(const int* l) {
        for (int a = 0; a < d; ++a) add(a, l[a]);
    }
    void add(int a, int l) { low[a] = std::min(low[a], l), high[a] = std::max(high[a], l); }
    bool empty() const { return high[0] < 0; }
    // Whether the stencils of some cells of a block lie beside the box along an axis.
    bool leaves_out(int a) const { return low[a] > degree || high[a] < kSide - 1; }
};

// Particles of a batch among the nodes of their tile: the first node of each stencil and the distance from it, in cells.
template <class T, int d, int degree>
struct TilePlaces {
    using V = Lanes<T>;
    alignas(64) T first[d][kBatch], from_first[d][kBatch];

    // Along one axis, from the first node of the block, in cells; as Stencils does it, so that both agree on the nodes.
    static V in_block(int a, const V& x, const Lattice<T, d>& lattice, const BlockCoords<d>& block) {
        const V q = (x - V(lattice.origin[a])) * V(lattice.inv_dx) - V(T(kSide * block[a]));
        if (!lattice.period[a]) return q;
        const V span = V(T(kSide * lattice.period[a]));
        return select(q < V(T(BSpline<degree>::shift)) + V(T(kSide / 2)) - V(0.5f) * span, V(q + span), q);
    }
    static V first_of(const V& q) {
        return min(max(V(stdx::floor(V(q - V(T(BSpline<degree>::shift))))), V(0)), V(T(kSide - 1)));
    }
    void find(int a, const T* x, const Lattice<T, d>& lattice, const BlockCoords<d>& block) {
        for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
            const V q = in_block(a, load<V>(x + lane), lattice, block), floor = first_of(q);
            store(floor, first[a] + lane);
            store(V(q - floor), from_first[a] + lane);
        }
    }
    void find(const BatchIndices& batch, const Particles<T>& particles, const Lattice<T, d>& lattice,
              const BlockCoords<d>& block) {
        alignas(64) T x[kBatch];
        for (int a = 0; a < d; ++a) {
            batch.fetch(particles.x + a * particles.stride, particles.stride, 1, x);
            find(a, x, lattice, block);
        }
    }
};

// The rows of one stencil that meet a box of the tile. Rows run along the last axis and are taken whole: what they add beside
// the box is never read.
template <int d, int degree>
struct StencilRows {
    static constexpr int S = kSide + degree;
    int begin[2] = {}, end[2] = {1, 1}, node = 0;  // [begin, end) along the other axes, from `node`, the first of the stencil

    template <class T>
    StencilRows(const TilePlaces<T, d, degree>& places, int j, const TileBox<d, degree>& box) {
        for (int a = 0; a < d; ++a) {
            const int first = int(places.first[a][j]);
            node = node * S + first;
            if (a == d - 1) break;
            begin[a] = std::max(0, box.low[a] - first);
            end[a] = std::min(degree, box.high[a] - first) + 1;
        }
    }
    // outer(offset along the first axis), then function(first tile node, offset along the second) for each row.
    template <class Outer, class Function>
    void each(Outer&& outer, Function&& function) const {
        for (int i = begin[0]; i < end[0]; ++i) {
            outer(i);
            if constexpr (d == 2)
                function(node + i * S, 0);
            else
                for (int j = begin[1]; j < end[1]; ++j) function(node + (i * S + j) * S, j);
        }
    }
};

// The tiles of a set of particles that hold nodes asked about, and the particles that reach them.
template <class T, int d, int degree>
struct NearTiles {
    struct Target {
        int32_t node, asked;  // node of the tile, and which of those asked about
    };
    struct Tile {
        int64_t block, zone;  // of particles; number in `zone`
        int64_t first_target, targets, first_particle, particles;
        TileBox<d, degree> box;  // around the targets
    };
    ZoneTiles zone;
    std::vector<Tile> tiles;             // those with targets, in the order of blocks
    std::vector<int64_t> start;          // (zone tiles, 2^d): first target in the block at a corner
    int64_t all_targets = 0;
    std::unique_ptr<Target[]> targets;   // of all tiles in turn: by corners, then by nodes
    std::unique_ptr<int32_t[]> near;     // numbers of particles, of all tiles in turn

    NearTiles(const FieldSet<T>& set, const AskedNodes<d>& asked, const Lattice<T, d>& lattice)
        : zone(ZoneTiles::of<T, d>(asked.keys, set.order, lattice)), start(size_t(zone.count()) * kCorners<d>) {
        int64_t most = 0;
        for (int64_t k = 0; k < zone.count(); ++k) {
            const int64_t first = all_targets;
            for (int corner = 0; corner < kCorners<d>; ++corner) {
                start[k * kCorners<d> + corner] = all_targets;
                all_targets += __builtin_popcountll(asked_at(asked, k, corner));
            }
            if (all_targets == first) continue;
            tiles.push_back({zone.blocks[k], k, first, all_targets - first, most, 0, {}});
            most += set.order.offsets[zone.blocks[k] + 1] - set.order.offsets[zone.blocks[k]];
        }
        targets = std::make_unique_for_overwrite<Target[]>(size_t(all_targets));
        near = std::make_unique_for_overwrite<int32_t[]>(size_t(most));
    }
    // Nodes of the block at a corner of a tile of the zone that are asked about and belong to the tile.
    uint64_t asked_at(const AskedNodes<d>& asked, int64_t k, int corner) const {
        const int32_t slot = zone.reach[k * kCorners<d> + corner];
        return slot < 0 ? 0 : asked.nodes[slot] & kCornerNodes<d, degree>.shared[corner];
    }
    int64_t count() const { return int64_t(tiles.size()); }
    // The near particles of a tile lie scattered in many columns: whoever goes through tiles asks for those of the next one,
    // so that they arrive meanwhile.
    void prefetch_tile(const FieldSet<T>& set, int64_t k) const {
        if (k >= count()) return;
        const int64_t begin = tiles[k].first_particle, end = begin + tiles[k].particles;
        for (int64_t i = begin; i < end; i += kBatch) {
            prefetch_particle(set, near[i]);
            prefetch_particle(set, near[std::min(i + kBatch, end) - 1]);
        }
    }
    // The targets and particles of one tile, to be found once before anybody asks for them.
    void find(const FieldSet<T>& set, const AskedNodes<d>& asked, int64_t k, const Lattice<T, d>& lattice) {
        Tile& tile = tiles[k];
        find_targets(asked, tile);
        const BlockCoords<d> block = block_coords<d>(set.order.keys[tile.block]);
        alignas(64) T inside[kBatch];
        int32_t* out = near.get() + tile.first_particle;
        int64_t found = 0;
        const int64_t end = set.order.offsets[tile.block + 1];
        for (int64_t begin = set.order.offsets[tile.block]; begin < end; begin += kBatch) {
            const BatchIndices batch(set.order.order, begin, end);
            if (!meet_box(set, batch, tile.box, lattice, block, inside)) continue;
            for (int j = 0; j < batch.count; ++j) {
                out[found] = batch.at[j];
                found += inside[j] > T(0);
            }
        }
        tile.particles = found;
    }
    // function(batch, places) for all near particles of a tile, with their places in it.
    template <class Function>
    void for_batches(const FieldSet<T>& set, const Tile& tile, const Lattice<T, d>& lattice, Function&& function) const {
        const BlockCoords<d> block = block_coords<d>(set.order.keys[tile.block]);
        TilePlaces<T, d, degree> places;
        const int64_t end = tile.first_particle + tile.particles;
        for (int64_t begin = tile.first_particle; begin < end; begin += kBatch) {
            const BatchIndices batch(near.get(), begin, end);
            places.find(batch, set.particles, lattice, block);
            function(batch, places);
        }
    }

  private:
    // Whose stencils meet a box: 1, else 0; whether there are any.
    static bool meet_box(const FieldSet<T>& set, const BatchIndices& batch, const TileBox<d, degree>& box,
                         const Lattice<T, d>& lattice, const BlockCoords<d>& block, T* inside) {
        using Places = TilePlaces<T, d, degree>;
        using V = Lanes<T>;
        alignas(64) T x[kBatch];
        std::fill_n(inside, kBatch, T(1));
        for (int a = 0; a < d; ++a) {
            if (!box.leaves_out(a)) continue;
            bool some = false;
            batch.fetch(set.particles.x + a * set.particles.stride, set.particles.stride, 1, x);
            for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
                const V first = Places::first_of(Places::in_block(a, load<V>(x + lane), lattice, block));
                const auto meets = first >= V(T(box.low[a] - degree)) && first <= V(T(box.high[a]));
                const V left = select(meets, load<V>(inside + lane), V(0));
                store(left, inside + lane);
                some |= any(left > V(0));
            }
            if (!some) return false;
        }
        return true;
    }
    static void prefetch_particle(const FieldSet<T>& set, int64_t i) {
        prefetch(set.particles.x, set.particles.stride, d, i);
        if (set.thin) return;
        prefetch(set.particles.volume, 0, 1, i);
        prefetch(set.particles.F, set.particles.stride, d * d, i);
    }
    void find_targets(const AskedNodes<d>& asked, Tile& tile) {
        constexpr auto& corners = kCornerNodes<d, degree>;
        Target* to = targets.get() + tile.first_target;
        for (int corner = 0; corner < kCorners<d>; ++corner) {
            const uint64_t some = asked_at(asked, tile.zone, corner);
            if (!some) continue;
            const int32_t slot = zone.reach[tile.zone * kCorners<d> + corner];
            for_bits(some, [&](int node) { *to++ = {corners.in_tile[corner][node], asked.at(slot, node)}; });
            for (int a = 0; a < d; ++a)
                for (int l = 0; l < kSide; ++l)
                    if (some & corners.layer[a][l]) tile.box.add(a, l + (corner >> (d - 1 - a) & 1) * kSide);
        }
    }
};

}  // namespace continua
