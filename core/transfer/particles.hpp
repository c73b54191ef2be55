// Particle arrays as the kernels see them, and batches of particles in block order.
#pragma once

#include "../grid/blocks.hpp"
#include "../parallel.hpp"
#include "../materials/batch.hpp"
#include "../math/pack.hpp"

namespace continua {

inline constexpr int kMaxParameters = 12;
inline constexpr int kMaxStates = 16;  // history variables plus per-particle parameters

// Component-major arrays: component c of particle i is at [c * stride + i].
template <class T>
struct Particles {
    T *x, *v, *C, *F, *mass, *volume, *state;
    T* tau;    // Kirchhoff stress (upper triangle) where it is kept with the particles, else null
    T* modes;  // coefficients of the polynomial modes beyond C in m/s, (particle, mode, 4 channels); null without any
    int32_t* ids;
    int64_t stride;
    int64_t count;
    int states, mode_count;
};

// Material parameters, each uniform (step 0) or one per particle (step 1). Per-particle ones travel with the body.
template <class T>
struct Parameters {
    const T* at[kMaxParameters];
    int64_t step[kMaxParameters];
    int64_t stride;  // of the columns
    int count;
};

struct Blocks {
    const uint64_t* keys;
    const int64_t* offsets;
    const int32_t* order;
    int64_t count;
};

// Component-major arrays are more streams than the hardware prefetcher follows, so kernels ask for the cache lines of a
// batch two batches ahead: one line per component.
inline constexpr int kAhead = 2 * kBatch;

// Bytes that will not stay in any cache until they are read again.
inline constexpr int64_t kLargerThanCaches = int64_t(1) << 25;

template <class T>
inline void prefetch(const T* component, int64_t stride, int components, int64_t index) {
    for (int c = 0; c < components; ++c)
        for (int line = 0; line < kBatch; line += 64 / int(sizeof(T))) prefetch_line(component + c * stride + index + line);
}

// Places in block order that come kAhead after those of a block at work: in it, or in the one that the same thread takes next.
struct Ahead {
    const int32_t* order;
    int64_t end, next, next_end;

    Ahead(const Blocks& blocks, int64_t s, int64_t next_block)
        : order(blocks.order), end(blocks.offsets[s + 1]), next(0), next_end(0) {
        if (next_block >= 0) next = blocks.offsets[next_block], next_end = blocks.offsets[next_block + 1];
    }
    // function(place) for the first one of the batch that begins there, and for every particle that lies elsewhere than the one before.
    template <class Function>
    void from(int64_t place, Function&& function) const {
        int64_t there = place + kAhead, last = end;
        if (there >= end) {
            there += next - end, last = next_end;
            if (there >= last) return;
        }
        last = std::min(there + kBatch, last);
        function(there);
        for (int64_t k = there + 1; k < last; ++k)
            if (uint32_t(order[k] - order[k - 1]) > uint32_t(kBatch)) function(k);
    }
};

// Up to kBatch particles of one block; missing ones repeat the last index.
struct BatchIndices {
    alignas(64) int32_t at[kBatch];
    int count = 0;
    bool in_a_row = false;  // one after the other in memory

    BatchIndices() = default;
    BatchIndices(const int32_t* order, int64_t begin, int64_t end) { read(order, begin, end); }
    void read(const int32_t* order, int64_t begin, int64_t end) {
        count = int(std::min<int64_t>(kBatch, end - begin));
        if (count == kBatch)
            std::memcpy(at, order + begin, sizeof at);
        else
            for (int j = 0; j < kBatch; ++j) at[j] = order[begin + std::min(j, count - 1)];
        int32_t apart = 0;
        for (int j = 0; j < kBatch; ++j) apart |= at[j] - at[0] - std::min(j, count - 1);
        in_a_row = apart == 0;
    }
    // Component-major columns of `stride` numbers.
    template <class T>
    void fetch(const T* from, int64_t stride, int components, T* to) const {
        using V = Lanes<T>;
        if (!in_a_row || at[0] + kBatch > stride) {
            for (int c = 0; c < components; ++c) pick_batch(from + c * stride, at, to + c * kBatch);
        } else if (count == kBatch) {
            for (int c = 0; c < components; ++c) std::memcpy(to + c * kBatch, from + c * stride + at[0], sizeof(T) * kBatch);
        } else {
            for (int c = 0; c < components; ++c) {
                const T* column = from + c * stride + at[0];
                for (int lane = 0; lane < kBatch; lane += lanes_of<V>())
                    store(select(first_lanes<V>(count - lane), load<V>(column + lane), V(column[count - 1])), to + c * kBatch + lane);
            }
        }
    }
    template <class T>
    void fetch(const Parameters<T>& from, T* to) const {
        for (int c = 0; c < from.count; ++c) {
            if (from.step[c] == 0)
                std::fill(to + c * kBatch, to + (c + 1) * kBatch, *from.at[c]);
            else
                fetch(from.at[c], from.stride, 1, to + c * kBatch);
        }
    }
};

// The polynomial modes that particles carry beyond C, as exponents per axis (in 2D the first is 0; see Modes).
struct HighModes {
    static constexpr int kMost = 63;
    int count = 0;
    int exponent[kMost][3] = {};
};

}  // namespace continua
