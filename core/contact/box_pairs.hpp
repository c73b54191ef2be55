// All pairs of boxes that overlap, in time and memory proportional to their number.
//
// A box is at home in the cells of a grid that it meets; cells are a little larger than the box, so these are at most
// eight. Boxes of any size may be mixed: there is a grid for every size, each four times as coarse as the last, and a
// box also visits the cells of all coarser grids where others are at home. Two boxes then meet in a cell of the
// coarser of their two grids. They may meet in several; the one with the lower corner of their overlap counts.
//
// Cells are numbered row by row and share buckets where there are too many. Neighbours are in buckets close to each
// other, so that large problems do not run out of cache.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "../math/pack.hpp"
#include "../math/vector.hpp"
#include "../parallel.hpp"

namespace continua {

struct Box3 {
    double low[3], high[3];

    void include(const double* point, double pad) {
        for (int a = 0; a < 3; ++a) {
            low[a] = std::min(low[a], point[a] - pad);
            high[a] = std::max(high[a], point[a] + pad);
        }
    }
    static Box3 empty() {
        constexpr double far = std::numeric_limits<double>::infinity();
        return {{far, far, far}, {-far, -far, -far}};
    }
    double extent() const { return std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]}); }
    bool overlaps(const Box3& other) const {
        bool all = true;
        for (int a = 0; a < 3; ++a) all &= low[a] <= other.high[a] && other.low[a] <= high[a];
        return all;
    }
};

// Which boxes are in which bucket, in ascending order. Memory that is touched for the first time costs more here than
// what is done with it: nothing is stored twice.
class Buckets {
  public:
    struct Entry {
        uint32_t bucket;
        int32_t box;
    };
    Buckets() = default;  // all empty
    Buckets(const std::vector<std::vector<Entry>>& parts, int64_t buckets) : end_(size_t(buckets) + 1, 0) {
        int64_t total = 0;
        for (const auto& part : parts) total += int64_t(part.size());
        if (total > UINT32_MAX) throw std::invalid_argument("segments: too many");
        boxes_.resize(size_t(total));
        const int threads = team(total, 1 << 16);
        each_in_own_range(parts, buckets, threads, [&](const Entry& entry) { ++end_[entry.bucket + 1]; });
        for (size_t b = 0; b < size_t(buckets); ++b) end_[b + 1] += end_[b];
        // Until it is filled a bucket's number is where it begins, and then where it ends.
        each_in_own_range(parts, buckets, threads, [&](const Entry& entry) { boxes_[end_[entry.bucket]++] = entry.box; });
    }
    std::span<const int32_t> at(int64_t bucket) const {
        if (boxes_.empty()) return {};
        return {boxes_.data() + (bucket > 0 ? end_[size_t(bucket) - 1] : 0), boxes_.data() + end_[size_t(bucket)]};
    }

  private:
    std::vector<uint32_t> end_;
    std::vector<int32_t> boxes_;

    // Each thread has a range of buckets of its own and reads all entries.
    template <class Function>
    static void each_in_own_range(const std::vector<std::vector<Entry>>& parts, int64_t buckets, int threads, Function&& f) {
#pragma omp parallel num_threads(threads)
        {
            const uint64_t n = uint64_t(buckets), t = uint64_t(omp_get_thread_num()), of = uint64_t(omp_get_num_threads());
            const uint64_t first = n * t / of, last = n * (t + 1) / of;
            for (const auto& part : parts)
                for (const Entry& entry : part)
                    if (entry.bucket >= first && entry.bucket < last) f(entry);
        }
    }
};

class BoxGrids {
  public:
    // boxes: finite, and each with a positive extent that is more than 1e-14 of the whole.
    explicit BoxGrids(const std::vector<Box3>& boxes) : boxes_(boxes) {
        origin_ = Box3::empty();
        for (const Box3& box : boxes) origin_.include(box.low, 0), origin_.include(box.high, 0);
        choose_levels();
        bits_ = std::max(4, int(std::bit_width(uint64_t(boxes.size()))));
    }
    int64_t buckets() const { return int64_t(1) << bits_; }
    int level_of(int32_t box) const { return level_[size_t(box)]; }

    Buckets homes() const {
        return listed([&](int32_t i, std::vector<uint32_t>& found) { add_cells(i, level_of(i), found); });
    }
    // Cells of coarser grids where somebody is at home.
    Buckets visitors(const Buckets& homes) const {
        if (grids_.size() == 1) return {};
        return listed([&](int32_t i, std::vector<uint32_t>& found) {
            for (int level = level_of(i) + 1; level < int(grids_.size()); ++level) add_cells(i, level, found);
            std::erase_if(found, [&](uint32_t bucket) { return homes.at(bucket).empty(); });
        });
    }
    // Where two boxes meet that overlap.
    uint32_t meeting_bucket(const Box3& a, const Box3& b, int level) const {
        uint64_t cell[3];
        for (int k = 0; k < 3; ++k) cell[k] = place(grids_[size_t(level)], std::max(a.low[k], b.low[k]), k);
        return bucket(grids_[size_t(level)], cell);
    }

  private:
    struct Grid {
        double per_length;  // cells
        uint64_t stride[3], shift;
    };
    static constexpr int64_t kChunk = 2048;
    const std::vector<Box3>& boxes_;
    Box3 origin_;
    std::vector<int8_t> level_;
    std::vector<Grid> grids_;  // those that somebody is at home in, from fine to coarse
    int bits_;

    void choose_levels() {
        constexpr int kFinest = -20, kCoarsest = 40;
        // The usual box is just below the size of a cell, so that most scenes need one or two grids.
        std::vector<double> sample;
        for (size_t i = 0; i < boxes_.size(); i += std::max<size_t>(1, boxes_.size() / 4096))
            sample.push_back(boxes_[i].extent());
        std::nth_element(sample.begin(), sample.begin() + int64_t(sample.size() / 2), sample.end());
        const double usual = 1.6 * sample[sample.size() / 2];
        level_.resize(boxes_.size());
        int64_t members[kCoarsest - kFinest + 1] = {};
        for (size_t i = 0; i < boxes_.size(); ++i) {
            int level = 0;
            const double extent = boxes_[i].extent() / 0.9;  // rounding of places is less than a twentieth of a cell
            for (double size = usual; extent > size && level < kCoarsest; size *= 4) ++level;
            for (double size = usual / 4; extent <= size && level > kFinest; size /= 4) --level;
            level_[i] = int8_t(level - kFinest);
            ++members[level_[i]];
        }
        int8_t renumbered[kCoarsest - kFinest + 1];
        for (int k = 0; k <= kCoarsest - kFinest; ++k)
            if (members[k]) {
                renumbered[k] = int8_t(grids_.size());
                Grid grid{1 / (usual * std::pow(4.0, k + kFinest)), {1, 1, 1}, 0};
                for (int a = 0; a < 2; ++a) grid.stride[a + 1] = grid.stride[a] * (place(grid, origin_.high[a], a) + 1);
                grid.shift = uint64_t(k) * 0x9E3779B97F4A7C15u;
                grids_.push_back(grid);
            }
        for (auto& level : level_) level = renumbered[level];
    }
    uint64_t place(const Grid& grid, double x, int axis) const {
        return uint64_t(std::min((x - origin_.low[axis]) * grid.per_length, 4e18));
    }
    uint32_t bucket(const Grid& grid, const uint64_t (&cell)[3]) const {
        const uint64_t number = grid.shift + cell[0] + cell[1] * grid.stride[1] + cell[2] * grid.stride[2];
        const uint64_t wraps = (number >> bits_) * 0xD6E8FEB86659FD93u >> (64 - bits_);  // far cells are spread
        return uint32_t((number ^ wraps) & (uint64_t(buckets()) - 1));
    }
    void add_cells(int32_t i, int level, std::vector<uint32_t>& found) const {
        const Grid& grid = grids_[size_t(level)];
        uint64_t low[3], high[3], cell[3];
        for (int a = 0; a < 3; ++a) {
            low[a] = place(grid, boxes_[size_t(i)].low[a], a);
            high[a] = place(grid, boxes_[size_t(i)].high[a], a);
        }
        for (cell[2] = low[2]; cell[2] <= high[2]; ++cell[2])
            for (cell[1] = low[1]; cell[1] <= high[1]; ++cell[1])
                for (cell[0] = low[0]; cell[0] <= high[0]; ++cell[0]) found.push_back(bucket(grid, cell));
    }
    // A box is once in a bucket, also where several of its cells share it.
    template <class Cells>
    Buckets listed(Cells&& cells_of) const {
        const int64_t count = int64_t(boxes_.size()), chunks = (count + kChunk - 1) / kChunk;
        std::vector<std::vector<Buckets::Entry>> parts(static_cast<size_t>(chunks));
#pragma omp parallel for schedule(dynamic) num_threads(team(count, kChunk))
        for (int64_t chunk = 0; chunk < chunks; ++chunk) {
            auto& part = parts[size_t(chunk)];
            part.reserve(3 * kChunk);
            std::vector<uint32_t> found;
            for (int64_t i = chunk * kChunk; i < std::min((chunk + 1) * kChunk, count); ++i) {
                found.clear();
                cells_of(int32_t(i), found);
                for (size_t k = 0; k < found.size(); ++k)
                    if (std::find(found.begin(), found.begin() + int64_t(k), found[k]) == found.begin() + int64_t(k))
                        part.push_back({found[k], int32_t(i)});
            }
        }
        return {parts, buckets()};
    }
};

// Pairs in ascending order, from lists of pairs in any order.
inline std::vector<int32_t> sorted_pairs(const std::vector<std::vector<int32_t>>& parts, int64_t boxes) {
    std::vector<int64_t> start(size_t(boxes) + 1, 0);
    for (const auto& part : parts)
        for (size_t k = 0; k < part.size(); k += 2) ++start[size_t(part[k]) + 1];
    for (size_t i = 0; i < size_t(boxes); ++i) start[i + 1] += start[i];
    std::vector<int32_t> second(static_cast<size_t>(start.back())), all(2 * second.size());
    std::vector<int64_t> next(start.begin(), start.end() - 1);
    for (const auto& part : parts)
        for (size_t k = 0; k < part.size(); k += 2) second[size_t(next[size_t(part[k])]++)] = part[k + 1];
#pragma omp parallel for schedule(static) num_threads(team(boxes))
    for (int64_t i = 0; i < boxes; ++i) {
        std::sort(second.begin() + start[size_t(i)], second.begin() + start[size_t(i) + 1]);
        for (int64_t k = start[size_t(i)]; k < start[size_t(i) + 1]; ++k)
            all[size_t(2 * k)] = int32_t(i), all[size_t(2 * k + 1)] = second[size_t(k)];
    }
    return all;
}

// Pairs (any, 2) with the smaller number first, in ascending order, of boxes that overlap and for which wanted(i, j).
// The same for any number of threads.
template <class Wanted>
inline std::vector<int32_t> box_pairs(const std::vector<Box3>& boxes, Wanted&& wanted) {
    if (boxes.empty()) return {};
    const BoxGrids grids(boxes);
    const Buckets homes = grids.homes(), visitors = grids.visitors(homes);
    constexpr int64_t kChunk = 4096, kAhead = 16;  // buckets
    const int64_t chunks = (grids.buckets() + kChunk - 1) / kChunk;
    std::vector<std::vector<int32_t>> parts(static_cast<size_t>(chunks));
    struct Member {
        Box3 box;
        int32_t number, level;
    };
#pragma omp parallel for schedule(dynamic) num_threads(team(int64_t(boxes.size()), 1024))
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        auto& part = parts[size_t(chunk)];
        std::vector<Member> here;  // side by side
        const auto member = [&](int32_t i) { return Member{boxes[size_t(i)], i, grids.level_of(i)}; };
        for (int64_t bucket = chunk * kChunk; bucket < std::min((chunk + 1) * kChunk, grids.buckets()); ++bucket) {
            for (const int32_t i : homes.at(std::min(bucket + kAhead, grids.buckets() - 1))) prefetch_line(&boxes[size_t(i)]);
            const auto at_home = homes.at(bucket), guests = visitors.at(bucket);
            if (at_home.empty() || at_home.size() + guests.size() < 2) continue;
            here.clear();
            const auto meet = [&](const Member& host, const Member& guest) {
                if (!host.box.overlaps(guest.box)) return;
                if (grids.meeting_bucket(host.box, guest.box, host.level) != uint32_t(bucket)) return;
                const int32_t i = std::min(host.number, guest.number), j = std::max(host.number, guest.number);
                if (wanted(i, j)) part.push_back(i), part.push_back(j);
            };
            for (const int32_t i : at_home) {
                here.push_back(member(i));
                for (size_t k = 0; k + 1 < here.size(); ++k)
                    if (here[k].level == here.back().level) meet(here[k], here.back());
            }
            for (const int32_t i : guests) {
                const Member guest = member(i);
                for (const Member& host : here)
                    if (guest.level < host.level) meet(host, guest);
            }
        }
    }
    return sorted_pairs(parts, int64_t(boxes.size()));
}

}  // namespace continua
