// Stable sort of particles by grid block and, if asked, within it by cell. The result does not depend on the number of
// threads.
#pragma once

#include <stdexcept>

#include "../parallel.hpp"
#include "blocks.hpp"

namespace continua {

namespace detail {

template <int d>
inline BlockCoords<d> unpack(uint64_t packed) {
    BlockCoords<d> b;
    for (int a = 0; a < d; ++a) b[a] = int32_t((packed >> (a * kAxisBits)) & ((1u << kAxisBits) - 1)) - kBias;
    return b;
}

// Packed block coordinates of n particles starting at `begin`, or ~0 for particles that lie nowhere, and the number of
// their cell within the block.
template <class T, int d>
inline void pack_blocks(const T* x, int64_t stride, int64_t begin, int n, const Lattice<T, d>& lattice, T shift,
                        uint64_t* out, uint8_t* cell) {
    constexpr int kMax = 512;
    int32_t block[d][kMax];
    uint8_t bad[kMax] = {};
    std::fill(cell, cell + n, uint8_t(0));
    const T limit = T(kSide) * T(kBias - 2);
    for (int a = 0; a < d; ++a) {
        const T* xa = x + a * stride + begin;
        const T origin = lattice.origin[a], inv_dx = lattice.inv_dx;
        for (int i = 0; i < n; ++i) {
            const T q = (xa[i] - origin) * inv_dx - shift;
            const bool good = q > -limit && q < limit;  // false for NaN
            bad[i] |= !good;
            const int32_t first = int32_t(std::floor(good ? q : T(0)));
            block[a][i] = first >> 2;
            cell[i] = uint8_t(cell[i] * kSide + (first & (kSide - 1)));
        }
        if (lattice.period[a])
            for (int i = 0; i < n; ++i) block[a][i] = lattice.wrap(block[a][i], a);
    }
    for (int i = 0; i < n; ++i) {
        uint64_t packed = 0;
        for (int a = 0; a < d; ++a) packed |= uint64_t(uint32_t(block[a][i] + kBias)) << (a * kAxisBits);
        out[i] = bad[i] ? ~0ull : packed;
    }
}

// Counting sort of the particles of one block by cell.
template <int d>
inline void sort_cells(int32_t* order, int64_t n, const int32_t* slots) {
    constexpr int kCells = kBlockNodes<d>;
    thread_local std::vector<int32_t> copy;
    copy.assign(order, order + n);
    int64_t at[kCells + 1] = {};
    for (int64_t k = 0; k < n; ++k) ++at[slots[copy[k]] % kCells + 1];
    for (int c = 0; c < kCells; ++c) at[c + 1] += at[c];
    for (int64_t k = 0; k < n; ++k) order[at[slots[copy[k]] % kCells]++] = copy[k];
}

}  // namespace detail

// order: n indices (output). slots: n scratch entries.
template <class T, int d>
BlockOrder sort_by_block(const T* x, int64_t stride, int64_t n, const Lattice<T, d>& lattice, int degree,
                         bool by_cell, int32_t* order, int32_t* slots) {
    constexpr int kPiece = 512, kCells = kBlockNodes<d>;
    const T shift = T(0.5 * (degree - 1));
    const int chunks = team(n);
    auto chunk_begin = [&](int c) { return n * c / chunks; };
    std::vector<KeyMap> found(chunks);
    std::vector<int64_t> bad(chunks, -1);

    auto for_packed = [&](int c, auto&& visit) {
        uint64_t packed[kPiece];
        uint8_t cell[kPiece];
        for (int64_t i = chunk_begin(c); i < chunk_begin(c + 1); i += kPiece) {
            const int count = int(std::min<int64_t>(kPiece, chunk_begin(c + 1) - i));
            detail::pack_blocks<T, d>(x, stride, i, count, lattice, shift, packed, cell);
            for (int k = 0; k < count; ++k) visit(i + k, packed[k], cell[k]);
        }
    };

    // 1. which blocks hold particles
#pragma omp parallel for schedule(static, 1) num_threads(chunks)
    for (int c = 0; c < chunks; ++c) {
        uint64_t last = ~0ull;
        for_packed(c, [&](int64_t i, uint64_t packed, uint8_t) {
            if (packed == ~0ull) {  // before all else: it is also what `last` begins with
                if (bad[c] < 0) bad[c] = i;
                return;
            }
            if (packed == last) return;
            found[c].insert(packed, 0);
            last = packed;
        });
    }
    BlockOrder result;
    for (int c = 0; c < chunks && result.first_bad < 0; ++c) result.first_bad = bad[c];
    if (result.first_bad >= 0) return result;
    for (auto& set : found)
        set.each([&](uint64_t packed) { result.keys.push_back(morton_key<d>(detail::unpack<d>(packed))); });
    std::sort(result.keys.begin(), result.keys.end());
    result.keys.erase(std::unique(result.keys.begin(), result.keys.end()), result.keys.end());
    const int64_t blocks = int64_t(result.keys.size());
    if (blocks > std::numeric_limits<int32_t>::max() / kCells) throw std::length_error("x: too many grid blocks");
    KeyMap number(result.keys.size());
    for (int64_t s = 0; s < blocks; ++s) {
        const BlockCoords<d> b = block_coords<d>(result.keys[s]);
        uint64_t packed = 0;
        for (int a = 0; a < d; ++a) packed |= uint64_t(uint32_t(b[a] + kBias)) << (a * kAxisBits);
        number.insert(packed, int32_t(s));
    }

    // 2. count per chunk and block, 3. place: chunks in order keep the sort stable
    std::vector<int64_t> cursor(size_t(chunks) * blocks, 0);
#pragma omp parallel for schedule(static, 1) num_threads(chunks)
    for (int c = 0; c < chunks; ++c) {
        uint64_t last = ~0ull;
        int32_t slot = 0;
        int64_t* count = cursor.data() + size_t(c) * blocks;
        for_packed(c, [&](int64_t i, uint64_t packed, uint8_t cell) {
            if (packed != last) slot = number.find(packed), last = packed;
            slots[i] = slot * kCells + cell;
            ++count[slot];
        });
    }
    result.offsets.assign(blocks + 1, 0);
    int64_t total = 0;
    for (int64_t s = 0; s < blocks; ++s) {
        result.offsets[s] = total;
        for (int c = 0; c < chunks; ++c) {
            const int64_t count = cursor[size_t(c) * blocks + s];
            cursor[size_t(c) * blocks + s] = total;
            total += count;
        }
    }
    result.offsets[blocks] = total;
#pragma omp parallel for schedule(static, 1) num_threads(chunks)
    for (int c = 0; c < chunks; ++c) {
        int64_t* at = cursor.data() + size_t(c) * blocks;
        for (int64_t i = chunk_begin(c); i < chunk_begin(c + 1); ++i) order[at[slots[i] / kCells]++] = int32_t(i);
    }
    if (!by_cell) return result;
    // 4. within each block by cell
#pragma omp parallel for schedule(dynamic, 16) num_threads(chunks)
    for (int64_t s = 0; s < blocks; ++s)
        detail::sort_cells<d>(order + result.offsets[s], result.offsets[s + 1] - result.offsets[s], slots);
    return result;
}

}  // namespace continua
