// Poisson-disk points: random, yet no two closer than one radius, and little room for more.
// After R. Bridson, Fast Poisson disk sampling in arbitrary dimensions, SIGGRAPH sketches 2007.
//
// All coordinates are integers, in units of radius / 2^20, so that the points are the same bits on every machine.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace continua::geometry {

/// SplitMix64: a 64-bit counter through a bijective mix; small, fast, the same everywhere.
struct SplitMix64 {
    uint64_t state;
    uint64_t operator()() {
        uint64_t z = (state += 0x9e3779b97f4a7c15ull);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }
};

template <int D>
class PoissonDisk {
public:
    using Integers = std::array<int64_t, D>;
    static constexpr int64_t radius = int64_t(1) << 20;
    static constexpr int64_t cell = radius / 2;  // its diagonal is below one radius: at most one point per cell
    static constexpr int64_t cells_per_block = 4;  // a block is two radii wide
    static constexpr int attempts = 30;

    /// wanted[i, j(, k)] != 0 marks the blocks to fill, in C order; only those take memory.
    PoissonDisk(const uint8_t* wanted, const Integers& blocks, uint64_t seed) : blocks_(blocks), random_{seed} {
        int64_t total = 1;
        for (int a = 0; a < D; ++a) total *= blocks[a];
        slot_.resize(static_cast<size_t>(total));
        int32_t used = 0;
        for (int64_t b = 0; b < total; ++b) slot_[b] = wanted[b] ? used++ : -1;
        owner_.assign(static_cast<size_t>(used) * block_volume, -1);
    }

    /// Throw one dart into every empty cell; from every accepted point grow outwards until no neighbour fits.
    const std::vector<Integers>& run() {
        Integers block{};
        for (size_t b = 0; b < slot_.size(); ++b) {
            for (int64_t c = 0; slot_[b] >= 0 && c < block_volume; ++c) {
                if (owner_[slot_[b] * block_volume + c] >= 0) continue;
                Integers dart;
                int64_t rest = c;
                for (int a = D - 1; a >= 0; --a, rest /= cells_per_block)
                    dart[a] = (block[a] * cells_per_block + rest % cells_per_block) * cell + below(cell);
                if (accept(dart)) grow();
            }
            for (int a = D - 1; a >= 0 && ++block[a] == blocks_[a]; --a) block[a] = 0;
        }
        return points_;
    }

private:
    static constexpr int64_t block_volume = D == 2 ? 16 : 64;

    int64_t below(int64_t power_of_two) { return static_cast<int64_t>(random_() >> 20) & (power_of_two - 1); }

    void grow() {
        while (!front_.empty()) {
            const Integers parent = points_[front_.back()];
            front_.pop_back();
            for (int i = 0; i < attempts; ++i) {
                Integers dart = ring();
                for (int a = 0; a < D; ++a) dart[a] += parent[a];
                accept(dart);
            }
        }
    }

    /// Uniform in the ring (shell) between one and two radii.
    Integers ring() {
        for (;;) {
            Integers offset;
            int64_t length2 = 0;
            for (int a = 0; a < D; ++a) {
                offset[a] = below(4 * radius) - 2 * radius;
                length2 += offset[a] * offset[a];
            }
            if (length2 >= radius * radius && length2 < 4 * radius * radius) return offset;
        }
    }

    /// Where the point of a cell is noted, or -1 if the block of the cell is not wanted. The cell must lie in the box.
    int64_t place(const Integers& index) const {
        int64_t block = 0, local = 0;
        for (int a = 0; a < D; ++a) {
            block = block * blocks_[a] + index[a] / cells_per_block;
            local = local * cells_per_block + index[a] % cells_per_block;
        }
        return slot_[block] < 0 ? -1 : slot_[block] * block_volume + local;
    }

    bool accept(const Integers& dart) {
        Integers index;
        for (int a = 0; a < D; ++a) {
            if (dart[a] < 0 || dart[a] >= blocks_[a] * cells_per_block * cell) return false;
            index[a] = dart[a] / cell;
        }
        const int64_t home = place(index);
        if (home < 0 || owner_[home] >= 0 || crowded(dart, index)) return false;
        owner_[home] = static_cast<int32_t>(points_.size());
        front_.push_back(static_cast<int32_t>(points_.size()));
        points_.push_back(dart);
        return true;
    }

    /// Is there a point closer to the dart than one radius? It can only be in the cells up to two away.
    bool crowded(const Integers& dart, const Integers& home) const {
        Integers low, high, index;
        for (int a = 0; a < D; ++a) {
            low[a] = index[a] = std::max<int64_t>(home[a] - 2, 0);
            high[a] = std::min<int64_t>(home[a] + 2, blocks_[a] * cells_per_block - 1);
        }
        for (;;) {
            const int64_t spot = place(index);
            if (spot >= 0 && owner_[spot] >= 0 && too_close(points_[owner_[spot]], dart)) return true;
            int a = D - 1;
            for (; a >= 0 && ++index[a] > high[a]; --a) index[a] = low[a];
            if (a < 0) return false;
        }
    }

    static bool too_close(const Integers& a, const Integers& b) {
        int64_t length2 = 0;
        for (int k = 0; k < D; ++k) length2 += (a[k] - b[k]) * (a[k] - b[k]);
        return length2 < radius * radius;
    }

    Integers blocks_;
    SplitMix64 random_;
    std::vector<int32_t> slot_;   // number of each wanted block, or -1
    std::vector<int32_t> owner_;  // point in each cell of the wanted blocks, or -1
    std::vector<int32_t> front_;  // points whose surroundings have not been tried yet
    std::vector<Integers> points_;
};

}  // namespace continua::geometry
