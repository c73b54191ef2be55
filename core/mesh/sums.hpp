// Sums over cells into what cells share: nodes, or pairs of nodes. Every cell gives `numbers` numbers to each of its
// `slots` items. Cells are handled in batches of kBatch, batches in chunks; a chunk adds into sums of its own, and
// items then collect the sums of their chunks. Chunks depend on the mesh only and all additions have a fixed order, so
// results do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../math/transpose.hpp"

namespace continua {

inline constexpr int64_t kChunkBatches = 32;

// Where component c of a cell is in an array of batches (batches, components, kBatch).
inline size_t batch_place(int64_t cell, int component, int components) {
    return size_t((cell / kBatch * components + component) * kBatch + cell % kBatch);
}

template <int slots, int numbers>
class ChunkSums {
  public:
    static constexpr int kQuads = (numbers + 3) / 4;
    static constexpr int kRecord = 4 * kQuads;
    static constexpr int64_t kMost = kChunkBatches * kBatch * slots;  // items of a chunk
    static_assert(kMost <= UINT16_MAX + 1);

    // item (count, slots): what every cell adds to.
    ChunkSums(const std::vector<int32_t>& item, int64_t count, int64_t items) {
        const int64_t cells = (count + kBatch - 1) / kBatch * kBatch, share = kChunkBatches * kBatch;
        index_.resize(size_t(cells * slots));
        first_.push_back(0);
        for (int64_t begin = 0; begin < cells; begin += share) {
            const int64_t end = std::min(begin + share, count);
            std::vector<int32_t> own(item.begin() + begin * slots, item.begin() + end * slots);
            std::sort(own.begin(), own.end());
            own.erase(std::unique(own.begin(), own.end()), own.end());
            for (int64_t e = begin; e < std::min(begin + share, cells); ++e)
                for (int k = 0; k < slots; ++k) {
                    const int32_t wanted = item[size_t(std::min(e, count - 1) * slots + k)];
                    index_[batch_place(e, k, slots)] =
                        uint16_t(std::lower_bound(own.begin(), own.end(), wanted) - own.begin());
                }
            item_.insert(item_.end(), own.begin(), own.end());
            first_.push_back(int64_t(item_.size()));
        }
        sums_.resize(item_.size() * kRecord);
        link(items);
    }
    int64_t items_of(int64_t chunk) const { return first_[size_t(chunk + 1)] - first_[size_t(chunk)]; }
    const int32_t* item_list(int64_t chunk) const { return item_.data() + first_[size_t(chunk)]; }
    const uint16_t* index(int64_t batch, int slot) const { return index_.data() + (batch * slots + slot) * kBatch; }

    // The sums of a chunk, set to zero.
    double* clear(int64_t chunk) {
        double* sums = sums_.data() + first_[size_t(chunk)] * kRecord;
        std::fill(sums, sums + items_of(chunk) * kRecord, 0.0);
        return sums;
    }
    // given: number c for slot k at [(k * numbers + c) * kBatch + cell], for the first `count` cells of a batch.
    void add(const double* given, int64_t batch, int count, double* sums) const {
        for (int j = 0; j < count; j += 4)
            for (int k = 0; k < slots; ++k) {
                const uint16_t* at = index(batch, k) + j;
                for (int quad = 0; quad < kQuads; ++quad) {
                    Quad<double> q[4];
                    for (int c = 0; c < 4; ++c) {
                        const int number = 4 * quad + c;
                        q[c] = number < numbers
                                   ? Quad<double>(given + (k * numbers + number) * kBatch + j, stdx::element_aligned)
                                   : Quad<double>(0.0);
                    }
                    transpose(q);
                    for (int i = 0; i < std::min(4, count - j); ++i) {
                        double* sum = sums + at[i] * kRecord + 4 * quad;
                        (Quad<double>(sum, stdx::element_aligned) + q[i]).copy_to(sum, stdx::element_aligned);
                    }
                }
            }
    }
    // The sum of an item over its chunks.
    void total(int64_t item, double* out) const {
        for (int quad = 0; quad < kQuads; ++quad) {
            Quad<double> sum(0.0);
            for (int64_t s = chunk_first_[size_t(item)]; s < chunk_first_[size_t(item + 1)]; ++s)
                sum += Quad<double>(sums_.data() + chunk_place_[size_t(s)] * kRecord + 4 * quad, stdx::element_aligned);
            sum.copy_to(out + 4 * quad, stdx::element_aligned);
        }
    }

  private:
    std::vector<uint16_t> index_;  // items of the chunk, (batches, slots, kBatch)
    std::vector<int64_t> first_;   // items of chunk c: item_[first_[c]] to item_[first_[c + 1]]
    std::vector<int32_t> item_;
    std::vector<int64_t> chunk_first_;  // the same relation seen from the items: places in item_
    std::vector<int64_t> chunk_place_;
    std::vector<double> sums_;  // (item_, kRecord)

    void link(int64_t items) {
        chunk_first_.assign(size_t(items + 1), 0);
        chunk_place_.resize(item_.size());
        for (const int32_t item : item_) ++chunk_first_[size_t(item + 1)];
        for (int64_t i = 0; i < items; ++i) chunk_first_[size_t(i + 1)] += chunk_first_[size_t(i)];
        std::vector<int64_t> next(chunk_first_.begin(), chunk_first_.end() - 1);
        for (size_t place = 0; place < item_.size(); ++place)
            chunk_place_[size_t(next[size_t(item_[place])]++)] = int64_t(place);
    }
};

}  // namespace continua
