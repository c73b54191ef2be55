// In which order to eliminate the vertices of a mesh, so that the factors of a matrix over them stay sparse: the points
// are halved across their longest extent, again and again, and those that join two halves come after both.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace continua {

// Neighbours of vertex v, itself not among them: other[first[v]] to other[first[v + 1]].
struct Graph {
    std::vector<int64_t> first{0};
    std::vector<int32_t> other;

    int64_t size() const { return int64_t(first.size()) - 1; }
    template <class Function>
    void for_neighbours(int64_t v, Function&& f) const {
        for (int64_t k = first[size_t(v)]; k < first[size_t(v + 1)]; ++k) f(other[size_t(k)]);
    }
};

template <int d>
class Dissection {
  public:
    std::vector<int32_t> order;  // vertices, first one first

    // x (vertices, d): where they are
    Dissection(const Graph& graph, const double* x) : graph_(graph), x_(x), half_(size_t(graph.size()), 0) {
        std::vector<int32_t> all(half_.size());
        for (size_t v = 0; v < all.size(); ++v) all[v] = int32_t(v);
        split(std::move(all));
    }

  private:
    static constexpr size_t kSmall = 8;  // so few are not worth a cut
    const Graph& graph_;
    const double* x_;
    std::vector<int32_t> half_;  // in which cut a vertex has been in the second half
    int32_t cuts_ = 0;

    void split(std::vector<int32_t> some) {
        const auto middle = some.begin() + std::ptrdiff_t(some.size() / 2);
        if (some.size() > kSmall) {
            const int axis = longest(some);
            auto key = [&](int32_t v) { return std::pair(x_[int64_t(v) * d + axis], v); };
            std::nth_element(some.begin(), middle, some.end(), [&](auto a, auto b) { return key(a) < key(b); });
            const int32_t cut = ++cuts_;
            std::for_each(middle, some.end(), [&](int32_t v) { half_[size_t(v)] = cut; });
            const auto joins = [&](int32_t v) {
                bool found = false;
                graph_.for_neighbours(v, [&](int32_t other) { found |= half_[size_t(other)] == cut; });
                return found;
            };
            const auto border = std::stable_partition(some.begin(), middle, [&](int32_t v) { return !joins(v); });
            if (border != some.begin()) {
                split({some.begin(), border});
                split({middle, some.end()});
                order.insert(order.end(), border, middle);
                return;
            }
        }
        order.insert(order.end(), some.begin(), some.end());
    }
    int longest(const std::vector<int32_t>& some) const {
        int best = 0;
        double extent = -1;
        for (int a = 0; a < d; ++a) {
            double low = x_[int64_t(some[0]) * d + a], high = low;
            for (const int32_t v : some) {
                low = std::min(low, x_[int64_t(v) * d + a]);
                high = std::max(high, x_[int64_t(v) * d + a]);
            }
            if (high - low > extent) best = a, extent = high - low;
        }
        return best;
    }
};

}  // namespace continua
