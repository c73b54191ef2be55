// Which collision particles have company: on a grid particles feel each other where their stencils share a node. Whoever has
// only its own surface around it feels nothing but the smoothing of the grid, which is no contact.
//
// Particle i has company if some j with |c_i - c_j| <= degree along every axis, c being the first node of the stencil, belongs
// to another body or faces it: n_i.n_j < facing, and j lies before i, n_i.(x_j - x_i) > -kBehind dx. So two sides of a thin part,
// which lie behind each other, are no company, but surfaces that have sunk into each other a little are. Cells are sorted, so that the rows of cells around one follow each other; a
// cell whose surroundings are all of one body, with normals in a narrow cone, is done at once.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "../grid/bsplines.hpp"
#include "../parallel.hpp"

namespace continua {

inline constexpr double kBehind = 0.5;  // cells by which surfaces that touch may have sunk into each other

template <int d>
class Company {
  public:
    // x, normal (count, d), the normals of unit length or zero; body (count,); period in cells, 0 where there is none.
    Company(const double* x, const double* normal, const int32_t* body, int64_t count, double dx, const double* origin,
            const int64_t* period, int degree, double facing)
        : x_(x), normal_(normal), body_(body), dx_(dx), degree_(degree), facing_(facing) {
        const double shift = 0.5 * (degree - 1);
        std::vector<Cell> cells(count);
        for (int64_t i = 0; i < count; ++i)
            for (int a = 0; a < d; ++a) {
                int64_t c = int64_t(std::floor((x[i * d + a] - origin[a]) / dx - shift));
                if (period[a]) c = ((c % period[a]) + period[a]) % period[a];
                cells[i][a] = c;
            }
        std::copy_n(period, d, period_.begin());
        order_.resize(count);
        for (int64_t i = 0; i < count; ++i) order_[i] = i;
        std::sort(order_.begin(), order_.end(),
                  [&](int64_t i, int64_t j) { return cells[i] != cells[j] ? cells[i] < cells[j] : i < j; });
        for (int64_t k = 0; k < count; ++k)
            if (k == 0 || cells[order_[k]] != cells_.back()) cells_.push_back(cells[order_[k]]), first_.push_back(k);
        first_.push_back(count);
        for (size_t c = 0; c < cells_.size(); ++c) summaries_.push_back(summary(first_[c], first_[c + 1]));
    }
    // out (count,): 1 where there is company.
    void find(uint8_t* out) const {
        const int64_t count = int64_t(cells_.size());
#pragma omp parallel num_threads(team(count, 64))
        {
            std::vector<int64_t> around;
#pragma omp for schedule(dynamic, 64)
            for (int64_t c = 0; c < count; ++c) {
                list_around(cells_[c], around);
                const bool quiet = all_alike(c, around);
                for (int64_t k = first_[c]; k < first_[c + 1]; ++k) out[order_[k]] = !quiet && meets(order_[k], around);
            }
        }
    }

  private:
    using Cell = std::array<int64_t, d>;
    struct Summary {
        int32_t least, most;        // numbers of bodies
        std::array<double, d> axis; // mean direction
        double angle;               // of the cone around it that holds all normals [rad]
    };
    const double *x_, *normal_;
    const int32_t* body_;
    double dx_;
    int degree_;
    double facing_;
    std::array<int64_t, d> period_{};
    std::vector<int64_t> order_, first_;
    std::vector<Cell> cells_;
    std::vector<Summary> summaries_;

    double along(int64_t i, const double* n) const {
        double sum = 0;
        for (int a = 0; a < d; ++a) sum += normal_[i * d + a] * n[a];
        return sum;
    }
    // Whether j lies before the surface at i.
    bool before(int64_t i, int64_t j) const {
        double height = 0;
        for (int a = 0; a < d; ++a) {
            double r = x_[j * d + a] - x_[i * d + a];
            if (const double length = dx_ * double(period_[a]); length > 0) r -= length * std::round(r / length);
            height += r * normal_[i * d + a];
        }
        return height > -kBehind * dx_;
    }
    Summary summary(int64_t begin, int64_t end) const {
        Summary s{body_[order_[begin]], body_[order_[begin]], {}, 4.0};
        for (int64_t k = begin; k < end; ++k) {
            s.least = std::min(s.least, body_[order_[k]]), s.most = std::max(s.most, body_[order_[k]]);
            for (int a = 0; a < d; ++a) s.axis[a] += normal_[order_[k] * d + a];
        }
        double size = 0;
        for (double c : s.axis) size += c * c;
        if (!(size > 0)) return s;
        for (double& c : s.axis) c /= std::sqrt(size);
        double least = 1;
        for (int64_t k = begin; k < end; ++k) least = std::min(least, along(order_[k], s.axis.data()));
        s.angle = std::acos(std::clamp(least, -1.0, 1.0));
        return s;
    }
    // Cells within `degree` of one along all axes, as numbers.
    void list_around(const Cell& cell, std::vector<int64_t>& out) const {
        out.clear();
        Cell at = cell;
        add_rows(cell, at, 0, out);
        std::sort(out.begin(), out.end());
        out.erase(std::unique(out.begin(), out.end()), out.end());  // short periods come round twice
    }
    void add_rows(const Cell& cell, Cell& at, int axis, std::vector<int64_t>& out) const {
        const bool row = axis == d - 1 && !period_[axis];
        for (int64_t step = -degree_; step <= (row ? -degree_ : degree_); ++step) {
            at[axis] = cell[axis] + step;
            if (period_[axis]) at[axis] = ((at[axis] % period_[axis]) + period_[axis]) % period_[axis];
            if (axis < d - 1) {
                add_rows(cell, at, axis + 1, out);
                continue;
            }
            Cell end = at;
            end[axis] = row ? cell[axis] + degree_ : at[axis];
            auto k = std::lower_bound(cells_.begin(), cells_.end(), at);
            for (; k != cells_.end() && *k <= end; ++k) out.push_back(k - cells_.begin());
        }
    }
    bool all_alike(int64_t c, const std::vector<int64_t>& around) const {
        const Summary& own = summaries_[c];
        for (int64_t other : around) {
            const Summary& s = summaries_[other];
            if (s.least != own.least || s.most != own.least || own.most != own.least) return false;
            double between = 0;
            for (int a = 0; a < d; ++a) between += own.axis[a] * s.axis[a];
            const double widest = std::acos(std::clamp(between, -1.0, 1.0)) + own.angle + s.angle;
            if (!(widest < std::acos(facing_))) return false;
        }
        return true;
    }
    bool meets(int64_t i, const std::vector<int64_t>& around) const {
        for (int64_t other : around)
            for (int64_t k = first_[other]; k < first_[other + 1]; ++k) {
                const int64_t j = order_[k];
                if (body_[j] != body_[i] || (along(i, normal_ + j * d) < facing_ && before(i, j))) return true;
            }
        return false;
    }
};

}  // namespace continua
