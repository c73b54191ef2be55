// Stable sort of particles by grid block, and by cell within the blocks where cells are mixed. The result depends on
// the positions alone: neither on the number of threads nor on the sorts before.
//
// Grid-to-particles passes write particles in sorted order, so the last order says where almost all of them are: place i
// in memory is guessed to belong to the block whose last range contains it. A sort finds those who are elsewhere, the
// leavers, sorts only them by block, and puts them before and behind those who stayed. Without a guess all are leavers.
#pragma once

#include <cstring>
#include <numeric>

#include "../parallel.hpp"
#include "blocks.hpp"

namespace continua {

namespace detail {

inline constexpr int kPiece = 512;                // particles that are located at once
inline constexpr int32_t kNowhere = 1 - kBias;    // block coordinate of those that lie nowhere: no good one has it
inline constexpr uint8_t kLeft = 0x80;            // mark on the cell of a leaver

// Block coordinates and cells within the block, first of (x - origin) / dx - shift, of n particles starting at `begin`.
// All passes must round alike, so this is compiled once.
template <class T, int d>
[[gnu::noinline]] void locate(const T* x, int64_t stride, int64_t begin, int n, const Lattice<T, d>& lattice, T shift,
                              int32_t (*block)[kPiece], uint8_t* cell) {
    const T limit = T(kSide) * T(kBias - 2);
    for (int a = 0; a < d; ++a) {
        const T* xa = x + a * stride + begin;
        const T origin = lattice.origin[a], inv_dx = lattice.inv_dx;
        int32_t* const ba = block[a];
        for (int i = 0; i < n; ++i) {
            const T q = (xa[i] - origin) * inv_dx - shift;
            const bool good = q > -limit && q < limit;  // false for NaN
            const int32_t first = int32_t(std::floor(good ? q : T(kSide) * T(kNowhere)));
            ba[i] = first >> 2;
            cell[i] = uint8_t((a == 0 ? 0 : cell[i] * kSide) + (first & (kSide - 1)));
        }
        if (lattice.period[a] == 0) continue;
        // Half a block off, quotients of 21-bit numbers stay clear of integers by more than rounding.
        const double period = lattice.period[a], inverse = 1.0 / period;
        for (int i = 0; i < n; ++i) {
            const int32_t wrapped = ba[i] - int32_t(period * std::floor((ba[i] + 0.5) * inverse));
            ba[i] = ba[i] == kNowhere ? kNowhere : wrapped;
        }
    }
}

// Leavers among a part of the particles, in the order of memory, and the blocks where they are now.
struct Leavers {
    struct Leaver {
        int32_t particle, target;
    };
    std::vector<Leaver> all;
    std::vector<uint64_t> packed;     // coordinates of targets
    std::vector<int64_t> at;          // of targets: number of arrivals, then the place in `order` of the next one
    int64_t bad = -1;                 // first particle that lies nowhere

    template <int d>
    void add(int64_t particle, const int32_t (*block)[kPiece], int i) {
        uint64_t target = 0;
        bool nowhere = false;
        for (int a = 0; a < d; ++a) {
            nowhere |= block[a][i] == kNowhere;
            target |= uint64_t(uint32_t(block[a][i] + kBias)) << (a * kAxisBits);
        }
        if (nowhere) {
            if (bad < 0) bad = particle;
            return;
        }
        if (packed.empty() || target != packed[last_]) {
            last_ = numbers_.insert(target, int32_t(packed.size()));
            if (size_t(last_) == packed.size()) packed.push_back(target), at.push_back(0);
        }
        ++at[last_];
        all.push_back({int32_t(particle), last_});
    }

  private:
    KeyMap numbers_;
    int32_t last_ = 0;
};

template <int d>
inline BlockCoords<d> unpack(uint64_t packed) {
    BlockCoords<d> b;
    for (int a = 0; a < d; ++a) b[a] = int32_t((packed >> (a * kAxisBits)) & ((1u << kAxisBits) - 1)) - kBias;
    return b;
}

// Places in memory of the particles [from, to) of a piece that are not in block `here`; returns how many.
template <int d>
inline int elsewhere(const int32_t (*block)[kPiece], int from, int to, const BlockCoords<d>& here, uint16_t* found) {
    uint8_t away[kPiece];
    int32_t any = 0;
    for (int i = from; i < to; ++i) {
        int32_t off = 0;
        for (int a = 0; a < d; ++a) off |= block[a][i] ^ here[a];
        any |= off;
        away[i] = off != 0;
    }
    if (any == 0) return 0;
    int n = 0;
    for (int i = from; i < to; ++i) {  // without branches: nobody can predict who left
        found[n] = uint16_t(i);
        n += away[i];
    }
    return n;
}

// Compare the particles [begin, end) with the guess, whose blocks do not cross these bounds: cells of all, leavers, and
// per guessed block how many stayed.
template <class T, int d>
void find_leavers(const T* x, int64_t stride, int64_t begin, int64_t end, const Lattice<T, d>& lattice, T shift,
                  const Order& guess, uint8_t* cells, int64_t* stayed, Leavers& leavers) {
    int32_t block[d][kPiece];
    uint16_t found[kPiece];
    const int64_t blocks = guess.blocks();
    int64_t s = std::upper_bound(guess.offsets.begin(), guess.offsets.end(), begin) - guess.offsets.begin() - 1;
    const int64_t guessed = blocks ? std::min(end, guess.offsets[blocks]) : 0;
    leavers.all.reserve(std::max<int64_t>(0, end - std::max(begin, guessed)));
    for (int64_t piece = begin; piece < end; piece += kPiece) {
        const int n = int(std::min<int64_t>(kPiece, end - piece));
        locate<T, d>(x, stride, piece, n, lattice, shift, block, cells + piece);
        int from = 0;
        while (from < n && piece + from < guessed) {
            while (guess.offsets[s + 1] <= piece + from) ++s;
            const int to = int(std::min<int64_t>(n, guess.offsets[s + 1] - piece));
            const int left = elsewhere<d>(block, from, to, block_coords<d>(guess.keys[s]), found);
            for (int k = 0; k < left; ++k) {
                leavers.add<d>(piece + found[k], block, found[k]);
                cells[piece + found[k]] |= kLeft;
            }
            stayed[s] += to - from - left;
            from = to;
        }
        for (; from < n; ++from) leavers.add<d>(piece + from, block, from);
    }
}

// Those who stayed in a block: `count` of the particles [begin, end).
struct Stayers {
    int64_t begin = 0, end = 0, count = 0;
};

// Keys and offsets of all blocks where somebody stayed or arrived, in place of the guess; returns who stayed in them.
template <int d>
std::vector<Stayers> number_blocks(const std::vector<int64_t>& stayed, std::vector<Leavers>& parts, int64_t n, Order& order) {
    struct Target {
        uint64_t key;
        int32_t part, number;
    };
    std::vector<Target> targets;
    for (size_t c = 0; c < parts.size(); ++c)
        for (size_t t = 0; t < parts[c].packed.size(); ++t)
            targets.push_back({morton_key<d>(unpack<d>(parts[c].packed[t])), int32_t(c), int32_t(t)});
    std::sort(targets.begin(), targets.end(),
              [](const Target& a, const Target& b) { return a.key != b.key ? a.key < b.key : a.part < b.part; });
    std::vector<uint64_t> keys;
    std::vector<int64_t> offsets;
    std::vector<Stayers> stayers;
    const size_t old = stayed.size(), most = old + targets.size();
    keys.reserve(most), offsets.reserve(most + 1), stayers.reserve(most);
    int64_t total = 0;
    for (size_t s = 0, t = 0; s < old || t < targets.size();) {
        const bool guessed = s < old && (t == targets.size() || order.keys[s] <= targets[t].key);
        const uint64_t key = guessed ? order.keys[s] : targets[t].key;
        Stayers here;
        if (guessed) {
            here = {std::min(n, order.offsets[s]), std::min(n, order.offsets[s + 1]), stayed[s]};
            ++s;
        }
        const int64_t offset = total;
        total += here.count;
        for (; t < targets.size() && targets[t].key == key; ++t) {
            int64_t& at = parts[targets[t].part].at[targets[t].number];
            const int64_t arrivals = at;
            at = total;  // behind those who stay
            total += arrivals;
        }
        if (total == offset) continue;
        keys.push_back(key), offsets.push_back(offset), stayers.push_back(here);
    }
    offsets.push_back(total);
    order.keys = std::move(keys);
    order.offsets = std::move(offsets);
    return stayers;
}

// Complete the order of a block of n whose arrivals stand behind the room for those who stayed, both by their place in
// memory; arrivals come from before or from behind the range of the block. Writes the cells in that order to `sequence`.
inline void join(const Stayers& stayers, int64_t n, const uint8_t* cells, int32_t* order, uint8_t* sequence) {
    int32_t* const arrivals = order + stayers.count;
    const int64_t before = std::lower_bound(arrivals, order + n, int32_t(stayers.begin)) - arrivals;
    if (before > 0) std::memmove(order, arrivals, before * sizeof(int32_t));
    for (int64_t k = 0; k < before; ++k) sequence[k] = cells[order[k]] & ~kLeft;
    for (int64_t k = before + stayers.count; k < n; ++k) sequence[k] = cells[order[k]] & ~kLeft;
    for (int64_t k = before, i = stayers.begin; k < before + stayers.count; ++i) {  // leavers are written over
        order[k] = int32_t(i);
        sequence[k] = cells[i];
        k += !(cells[i] & kLeft);
    }
}

// Whether the cells of n particles come in so many runs that sorting them pays: kernels that work run by run gain, but a
// block that is not read as it lies slows them down once. Which number is best depends on the kernels.
inline constexpr int kRuns = 2;  // per cell, and as many more for small blocks
inline bool fragmented(const uint8_t* cells, int64_t n) {
    uint64_t occupied = 0;
    for (int64_t k = 0; k < n; ++k) occupied |= 1ull << cells[k];
    int64_t runs = 1;
    for (int64_t k = 1; k < n;) {
        uint8_t changes = 0;  // bytes add up fastest
        for (const int64_t end = std::min<int64_t>(n, k + 255); k < end; ++k) changes += cells[k] != cells[k - 1];
        runs += changes;
    }
    return runs > kRuns * (__builtin_popcountll(occupied) + 1);
}

// Counting sort of the particles of one block by cell.
template <int d>
inline void sort_cells(const uint8_t* cells, int64_t n, int32_t* order) {
    constexpr int kCells = kBlockNodes<d>;
    thread_local std::vector<int32_t> copy;
    copy.assign(order, order + n);
    int32_t at[kCells + 1] = {};
    for (int64_t k = 0; k < n; ++k) ++at[cells[k] + 1];
    for (int c = 0; c < kCells; ++c) at[c + 1] += at[c];
    for (int64_t k = 0; k < n; ++k) order[at[cells[k]]++] = copy[k];
}

// The order of one block of n.
template <int d>
void order_block(const Stayers& stayers, int64_t n, const uint8_t* cells, int32_t* order) {
    thread_local std::vector<uint8_t> joined;
    const uint8_t* sequence = cells + stayers.begin;
    if (stayers.count == n && stayers.end - stayers.begin == n) {
        std::iota(order, order + n, int32_t(stayers.begin));
    } else {
        joined.resize(n);
        join(stayers, n, cells, order, joined.data());
        sequence = joined.data();
    }
    if (fragmented(sequence, n)) sort_cells<d>(sequence, n, order);
}

}  // namespace detail

// Sorts n particles; what `order` holds from its last sort is the guess.
template <class T, int d>
void sort_by_block(const T* x, int64_t stride, int64_t n, const Lattice<T, d>& lattice, int degree, Order& order) {
    const T shift = T(0.5 * (degree - 1));
    if (order.dimension != d) order.keys.clear(), order.offsets.assign(1, 0);
    order.order.resize(n);
    order.cells.resize(n);
    order.count = n;
    order.dimension = d;
    const int chunks = team(n);
    const auto& ends = order.offsets;
    auto chunk_begin = [&](int c) {  // where a guessed block begins
        const int64_t begin = n * c / chunks;
        return begin < ends.back() ? std::min(n, *std::lower_bound(ends.begin(), ends.end(), begin)) : begin;
    };
    std::vector<detail::Leavers> parts(chunks);
    std::vector<int64_t> stayed(order.keys.size(), 0);
#pragma omp parallel for schedule(static, 1) num_threads(chunks)
    for (int c = 0; c < chunks; ++c)
        detail::find_leavers<T, d>(x, stride, chunk_begin(c), chunk_begin(c + 1), lattice, shift, order, order.cells.data(),
                                   stayed.data(), parts[c]);
    order.bad = -1;
    for (int c = 0; c < chunks && order.bad < 0; ++c) order.bad = parts[c].bad;
    if (order.bad >= 0) {
        order.keys.clear(), order.offsets.assign(1, 0);
        return;
    }
    const std::vector<detail::Stayers> stayers = detail::number_blocks<d>(stayed, parts, n, order);
#pragma omp parallel for schedule(static, 1) num_threads(chunks)
    for (int c = 0; c < chunks; ++c)  // parts in order: arrivals stand by their place in memory
        for (const auto& leaver : parts[c].all) order.order[parts[c].at[leaver.target]++] = leaver.particle;
    const int64_t blocks = order.blocks();
#pragma omp parallel for schedule(dynamic, 16) num_threads(chunks)
    for (int64_t s = 0; s < blocks; ++s)
        detail::order_block<d>(stayers[s], order.offsets[s + 1] - order.offsets[s], order.cells.data(),
                               order.order.data() + order.offsets[s]);
}

}  // namespace continua
