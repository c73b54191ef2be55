// Where the numbers of strands are in the arrays of the core: strands are cut into chunks of whole strands, and every chunk begins
// at a multiple of the lanes, so that registers never hold two chunks. A number of vertex i, or of the edge that begins there, is at
// place(i); the last vertex of a strand begins no edge, and its place is that of an edge that is not there.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "../math/simd.hpp"
#include "../parallel.hpp"

namespace continua {

// Rows of numbers over the places, or over those of one chunk with some room on both sides.
class RodTable {
  public:
    static constexpr int64_t kRoom = 8;
    void resize(int rows, int64_t columns) {
        const int64_t stride = columns + 2 * kRoom;
        if (int64_t(data_.size()) != rows * stride || stride_ != stride) data_.assign(size_t(rows * stride), 0.0);
        stride_ = stride;
    }
    double* row(int k) { return data_.data() + k * stride_ + kRoom; }
    const double* row(int k) const { return data_.data() + k * stride_ + kRoom; }

  private:
    std::vector<double> data_;
    int64_t stride_ = 0;
};

class RodLayout {
  public:
    static constexpr int64_t kLanes = RodTable::kRoom, kChunk = 256;  // vertices of a chunk, at least
    struct Chunk {
        int64_t first, last, place;  // its vertices, the place of the first one
        int64_t strand, strands;
        int64_t places() const { return (last - first) / kLanes * kLanes + kLanes; }  // one more than vertices, at least
    };

    RodLayout(const int32_t* offsets, int64_t strands, int64_t nodes) : offsets_(offsets, offsets + strands + 1) {
        bool good = strands >= 1 && offsets_.front() == 0 && offsets_.back() == nodes;
        for (int64_t s = 0; s < strands; ++s) good = good && offsets_[size_t(s + 1)] >= offsets_[size_t(s)] + 2;
        if (!good) throw std::invalid_argument("offsets: must begin with 0, grow by at least 2 and end with the number of points");
        for (int64_t s = 0; s < strands; ++s) {
            if (chunks_.empty() || offsets_[size_t(s)] - chunks_.back().first >= kChunk) chunks_.push_back({offsets_[size_t(s)], 0, 0, s, 0});
            chunks_.back().last = offsets_[size_t(s + 1)];
            chunks_.back().strands += 1;
        }
        for (auto& chunk : chunks_) {
            chunk.place = places_;
            places_ += chunk.places();
            longest_ = std::max(longest_, chunk.places());
        }
    }
    int64_t nodes() const { return offsets_.back(); }
    int64_t places() const { return places_; }
    int64_t longest() const { return longest_; }  // places of the largest chunk
    int64_t offset(int64_t strand) const { return offsets_[size_t(strand)]; }
    int64_t chunks() const { return int64_t(chunks_.size()); }
    const Chunk& chunk(int64_t c) const { return chunks_[size_t(c)]; }

    // In parallel: function(number, chunk, table) with a table of `rows` for the thread.
    template <class Function>
    void for_chunks(int rows, Function&& function) const {
#pragma omp parallel num_threads(team(nodes()))
        {
            RodTable table;
            table.resize(rows, longest_);
#pragma omp for schedule(static)
            for (int64_t c = 0; c < chunks(); ++c) function(c, chunks_[size_t(c)], table);
        }
    }
    // Arrays (nodes, components) from rows of a table, and back.
    void read(const double* from, int components, RodTable& table, int first) const {
        for_vertices([&](int64_t i, int64_t place) {
            for (int a = 0; a < components; ++a) table.row(first + a)[place] = from[i * components + a];
        });
    }
    void write(const RodTable& table, int first, int components, double* to) const {
        for_vertices([&](int64_t i, int64_t place) {
            for (int a = 0; a < components; ++a) to[i * components + a] = table.row(first + a)[place];
        });
    }
    template <class Function>
    void for_vertices(Function&& function) const {
        for (const auto& chunk : chunks_)
            for (int64_t i = chunk.first; i < chunk.last; ++i) function(i, chunk.place + i - chunk.first);
    }
    template <class Function>
    void for_strands(Function&& function) const {
        for (size_t s = 0; s + 1 < offsets_.size(); ++s) function(int64_t(offsets_[s]), int64_t(offsets_[s + 1]));
    }
    int64_t place(int64_t vertex) const {
        const auto after = std::upper_bound(chunks_.begin(), chunks_.end(), vertex, [](int64_t v, const Chunk& c) { return v < c.first; });
        return (after - 1)->place + vertex - (after - 1)->first;
    }
    bool begins_edge(int64_t vertex) const {
        return vertex >= 0 && vertex < nodes() &&
               *std::upper_bound(offsets_.begin(), offsets_.end(), vertex) != vertex + 1;
    }

  private:
    std::vector<int32_t> offsets_;
    std::vector<Chunk> chunks_;
    int64_t places_ = 0, longest_ = 0;
};

}  // namespace continua
