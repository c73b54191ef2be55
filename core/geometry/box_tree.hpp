// Boxes around the cells of a mesh in a balanced binary tree. Which cells lie together is decided once, at rest; where
// the mesh moves `refit` moves the boxes along, and queries are exact for any positions.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <vector>

#include "../math/vector.hpp"
#include "../parallel.hpp"

namespace continua {

template <int d>
struct TreeBox {
    double low[d], high[d];

    TreeBox() {
        std::fill(low, low + d, std::numeric_limits<double>::infinity());
        std::fill(high, high + d, -std::numeric_limits<double>::infinity());
    }
    void add(const double* x) {
        for (int a = 0; a < d; ++a) low[a] = std::min(low[a], x[a]), high[a] = std::max(high[a], x[a]);
    }
    void add(const TreeBox& other) { add(other.low), add(other.high); }
    bool contains(const double* p) const {
        bool inside = true;
        for (int a = 0; a < d; ++a) inside = inside && p[a] >= low[a] && p[a] <= high[a];
        return inside;
    }
    double squared_distance(const double* p) const {
        double sum = 0;
        for (int a = 0; a < d; ++a) {
            const double out = std::max({low[a] - p[a], 0.0, p[a] - high[a]});
            sum += out * out;
        }
        return sum;
    }
};

template <int d, int vertices>
class BoxTree {
  public:
    using Box = TreeBox<d>;

    // rest (nodes, d), cells (count, vertices) with count >= 1; `cells` must outlive the tree.
    BoxTree(const double* rest, const int32_t* cells, int64_t count) : cells_(cells), count_(count) {
        while (leaves_ * kLeafCells < count) leaves_ *= 2;
        boxes_.resize(size_t(2 * leaves_));
        order_.resize(size_t(count));
        std::iota(order_.begin(), order_.end(), 0);
        split(centers(rest), 1, 0, leaves_);
        refit(rest);
    }

    void refit(const double* x) {
        largest_ = 0;
#pragma omp parallel for schedule(static) num_threads(team(count_))
        for (int64_t leaf = 0; leaf < leaves_; ++leaf) boxes_[size_t(leaves_ + leaf)] = leaf_box(x, leaf);
        for (int64_t node = leaves_ - 1; node > 0; --node) {
            boxes_[size_t(node)] = boxes_[size_t(2 * node)];
            boxes_[size_t(node)].add(boxes_[size_t(2 * node + 1)]);
        }
        for (int a = 0; a < d; ++a) largest_ = std::max({largest_, -boxes_[1].low[a], boxes_[1].high[a]});
    }

    double largest_coordinate() const { return largest_; }
    const Box& all() const { return boxes_[1]; }

    // visit(cell) for the cells in boxes that enter(box) accepts together with all boxes around them; those closer to
    // `from` first, if that is given.
    template <class Enter, class Visit>
    void visit_boxes(Enter&& enter, Visit&& visit, const double* from = nullptr) const {
        std::array<int64_t, kDepth> stack;
        int top = 0;
        stack[size_t(top++)] = 1;
        while (top > 0) {
            const int64_t node = stack[size_t(--top)];
            if (!enter(boxes_[size_t(node)])) continue;
            if (node >= leaves_) {
                const int64_t leaf = node - leaves_;
                for (int64_t i = first_of(leaf); i < first_of(leaf + 1); ++i) visit(order_[size_t(i)]);
                continue;
            }
            const Box &left = boxes_[size_t(2 * node)], &right = boxes_[size_t(2 * node + 1)];
            const bool left_first = !from || left.squared_distance(from) <= right.squared_distance(from);
            stack[size_t(top++)] = 2 * node + (left_first ? 1 : 0);
            stack[size_t(top++)] = 2 * node + (left_first ? 0 : 1);
        }
    }
    // visit(cell) for at least all cells whose box contains p.
    template <class Visit>
    void visit_at(const double* p, Visit&& visit) const {
        visit_boxes([&](const Box& box) { return box.contains(p); }, visit);
    }
    // visit(cell) for at least all cells that may be as close to p as the best one. visit gives the squared distance of
    // the best cell so far; bound: what is known of it before. Cells that tie but for rounding are visited in any case,
    // so that the best one does not depend on the bound.
    template <class Visit>
    void visit_near(const double* p, double bound, Visit&& visit) const {
        const double rounding = 1e-22 * largest_ * largest_;
        double limit = bound * (1 + 1e-6) + rounding;
        visit_boxes([&](const Box& box) { return box.squared_distance(p) <= limit; },
                    [&](int32_t cell) { limit = std::min(limit, visit(cell) * (1 + 1e-6) + rounding); }, p);
    }

  private:
    static constexpr int64_t kLeafCells = 4;
    static constexpr int kDepth = 64;


    const int32_t* cells_;
    int64_t count_, leaves_ = 1;  // leaves: a power of two
    std::vector<Box> boxes_;      // box 1 holds all; box k holds boxes 2k and 2k + 1; leaf l is box leaves_ + l
    std::vector<int32_t> order_;  // cells of leaf l: from first_of(l) to first_of(l + 1)
    double largest_ = 0;          // coordinate, for the size of rounding errors

    int64_t first_of(int64_t leaf) const { return count_ * leaf / leaves_; }

    std::vector<Vector<d>> centers(const double* x) const {
        std::vector<Vector<d>> all(static_cast<size_t>(count_), Vector<d>{});
        for (int64_t c = 0; c < count_; ++c)
            for (int k = 0; k < vertices; ++k)
                for (int a = 0; a < d; ++a)
                    all[size_t(c)][size_t(a)] += x[int64_t(cells_[c * vertices + k]) * d + a] / vertices;
        return all;
    }
    // Halve the cells of a box, which has leaves `begin` to `end`, along the longest side.
    void split(const std::vector<Vector<d>>& centers, int64_t node, int64_t begin, int64_t end) {
        if (node >= leaves_) return;
        Box box;
        for (int64_t i = first_of(begin); i < first_of(end); ++i) box.add(centers[size_t(order_[size_t(i)])].data());
        size_t axis = 0;
        for (size_t a = 1; a < d; ++a)
            if (box.high[a] - box.low[a] > box.high[axis] - box.low[axis]) axis = a;
        const int64_t middle = (begin + end) / 2;
        const auto at = [&](int64_t leaf) { return order_.begin() + first_of(leaf); };
        std::nth_element(at(begin), at(middle), at(end), [&](int32_t a, int32_t b) {
            const double u = centers[size_t(a)][axis], v = centers[size_t(b)][axis];
            return u < v || (u == v && a < b);  // ties by number: the same tree everywhere
        });
        split(centers, 2 * node, begin, middle);
        split(centers, 2 * node + 1, middle, end);
    }
    Box leaf_box(const double* x, int64_t leaf) const {
        Box box;
        for (int64_t i = first_of(leaf); i < first_of(leaf + 1); ++i)
            for (int k = 0; k < vertices; ++k)
                box.add(x + int64_t(cells_[int64_t(order_[size_t(i)]) * vertices + k]) * d);
        return box;
    }
};

}  // namespace continua
