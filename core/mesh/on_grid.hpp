// Meshes whose points move with the nodes of a grid: the inverse of P = D + W^T K W, with a diagonal D over nodes,
// weights W (points, nodes) and a positive stiffness K between points.
//
// P z = r says z = D^-1 (r - W^T lambda) with lambda = K y, y = W z (Woodbury). With S = W D^-1 W^T that is
//   (-S  -1) (lambda)   (-W D^-1 r)
//   (-1   K) (  y   ) = (    0    ),
// a sparse quasi-definite matrix over the points, which has factors L D L^T in any order. To each point belongs a block
// of lambda and y. S gets a little more on its diagonal: where points outnumber nodes it is singular. This leaves P
// positive definite, since (S + K^-1)^-1 only becomes smaller.
#pragma once

#include <cmath>

#include "block_factor.hpp"

namespace continua {

// Of all points, as the caller has them.
struct GridWeights {
    const int64_t* at;     // (points, reach) node, or -1
    const double* weight;  // (points, reach)
    int64_t points, reach, nodes;
};
template <int d>
struct PointStiffness {
    const int64_t* first;   // (points + 1,) blocks of a row
    const int32_t* column;  // of every block
    const double* values;   // (blocks, d, d), symmetric as a whole; both halves are there
};

template <int d>
class MeshOnGrid {
  public:
    static constexpr double kMore = 1e-8;  // added to S, over the 1 / mass of a point

    // x (points, d): where they are, to order them; inverse (nodes, 3): 1 / D
    MeshOnGrid(const GridWeights& on, const PointStiffness<d>& stiffness, const double* x, const double* inverse,
               const double* mass)
        : points_(on.points), reach_(on.reach), at_(on.at, on.at + on.points * on.reach),
          weight_(on.weight, on.weight + on.points * on.reach), inverse_(inverse, inverse + 3 * on.nodes),
          graph_(join(stiffness)), factor_(graph_, Dissection<d>(graph_, x).order) {
        for (int64_t p = 0; p < points_; ++p) more_.push_back(kMore / mass[p]);
    }
    double work() const { return factor_.work(); }

    void factorise(const PointStiffness<d>& stiffness) {
        scale_ = mean_scale();
        factor_.factorise([&](int32_t p, auto&& at) {
            for (int64_t k = graph_.first[size_t(p)]; k < graph_.first[size_t(p + 1)]; ++k)
                if (auto* block = at(graph_.other[size_t(k)]))
                    for (int a = 0; a < d; ++a) block->a[a][a] -= scale_ * shared_[size_t(k * d + a)];
            auto* own = at(p);
            for (int a = 0; a < d; ++a) {
                own->a[a][a] -= scale_ * (own_[size_t(p * d + a)] + more_[size_t(p)]);
                own->a[a][d + a] = own->a[d + a][a] = -1;
            }
            for (int64_t k = stiffness.first[p]; k < stiffness.first[p + 1]; ++k)
                if (auto* block = at(stiffness.column[k]))
                    for (int r = 0; r < d; ++r)  // block (column, p) is the transpose of block (p, column)
                        for (int c = 0; c < d; ++c)
                            block->a[d + r][d + c] += stiffness.values[(k * d + r) * d + c] / scale_;
        });
        solution_.resize(size_t(points_ * 2 * d));
    }

    // out = P^-1 r over nodes (nodes, 3)
    void apply(const double* r, double* out) {
        for (int64_t p = 0; p < points_; ++p) {
            double sum[3] = {};
            for_nodes(p, [&](int64_t i, double w) {
                for (int a = 0; a < 3; ++a) sum[a] += w * inverse_[size_t(3 * i + a)] * r[3 * i + a];
            });
            for (int a = 0; a < d; ++a) solution_[size_t((2 * p) * d + a)] = -sum[a];
            for (int a = 0; a < d; ++a) solution_[size_t((2 * p + 1) * d + a)] = 0;
        }
        factor_.solve(solution_.data());
        const int64_t numbers = int64_t(inverse_.size());
        std::copy(r, r + numbers, out);
        for (int64_t p = 0; p < points_; ++p)
            for_nodes(p, [&](int64_t i, double w) {
                for (int a = 0; a < d; ++a) out[3 * i + a] -= w * scale_ * solution_[size_t((2 * p) * d + a)];
            });
        for (int64_t i = 0; i < numbers; ++i) out[i] *= inverse_[size_t(i)];
    }

  private:
    int64_t points_, reach_;
    std::vector<int64_t> at_;
    std::vector<double> weight_, inverse_;
    std::vector<double> shared_, own_;  // S: (graph_.other, d) and its diagonal (points, d)
    Graph graph_;                       // of S and K together
    std::vector<double> more_, solution_;
    double scale_ = 1;  // unit of lambda: S and K then have numbers of one size
    BlockFactor<2 * d> factor_;

    template <class Function>
    void for_nodes(int64_t p, Function&& f) const {
        for (int64_t k = p * reach_; k < (p + 1) * reach_; ++k)
            if (at_[size_t(k)] >= 0) f(at_[size_t(k)], weight_[size_t(k)]);
    }
    // Where the points of node i are in weight_: places[first[i]] to places[first[i + 1]].
    std::vector<int64_t> first_at(std::vector<int64_t>& places) const {
        std::vector<int64_t> first(inverse_.size() / 3 + 1, 0);
        for (const int64_t i : at_)
            if (i >= 0) ++first[size_t(i + 1)];
        for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
        places.resize(size_t(first.back()));
        std::vector<int64_t> next(first.begin(), first.end() - 1);
        for (size_t k = 0; k < at_.size(); ++k)
            if (at_[k] >= 0) places[size_t(next[size_t(at_[k])]++)] = int64_t(k);
        return first;
    }
    // S = W D^-1 W^T, and the graph of S and K.
    Graph join(const PointStiffness<d>& stiffness) {
        Graph graph;
        std::vector<int64_t> places;
        const std::vector<int64_t> first = first_at(places);
        std::vector<double> sum(size_t(points_ * d), 0.0);
        std::vector<int32_t> seen(size_t(points_), -1), found;
        own_.resize(size_t(points_ * d));
        for (int32_t p = 0; p < int32_t(points_); ++p) {
            found.clear();
            auto meet = [&](int32_t q) {
                if (seen[size_t(q)] == p) return;
                seen[size_t(q)] = p;
                found.push_back(q);
            };
            for (int64_t k = stiffness.first[p]; k < stiffness.first[p + 1]; ++k) meet(stiffness.column[k]);
            for_nodes(p, [&](int64_t i, double w) {
                for (int64_t k = first[size_t(i)]; k < first[size_t(i + 1)]; ++k) {
                    const int64_t place = places[size_t(k)], q = place / reach_;
                    meet(int32_t(q));
                    for (int a = 0; a < d; ++a)
                        sum[size_t(q * d + a)] += w * weight_[size_t(place)] * inverse_[size_t(3 * i + a)];
                }
            });
            for (const int32_t q : found)
                for (int a = 0; a < d; ++a) {
                    double& entry = sum[size_t(q * d + a)];
                    if (q == p) own_[size_t(p * d + a)] = entry;
                    else shared_.push_back(entry);
                    entry = 0;
                }
            for (const int32_t q : found)
                if (q != p) graph.other.push_back(q);
            graph.first.push_back(int64_t(graph.other.size()));
        }
        return graph;
    }
    double mean_scale() const {
        double sum = 0;
        for (const double entry : own_) sum += entry;
        return sum > 0 ? double(own_.size()) / sum : 1;
    }
};

}  // namespace continua
