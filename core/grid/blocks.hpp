// Block-sparse unbounded grid: blocks of 4^d nodes, named by 63-bit Morton keys, found by binary search in a sorted
// list. Particles belong to the block of the first node of their stencil, so they reach that block and its upper
// neighbours only.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "bsplines.hpp"

namespace continua {

inline constexpr int kSide = 4;                        // nodes per block and axis
inline constexpr int kAxisBits = 21;                   // block coordinate bits per axis
inline constexpr int32_t kBias = 1 << (kAxisBits - 1);  // block coordinates lie in [-kBias, kBias)

template <int d>
inline constexpr int kBlockNodes = d == 2 ? kSide * kSide : kSide * kSide * kSide;
template <int d>
inline constexpr int kCorners = 1 << d;
// Nodes reached from one block: its own and degree more per axis.
template <int d, int degree>
inline constexpr int kTileNodes = d == 2 ? (kSide + degree) * (kSide + degree)
                                         : (kSide + degree) * (kSide + degree) * (kSide + degree);

template <int d>
using BlockCoords = std::array<int32_t, d>;

namespace detail {
inline uint64_t spread_bits(uint64_t v) {  // two zero bits between any two bits of v
    v &= 0x1fffff;
    v = (v | v << 32) & 0x1f00000000ffffull;
    v = (v | v << 16) & 0x1f0000ff0000ffull;
    v = (v | v << 8) & 0x100f00f00f00f00full;
    v = (v | v << 4) & 0x10c30c30c30c30c3ull;
    v = (v | v << 2) & 0x1249249249249249ull;
    return v;
}
inline uint64_t collect_bits(uint64_t v) {
    v &= 0x1249249249249249ull;
    v = (v ^ (v >> 2)) & 0x10c30c30c30c30c3ull;
    v = (v ^ (v >> 4)) & 0x100f00f00f00f00full;
    v = (v ^ (v >> 8)) & 0x1f0000ff0000ffull;
    v = (v ^ (v >> 16)) & 0x1f00000000ffffull;
    v = (v ^ (v >> 32)) & 0x1fffff;
    return v;
}
}  // namespace detail

template <int d>
inline uint64_t morton_key(const BlockCoords<d>& b) {
    uint64_t key = 0;
    for (int a = 0; a < d; ++a) key |= detail::spread_bits(uint64_t(b[a] + kBias)) << (d - 1 - a);
    return key;
}
template <int d>
inline BlockCoords<d> block_coords(uint64_t key) {
    BlockCoords<d> b;
    for (int a = 0; a < d; ++a) b[a] = int32_t(detail::collect_bits(key >> (d - 1 - a))) - kBias;
    return b;
}

// Where the grid lies: node i sits at origin + i dx; axes with period > 0 repeat after that many blocks.
template <class T, int d>
struct Lattice {
    T origin[d];
    T dx, inv_dx;
    int32_t period[d];  // in blocks, 0 = unbounded

    int32_t wrap(int32_t block, int a) const {
        if (period[a] == 0) return block;
        const int32_t r = block % period[a];
        return r < 0 ? r + period[a] : r;
    }
    BlockCoords<d> neighbour(BlockCoords<d> b, int corner) const {
        for (int a = 0; a < d; ++a) b[a] = wrap(b[a] + ((corner >> (d - 1 - a)) & 1), a);
        return b;
    }
};

// Particles in block order: particle order[k] belongs to block number s where offsets[s] <= k < offsets[s + 1].
struct Order {
    std::vector<uint64_t> keys;       // of the blocks that hold particles, sorted
    std::vector<int64_t> offsets;     // keys.size() + 1
    std::vector<int32_t> order;
    std::vector<uint8_t> cells;       // scratch of the sort
    int64_t count = 0;                // of particles
    int64_t bad = -1;                 // first particle that lies nowhere (not finite, or too far out), or -1
    int dimension = 0;                // of the last sort, which the next one takes as a guess; 0 without one

    int64_t blocks() const { return int64_t(keys.size()); }
};

// Small open-addressing map from packed block coordinates to a number.
class KeyMap {
  public:
    explicit KeyMap(size_t expected = 16) { reset(expected); }
    void reset(size_t expected) {
        size_t size = 16;
        while (size < 2 * expected) size *= 2;
        keys_.assign(size, kEmpty);
        values_.assign(size, 0);
        count_ = 0;
    }
    // Inserts value if the key is new; returns the stored value.
    int32_t insert(uint64_t key, int32_t value) {
        if (2 * (count_ + 1) > keys_.size()) grow();
        size_t i = slot(key);
        if (keys_[i] == kEmpty) {
            keys_[i] = key;
            values_[i] = value;
            ++count_;
        }
        return values_[i];
    }
    int32_t find(uint64_t key) const { return values_[slot(key)]; }

  private:
    static constexpr uint64_t kEmpty = ~0ull;
    size_t slot(uint64_t key) const {
        size_t i = (key * 0x9e3779b97f4a7c15ull) >> 20 & (keys_.size() - 1);
        while (keys_[i] != kEmpty && keys_[i] != key) i = (i + 1) & (keys_.size() - 1);
        return i;
    }
    void grow() {
        KeyMap bigger(2 * keys_.size());
        for (size_t i = 0; i < keys_.size(); ++i)
            if (keys_[i] != kEmpty) bigger.insert(keys_[i], values_[i]);
        *this = std::move(bigger);
    }
    std::vector<uint64_t> keys_;
    std::vector<int32_t> values_;
    size_t count_ = 0;
};

}  // namespace continua
