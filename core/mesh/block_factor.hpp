// A = L D L^T of a sparse symmetric matrix of b x b blocks, in a given order of elimination and without pivoting: for
// definite and quasi-definite matrices. One thread, so that it has the same bits for any number of them.
#pragma once

#include "dissection.hpp"

namespace continua {

template <int b>
class BlockFactor {
  public:
    static constexpr int kWide = b <= 4 ? 4 : 8;  // numbers of a row of a block, with padding for whole registers
    struct Block {
        alignas(8 * kWide) double a[b][kWide];
    };

    BlockFactor(const Graph& graph, const std::vector<int32_t>& order) : order_(order), place_(order.size()) {
        for (size_t j = 0; j < order.size(); ++j) place_[size_t(order[j])] = int32_t(j);
        find_rows(graph);
    }
    // Multiplications that `factorise` takes.
    double work() const {
        double total = 0;
        for (int64_t j = 0; j < size(); ++j) {
            const double n = double(first_[size_t(j + 1)] - first_[size_t(j)]);
            total += 0.5 * (n + 1) * (n + 2) * b * b * b;
        }
        return total;
    }
    // column(vertex, at): adds block (other, vertex) to *at(other) for `other` = vertex and all neighbours; at(other) is
    // null where the block belongs to another column.
    template <class Function>
    void factorise(Function&& column) {
        lower_.resize(row_.size());
        diagonal_.resize(order_.size());
        inverse_.resize(order_.size());
        std::vector<Block> sums;                                    // of column j: its diagonal, then its rows
        std::vector<int32_t> slot(order_.size(), -1);              // of a row in the sums
        std::vector<int64_t> next(first_.begin(), first_.end() - 1);  // of column k: first row that is not done
        std::vector<std::vector<int32_t>> waiting(order_.size());  // columns k whose next row is j
        for (int64_t j = 0; j < size(); ++j) {
            const int64_t begin = first_[size_t(j)], end = first_[size_t(j + 1)];
            sums.assign(size_t(end - begin + 1), Block{});
            slot[size_t(j)] = 0;
            for (int64_t k = begin; k < end; ++k) slot[size_t(row_[size_t(k)])] = int32_t(k - begin + 1);
            column(order_[size_t(j)], [&](int32_t vertex) -> Block* {
                const int32_t row = place_[size_t(vertex)];
                return row < j ? nullptr : &sums[size_t(slot[size_t(row)])];
            });
            for (const int32_t k : waiting[size_t(j)]) {
                subtract(k, next[size_t(k)], slot, sums);
                if (++next[size_t(k)] < first_[size_t(k + 1)])
                    waiting[size_t(row_[size_t(next[size_t(k)])])].push_back(k);
            }
            diagonal_[size_t(j)] = sums[0];
            inverse_[size_t(j)] = inverted(sums[0]);
            for (int64_t k = begin; k < end; ++k)
                lower_[size_t(k)] = product(sums[size_t(k - begin + 1)], inverse_[size_t(j)]);
            if (begin < end) waiting[size_t(row_[size_t(begin)])].push_back(int32_t(j));
        }
    }
    // A x = right side, x (vertices, b) in place.
    void solve(double* x) {
        products_.assign(order_.size(), Block{});
        for (int64_t j = 0; j < size(); ++j) {
            double *own = of(x, j), from[kWide] = {};
            for (int r = 0; r < b; ++r) {
                for (int c = 0; c < b; ++c) own[r] -= products_[size_t(j)].a[r][c];
                from[r] = own[r];
            }
            for (int64_t k = first_[size_t(j)]; k < first_[size_t(j + 1)]; ++k) {
                Block& to = products_[size_t(row_[size_t(k)])];  // summed up only when its row comes
                const Block& lower = lower_[size_t(k)];
                for (int r = 0; r < b; ++r)
                    for (int c = 0; c < kWide; ++c) to.a[r][c] += lower.a[r][c] * from[c];
            }
        }
        for (int64_t j = size() - 1; j >= 0; --j) {
            double sum[kWide] = {}, *to = of(x, j);
            for (int r = 0; r < b; ++r)
                for (int c = 0; c < kWide; ++c) sum[c] += inverse_[size_t(j)].a[r][c] * to[r];
            for (int64_t k = first_[size_t(j)]; k < first_[size_t(j + 1)]; ++k) {
                const double* from = of(x, row_[size_t(k)]);
                for (int r = 0; r < b; ++r)
                    for (int c = 0; c < kWide; ++c) sum[c] -= lower_[size_t(k)].a[r][c] * from[r];
            }
            for (int r = 0; r < b; ++r) to[r] = sum[r];
        }
    }

  private:
    std::vector<int32_t> order_, place_;
    std::vector<int64_t> first_{0};  // blocks below the diagonal of column j: first_[j] to first_[j + 1]
    std::vector<int32_t> row_;       // ascending in every column
    std::vector<Block> lower_, diagonal_, inverse_;  // L, D, D^-1
    std::vector<Block> products_;                    // of a solve, by rows

    int64_t size() const { return int64_t(order_.size()); }
    double* of(double* x, int64_t j) const { return x + int64_t(order_[size_t(j)]) * b; }

    // Rows of column j: neighbours that come later, and what the columns have whose first row is j.
    void find_rows(const Graph& graph) {
        std::vector<std::vector<int32_t>> children(order_.size());
        for (int64_t j = 0; j < size(); ++j) {
            std::vector<int32_t> rows;
            auto take = [&](int32_t row) {
                if (row > j) rows.push_back(row);
            };
            graph.for_neighbours(order_[size_t(j)], [&](int32_t v) { take(place_[size_t(v)]); });
            for (const int32_t c : children[size_t(j)])
                for (int64_t k = first_[size_t(c)]; k < first_[size_t(c + 1)]; ++k) take(row_[size_t(k)]);
            std::sort(rows.begin(), rows.end());
            rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
            if (!rows.empty()) children[size_t(rows[0])].push_back(int32_t(j));
            row_.insert(row_.end(), rows.begin(), rows.end());
            first_.push_back(int64_t(row_.size()));
        }
    }
    // sums_i -= L_ik D_k L_jk^T for the rows i >= j of column k, where j is its row number `at`.
    void subtract(int32_t k, int64_t at, const std::vector<int32_t>& slot, std::vector<Block>& sums) const {
        const Block turned = product(diagonal_[size_t(k)], transposed(lower_[size_t(at)]));
        for (int64_t i = at; i < first_[size_t(k + 1)]; ++i) {
            Block& sum = sums[size_t(slot[size_t(row_[size_t(i)])])];
            const Block& lower = lower_[size_t(i)];
            for (int r = 0; r < b; ++r) {
                double row[kWide];  // of its own, so that the compiler keeps it in registers
                for (int c = 0; c < kWide; ++c) row[c] = sum.a[r][c];
                for (int m = 0; m < b; ++m)
                    for (int c = 0; c < kWide; ++c) row[c] -= lower.a[r][m] * turned.a[m][c];
                for (int c = 0; c < kWide; ++c) sum.a[r][c] = row[c];
            }
        }
    }
    static Block product(const Block& x, const Block& y) {
        Block out{};
        for (int r = 0; r < b; ++r)
            for (int m = 0; m < b; ++m)
                for (int c = 0; c < kWide; ++c) out.a[r][c] += x.a[r][m] * y.a[m][c];
        return out;
    }
    static Block transposed(const Block& x) {
        Block out{};
        for (int r = 0; r < b; ++r)
            for (int c = 0; c < b; ++c) out.a[r][c] = x.a[c][r];
        return out;
    }
    // Gauss-Jordan, diagonal entries in their order.
    static Block inverted(Block x) {
        for (int p = 0; p < b; ++p) {
            const double pivot = 1 / x.a[p][p];
            x.a[p][p] = 1;
            for (int c = 0; c < b; ++c) x.a[p][c] *= pivot;
            for (int r = 0; r < b; ++r) {
                if (r == p) continue;
                const double factor = x.a[r][p];
                x.a[r][p] = 0;
                for (int c = 0; c < b; ++c) x.a[r][c] -= factor * x.a[p][c];
            }
        }
        return x;
    }
};

}  // namespace continua
