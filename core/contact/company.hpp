// Which collision particles have company: on a grid particles feel each other where their stencils share a node. Whoever has
// only its own surface around it feels nothing but the smoothing of the grid, which is no contact.
//
// Particle i has company if some j with |c_i - c_j| <= degree along every axis, c being the first node of the stencil, belongs
// to another body or faces it: n_i.n_j < facing, and j lies before i, n_i.(x_j - x_i) > -kBehind dx. So two sides of a thin
// part, which lie behind each other, are no company, but surfaces that have sunk into each other a little are. With facing = -1
// only other bodies count. Cells are sorted, so that the rows of cells around one follow each other. Every cell knows a cone
// that holds its normals: pairs of cells, and cells around a point, that cannot face each other are done at once.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
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
        : dx_(dx), degree_(degree), facing_(facing), facing_angle_(std::acos(facing)) {
        const double shift = 0.5 * (degree - 1);
        std::vector<std::pair<Cell, int64_t>> places(count);
        for (int64_t i = 0; i < count; ++i) {
            places[i].second = i;
            for (int a = 0; a < d; ++a) {
                int64_t c = int64_t(std::floor((x[i * d + a] - origin[a]) / dx - shift));
                if (period[a]) c = ((c % period[a]) + period[a]) % period[a];
                places[i].first[a] = c;
            }
        }
        std::copy_n(period, d, period_.begin());
        std::sort(places.begin(), places.end());
        order_.resize(count);
        for (int64_t k = 0; k < count; ++k) {
            order_[k] = places[k].second;
            if (k == 0 || places[k].first != cells_.back()) cells_.push_back(places[k].first), first_.push_back(k);
        }
        first_.push_back(count);
        normal_.resize(count), x_.resize(count), body_.resize(count);
        for (int64_t k = 0; k < count; ++k) {
            std::copy_n(x + order_[k] * d, d, x_[k].begin());
            std::copy_n(normal + order_[k] * d, d, normal_[k].begin());
            body_[k] = body[order_[k]];
        }
        for (size_t c = 0; c < cells_.size(); ++c) summaries_.push_back(summary(first_[c], first_[c + 1]));
    }
    // out (count,): 1 where there is company.
    void find(uint8_t* out) const {
        const int64_t count = int64_t(cells_.size());
#pragma omp parallel num_threads(team(count, 64))
        {
            std::vector<int64_t> around, others;
            Rows rows;
#pragma omp for schedule(dynamic, 64)
            for (int64_t c = 0; c < count; ++c) {
                list_around(cells_[c], rows, around);
                list_others(c, around, others);
                for (int64_t k = first_[c]; k < first_[c + 1]; ++k) out[order_[k]] = !others.empty() && meets(k, others);
            }
        }
    }

  private:
    using Cell = std::array<int64_t, d>;
    struct Summary {
        int32_t least, most;        // numbers of bodies
        std::array<double, d> axis; // mean direction
        double angle, cos, sin;     // of the cone around it that holds all normals [rad]
        double safe;                // a normal whose cosine with the axis is larger faces none of them; 2 where none is safe
    };
    static constexpr double kHair = 1e-7;  // [rad] that rounding may take from an angle
    double dx_;
    int degree_;
    double facing_, facing_angle_;
    std::array<int64_t, d> period_{};
    std::vector<int64_t> order_, first_;
    std::vector<std::array<double, d>> normal_, x_;  // of the points in the order of cells, as `body_` is
    std::vector<int32_t> body_;
    std::vector<Cell> cells_;
    std::vector<Summary> summaries_;

    static double along(const std::array<double, d>& m, const std::array<double, d>& n) {
        double sum = 0;
        for (int a = 0; a < d; ++a) sum += m[a] * n[a];
        return sum;
    }
    // Whether those of the same body count that face each other.
    bool surfaces() const { return facing_ > -1; }
    bool faces(int64_t i, int64_t j) const {
        if (!(along(normal_[i], normal_[j]) < facing_)) return false;
        std::array<double, d> r;
        for (int a = 0; a < d; ++a) {
            r[a] = x_[j][a] - x_[i][a];
            if (const double length = dx_ * double(period_[a]); length > 0) r[a] -= length * std::round(r[a] / length);
        }
        return along(normal_[i], r) > -kBehind * dx_;
    }
    Summary summary(int64_t begin, int64_t end) const {
        Summary s{body_[begin], body_[begin], {}, 4.0, 0.0, 0.0, 2.0};
        for (int64_t k = begin; k < end; ++k) {
            s.least = std::min(s.least, body_[k]), s.most = std::max(s.most, body_[k]);
            for (int a = 0; a < d; ++a) s.axis[a] += normal_[k][a];
        }
        const double size = std::sqrt(along(s.axis, s.axis));
        if (!(size > 0)) return s;
        for (double& c : s.axis) c /= size;
        double least = 1;
        for (int64_t k = begin; k < end; ++k) least = std::min(least, along(normal_[k], s.axis));
        s.angle = std::acos(std::clamp(least, -1.0, 1.0));
        s.cos = std::cos(s.angle), s.sin = std::sin(s.angle);
        if (s.angle + kHair < facing_angle_) s.safe = std::cos(facing_angle_ - s.angle - kHair);
        return s;
    }
    // Where each row of cells was found around the cell before: from one cell to the next it is a few places on.
    struct Rows {
        std::vector<int64_t> place;
        size_t next = 0;
    };
    int64_t first_from(const Cell& at, Rows& rows) const {
        if (rows.next == rows.place.size()) rows.place.push_back(0);
        int64_t& k = rows.place[rows.next++];
        const int64_t count = int64_t(cells_.size());
        if (k > 0 && !(cells_[k - 1] < at)) return k = std::lower_bound(cells_.begin(), cells_.end(), at) - cells_.begin();
        constexpr int kFew = 16;
        for (int step = 0; step < kFew; ++step, ++k)
            if (k == count || !(cells_[k] < at)) return k;
        return k = std::lower_bound(cells_.begin() + k, cells_.end(), at) - cells_.begin();
    }
    // Cells within `degree` of one along all axes, as numbers.
    void list_around(const Cell& cell, Rows& rows, std::vector<int64_t>& out) const {
        out.clear();
        rows.next = 0;
        Cell at = cell;
        add_rows(cell, at, 0, rows, out);
        if (std::none_of(period_.begin(), period_.end(), [](int64_t n) { return n > 0; })) return;
        std::sort(out.begin(), out.end());
        out.erase(std::unique(out.begin(), out.end()), out.end());  // short periods come round twice
    }
    void add_rows(const Cell& cell, Cell& at, int axis, Rows& rows, std::vector<int64_t>& out) const {
        const bool row = axis == d - 1 && !period_[axis];
        for (int64_t step = -degree_; step <= (row ? -degree_ : degree_); ++step) {
            at[axis] = cell[axis] + step;
            if (period_[axis]) at[axis] = ((at[axis] % period_[axis]) + period_[axis]) % period_[axis];
            if (axis < d - 1) {
                add_rows(cell, at, axis + 1, rows, out);
                continue;
            }
            Cell end = at;
            end[axis] = row ? cell[axis] + degree_ : at[axis];
            for (int64_t k = first_from(at, rows); k < int64_t(cells_.size()) && cells_[k] <= end; ++k) out.push_back(k);
        }
    }
    // Of the cells around c those with points that some point of c may meet.
    void list_others(int64_t c, const std::vector<int64_t>& around, std::vector<int64_t>& out) const {
        const Summary& own = summaries_[c];
        const double left = facing_angle_ - own.angle - kHair, cos = std::cos(left), sin = std::sin(left);
        out.clear();
        for (int64_t other : around) {
            const Summary& s = summaries_[other];
            const bool one_body = s.least == own.least && s.most == own.least && own.most == own.least;
            // angle between the axes < left - s.angle
            const bool alike = !surfaces() || (s.angle < left && along(own.axis, s.axis) > cos * s.cos + sin * s.sin);
            if (!(one_body && alike)) out.push_back(other);
        }
    }
    bool meets(int64_t i, const std::vector<int64_t>& others) const {
        for (int64_t other : others) {
            const Summary& s = summaries_[other];
            const bool one_body = s.least == body_[i] && s.most == body_[i];
            if (one_body && (!surfaces() || along(normal_[i], s.axis) > s.safe)) continue;
            for (int64_t j = first_[other]; j < first_[other + 1]; ++j)
                if (body_[j] != body_[i] || (surfaces() && faces(i, j))) return true;
        }
        return false;
    }
};

}  // namespace continua
