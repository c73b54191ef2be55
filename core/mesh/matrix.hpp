// Symmetric matrices of d x d blocks, one for every pair of nodes that share a cell: the Hessians of mesh energies. The
// pattern is fixed by the mesh; values are (blocks, d, d), blocks in the order of compressed rows, each block column by
// column.
#pragma once

#include "cells.hpp"

namespace continua {

template <int d, int vertices>
class BlockMatrix {
  public:
    static constexpr int kBlock = d * d;
    static constexpr int kPairs = vertices * (vertices + 1) / 2;  // of a cell: 00 01 .. 0n 11 12 ..

    explicit BlockMatrix(const Cells<d, vertices>& cells)
        : upper_(cells), shared_(upper_.pairs_of(cells), cells.count(), int64_t(upper_.high.size())) {
        link_rows();
    }

    int64_t blocks() const { return int64_t(column_.size()); }
    const std::vector<int64_t>& rows() const { return first_; }
    const std::vector<int32_t>& columns() const { return column_; }
    // Numbers an array of values needs: products read whole registers and so a little beyond the last block.
    int64_t size() const { return blocks() * kBlock + 4; }

    // function(batch, edges, given) writes the blocks of all pairs of a cell: entry (i, j) of pair k at
    // [((k * d + i) * d + j) * kBatch].
    template <class Function>
    void assemble(const Cells<d, vertices>& cells, const double* x, double* values, Function&& function) {
        cells.for_chunks(
            x, [&](int64_t chunk) { return shared_.clear(chunk); },
            [&](int64_t b, const double* edges, double* sums) {
                alignas(64) double given[kPairs * kBlock * kBatch];
                function(b, edges, given);
                shared_.add(given, b, cells.count_of(b), sums);
            });
        std::fill(values + blocks() * kBlock, values + size(), 0.0);
#pragma omp parallel for schedule(static) num_threads(team(cells.count()))
        for (int64_t row = 0; row < nodes(); ++row)
            for (int64_t k = first_[size_t(row)]; k < first_[size_t(row + 1)]; ++k) {
                double block[decltype(shared_)::kRecord];  // of the pair with the smaller node first, row by row
                shared_.total(pair_[size_t(k)], block);
                const bool upper = row <= column_[size_t(k)];
                for (int i = 0; i < d; ++i)
                    for (int j = 0; j < d; ++j)
                        values[k * kBlock + i * d + j] = upper ? block[j * d + i] : block[i * d + j];
            }
    }
    void product(const double* values, const double* x, double* out) const {
        using Column = stdx::simd<double, stdx::simd_abi::deduce_t<double, d == 2 ? 2 : 4>>;
#pragma omp parallel for schedule(static) num_threads(team(blocks()))
        for (int64_t row = 0; row < nodes(); ++row) {
            Column sum[d];
            for (auto& s : sum) s = Column(0.0);
            for (int64_t k = first_[size_t(row)]; k < first_[size_t(row + 1)]; ++k) {
                const double *block = values + k * kBlock, *from = x + int64_t(column_[size_t(k)]) * d;
                for (int j = 0; j < d; ++j) sum[j] += Column(block + j * d, stdx::element_aligned) * Column(from[j]);
            }
            for (int j = 1; j < d; ++j) sum[0] += sum[j];
            for (int i = 0; i < d; ++i) out[row * d + i] = sum[0][size_t(i)];
        }
    }
    void diagonal(const double* values, double* out) const {
        for (int64_t row = 0; row < nodes(); ++row)
            for (int64_t k = first_[size_t(row)]; k < first_[size_t(row + 1)]; ++k)
                if (column_[size_t(k)] == row)
                    for (int a = 0; a < d; ++a) out[row * d + a] = values[k * kBlock + a * (d + 1)];
    }

  private:
    using Mesh = Cells<d, vertices>;

    // All pairs of nodes that share a cell, the smaller one first; also every node with itself.
    struct Upper {
        std::vector<int64_t> first;  // pairs of node `low`: first[low] to first[low + 1]
        std::vector<int32_t> high;   // ascending for every `low`

        explicit Upper(const Mesh& cells) : first(size_t(cells.nodes() + 1), 0) {
            std::vector<std::vector<int32_t>> rows(size_t(cells.nodes()));
            for (int64_t i = 0; i < cells.nodes(); ++i) rows[size_t(i)].push_back(int32_t(i));
            for_pairs(cells, [&](int32_t low, int32_t other) { rows[size_t(low)].push_back(other); });
            for (size_t i = 0; i < rows.size(); ++i) {
                std::sort(rows[i].begin(), rows[i].end());
                high.insert(high.end(), rows[i].begin(), std::unique(rows[i].begin(), rows[i].end()));
                first[i + 1] = int64_t(high.size());
            }
        }
        // Places of the pairs of every cell, (count, kPairs).
        std::vector<int32_t> pairs_of(const Mesh& cells) const {
            std::vector<int32_t> places;
            places.reserve(size_t(cells.count() * kPairs));
            for_pairs(cells, [&](int32_t low, int32_t other) {
                const auto begin = high.begin() + first[size_t(low)], end = high.begin() + first[size_t(low) + 1];
                places.push_back(int32_t(std::lower_bound(begin, end, other) - high.begin()));
            });
            return places;
        }
        template <class Function>
        static void for_pairs(const Mesh& cells, Function&& function) {
            for (auto v = cells.vertex_list().begin(); v != cells.vertex_list().end(); v += vertices)
                for (int k = 0; k < vertices; ++k)
                    for (int l = k; l < vertices; ++l) function(v[k], v[l]);
        }
    };
    Upper upper_;
    ChunkSums<kPairs, kBlock> shared_;
    std::vector<int64_t> first_;   // blocks of row i: first_[i] to first_[i + 1]
    std::vector<int32_t> column_;  // ascending in every row
    std::vector<int32_t> pair_;    // place of the pair in upper_

    int64_t nodes() const { return int64_t(upper_.first.size()) - 1; }

    void link_rows() {
        auto for_blocks = [&](auto&& function) {  // function(row, column, pair), columns of a row ascending
            for (const bool upper : {false, true})
                for (int64_t low = 0; low < nodes(); ++low)
                    for (int64_t pair = upper_.first[size_t(low)]; pair < upper_.first[size_t(low + 1)]; ++pair) {
                        const int64_t high = upper_.high[size_t(pair)];
                        if (upper)
                            function(low, high, pair);
                        else if (low != high)
                            function(high, low, pair);
                    }
        };
        first_.assign(size_t(nodes() + 1), 0);
        for_blocks([&](int64_t row, int64_t, int64_t) { ++first_[size_t(row + 1)]; });
        for (int64_t i = 0; i < nodes(); ++i) first_[size_t(i + 1)] += first_[size_t(i)];
        column_.resize(size_t(first_.back()));
        pair_.resize(column_.size());
        std::vector<int64_t> next(first_.begin(), first_.end() - 1);
        for_blocks([&](int64_t row, int64_t column, int64_t pair) {
            const int64_t place = next[size_t(row)]++;
            column_[size_t(place)] = int32_t(column);
            pair_[size_t(place)] = int32_t(pair);
        });
    }
};

}  // namespace continua
