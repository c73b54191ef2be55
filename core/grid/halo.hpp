// Blocks and the cells around them: stencils that reach one cell beyond a block.
#pragma once

#include "../parallel.hpp"
#include "blocks.hpp"

namespace continua {

template <int d>
inline constexpr int kNeighbours = d == 2 ? 9 : 27;
template <int d>
inline constexpr int kHere = kNeighbours<d> / 2;  // a block itself among its neighbours

// neighbours (blocks, 3^d): the block at offset o in {-1, 0, 1}^d, first axis slowest, or -1 where there is none.
template <class T, int d>
void neighbour_table(const uint64_t* keys, int64_t blocks, const Lattice<T, d>& lattice, int32_t* neighbours) {
    KeyMap numbers(static_cast<size_t>(blocks));  // from 1 on
    for (int64_t b = 0; b < blocks; ++b) numbers.insert(keys[b], int32_t(b + 1));
#pragma omp parallel for schedule(static) num_threads(team(blocks, kBlocksPerThread))
    for (int64_t b = 0; b < blocks; ++b) {
        const BlockCoords<d> here = block_coords<d>(keys[b]);
        for (int n = 0; n < kNeighbours<d>; ++n) {
            BlockCoords<d> there = here;
            bool inside = true;
            for (int a = d - 1, rest = n; a >= 0; --a, rest /= 3) {
                there[a] = lattice.wrap(there[a] + rest % 3 - 1, a);
                inside &= there[a] >= -kBias && there[a] < kBias;
            }
            neighbours[b * kNeighbours<d> + n] = inside ? numbers.find(morton_key<d>(there)) - 1 : -1;
        }
    }
}

// The cells of a block and one more on every side, `channels` numbers each.
template <class T, int d, int channels = 1>
struct Halo {
    static constexpr int S = kSide + 2;
    static constexpr int kCells = d == 2 ? S * S : S * S * S;
    alignas(64) T value[kCells * channels];

    // Steps in memory between cells along an axis.
    static constexpr int stride(int axis) {
        int s = channels;
        for (int a = d - 1; a > axis; --a) s *= S;
        return s;
    }
    // First channel of the cell with local coordinates l, each from -1 to kSide.
    T* at(const std::array<int, 3>& l) { return value + offset(l); }
    const T* at(const std::array<int, 3>& l) const { return value + offset(l); }
    static int offset(const std::array<int, 3>& l) {
        int i = 0;
        for (int a = 0; a < d; ++a) i = i * S + l[a] + 1;
        return i * channels;
    }

    // cells (blocks, 4^d, channels); `outside` fills the cells of missing blocks.
    void read(const T* cells, const int32_t* neighbours, T outside = T(0)) {
        auto part = [](int i) { return i == 0 ? 0 : i <= kSide ? 1 : 2; };  // of three: below, here, above
        auto local = [](int i) { return (i + kSide - 1) % kSide; };
        T* to = value;
        for (int i = 0; i < S; ++i)
            for (int j = 0; j < (d == 3 ? S : 1); ++j, to += S * channels) {
                const int32_t* blocks = neighbours + (d == 3 ? (part(i) * 3 + part(j)) * 3 : part(i) * 3);
                const int row = (d == 3 ? local(i) * kSide + local(j) : local(i)) * kSide;
                copy<1>(cells, blocks[0], row + kSide - 1, outside, to);
                copy<kSide>(cells, blocks[1], row, outside, to + channels);
                copy<1>(cells, blocks[2], row, outside, to + (kSide + 1) * channels);
            }
    }

  private:
    // `count` cells of a block; a number that is known when compiled makes it a few moves of registers.
    template <int count>
    static void copy(const T* cells, int32_t block, int first, T outside, T* to) {
        if (block < 0) {
            std::fill_n(to, count * channels, outside);
            return;
        }
        const T* from = cells + (int64_t(block) * kBlockNodes<d> + first) * channels;
        for (int k = 0; k < count * channels; ++k) to[k] = from[k];
    }
};

}  // namespace continua
