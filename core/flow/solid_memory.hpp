// What is known of the solids in the blocks of a grid, kept from step to step while they rest: most blocks of a step were
// there in the one before.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "../grid/blocks.hpp"

namespace continua {

// What the law of walls needs at a face that is closed.
template <class T>
struct ClosedFace {
    enum Rule : uint8_t { separate, slip, sticky };  // as ContactMode; what is prescribed sticks
    uint8_t face;                                    // 4 node + axis
    Rule rule;
    std::array<T, 3> normal, wall;  // of the surface, and its velocity
};

template <class T, int d>
class SolidMemory {
  public:
    static constexpr int kBlock = kBlockNodes<d> * 4;
    struct Cut {  // see solid_faces
        std::array<T, kBlock> open, wall;
        std::array<int32_t, kBlock> owner;
    };
    struct Block {
        bool known = false, listed = false;  // whether the rest has been found out
        std::unique_ptr<Cut> cut;            // null: nothing touches the block
        std::vector<ClosedFace<T>> closed;
    };

    // Make room for these blocks and forget all others; both are sorted by key.
    void hold(const uint64_t* keys, int64_t blocks) {
        if (std::equal(keys_.begin(), keys_.end(), keys, keys + blocks)) return;
        std::vector<Block> held(static_cast<size_t>(blocks));
        size_t old = 0;
        for (int64_t b = 0; b < blocks; ++b) {
            while (old < keys_.size() && keys_[old] < keys[b]) ++old;
            if (old < keys_.size() && keys_[old] == keys[b]) held[b] = std::move(blocks_[old]);
        }
        keys_.assign(keys, keys + blocks);
        blocks_ = std::move(held);
    }
    Block& operator[](int64_t b) { return blocks_[b]; }

    int64_t nbytes() const {
        int64_t sum = int64_t(keys_.size() * (sizeof(uint64_t) + sizeof(Block)));
        for (const Block& block : blocks_)
            sum += int64_t((block.cut ? sizeof(Cut) : 0) + block.closed.capacity() * sizeof(ClosedFace<T>));
        return sum;
    }

  private:
    std::vector<uint64_t> keys_;
    std::vector<Block> blocks_;
};

}  // namespace continua
