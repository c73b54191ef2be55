// Angles of the material directors of one strand for which its energy is least, where its points are held: sections turn so
// fast about their axis that their inertia is nothing. Be08.
//
// Only differences of neighbouring angles twist the rod, and only the angle of an edge itself changes its curvatures, so that Newton's
// system is tridiagonal. A rod that is round and straight at rest bends equally in all directions: the first guess is exact then, and no
// iteration is needed.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "rod_vertex.hpp"

namespace continua {

// Factors L D L^T of symmetric tridiagonal matrices. A pivot that is only rounding is replaced: nothing resists a turn of all sections
// together.
class Tridiagonal {
  public:
    static constexpr double kSmall = 1e-10;

    // The next row: its diagonal and the entry before it. Gives the factor L of that entry and 1/D.
    void row(double diagonal, double before, bool held, double& factor, double& over) {
        factor = before * over_before_;
        const double removed = before * factor, pivot = diagonal - removed, size = std::max(std::abs(diagonal), removed);
        over = over_before_ = held ? 0.0 : std::abs(pivot) > kSmall * size ? 1 / pivot : size > 0 ? 1 / size : 1.0;
        if (held) factor = 0.0;
    }

  private:
    double over_before_ = 0;
};

// Of edges first to last - 1; vertices first + 1 to last - 1 are between two of them. All arrays start at vertex 0 of a chunk.
struct RodStrand {
    int64_t first, last;
    const double* over_l;        // 1/l of vertices
    const double* rest[4];       // w0 of vertices
    const double* rest_twist;    // m0
    const double* twist;         // m to begin with: that at rest, or in the accepted state
    const double* reference;     // twist of the directors that were carried along
    const double* binormal[4];   // kb in the directors a1, a2 of e and of f
    const double *held, *given;  // whether the angle of an edge is given, and its value
};

class RodAngles {
  public:
    // theta: the angles of all edges. `plain`: the rod is round and straight at rest.
    void solve(const RodSection& section, const RodStrand& s, bool plain, double* theta) {
        guess(s, theta);
        if (!plain) iterate(section, s, theta);
    }

  private:
    static constexpr int kMost = 100, kHalvings = 40;
    static constexpr double kClose = 1e-8;  // a Newton step of this size leaves its square
    static constexpr double kTurn = 0.5;    // largest turn of a step [rad]
    static constexpr double kRounding = 1e-14;
    std::vector<double> gradient_, diagonal_, before_, step_, trial_;

    // The twist to begin with at every vertex; between two edges with given angles as much more as they ask for, with the same torque
    // everywhere.
    static void guess(const RodStrand& s, double* theta) {
        int64_t from = -1;
        theta[s.first] = s.held[s.first] != 0 ? s.given[s.first] : 0.0;
        for (int64_t j = s.first; j < s.last; ++j) {
            if (j > s.first) theta[j] = theta[j - 1] + (s.twist[j] - s.reference[j]);
            if (s.held[j] == 0) continue;
            const double missing = s.given[j] - theta[j];
            if (from < 0)
                for (int64_t i = s.first; i < j; ++i) theta[i] += missing;
            else if (missing != 0)
                spread(s, from, j, missing, theta);
            theta[j] = s.given[j];
            from = j;
        }
    }
    static void spread(const RodStrand& s, int64_t from, int64_t to, double missing, double* theta) {
        double all = 0, part = 0;
        for (int64_t j = from + 1; j <= to; ++j) all += 1 / s.over_l[j];
        for (int64_t j = from + 1; j < to; ++j) part += 1 / s.over_l[j], theta[j] += missing * (part / all);
    }
    void iterate(const RodSection& section, const RodStrand& s, double* theta) {
        const size_t n = size_t(s.last - s.first);
        for (auto* rows : {&gradient_, &diagonal_, &before_, &step_, &trial_}) rows->resize(std::max(rows->size(), n));
        double energy = derivatives(section, s, theta);
        for (int k = 0; k < kMost; ++k) {
            const double largest = newton_step(s);
            if (!(largest < std::numeric_limits<double>::infinity())) return;
            double scale = std::min(1.0, kTurn / std::max(largest, kTurn)), slope = 0;
            for (size_t i = 0; i < n; ++i) slope += step_[i] * gradient_[i];
            for (int half = 0; half < kHalvings; ++half, scale *= 0.5) {
                for (size_t i = 0; i < n; ++i) trial_[i] = theta[s.first + int64_t(i)] + scale * step_[i];
                const double next = derivatives(section, s, trial_.data() - s.first);
                if (largest > kClose && !(next <= energy + 1e-4 * scale * slope + kRounding * energy)) continue;
                energy = next;
                break;
            }
            std::copy(trial_.begin(), trial_.begin() + int64_t(n), theta + s.first);
            if (largest <= kClose) return;
        }
    }
    // Energy at these angles, with its derivatives.
    double derivatives(const RodSection& section, const RodStrand& s, const double* theta) {
        double energy = 0;
        for (int64_t j = s.first; j < s.last; ++j) {
            const size_t i = size_t(j - s.first);
            gradient_[i] = diagonal_[i] = before_[i] = 0;
            const double c = std::cos(theta[j]), sn = std::sin(theta[j]);
            if (j > s.first) energy += bend(section, s, j, 1, c, sn, i);
            if (j + 1 < s.last) energy += bend(section, s, j + 1, 0, c, sn, i);
            if (j == s.first) continue;
            const double stiffness = section.twisting * s.over_l[j];
            const double twist = theta[j] - theta[j - 1] + s.reference[j] - s.rest_twist[j];
            energy += 0.5 * stiffness * twist * twist;
            gradient_[i] += stiffness * twist, gradient_[i - 1] -= stiffness * twist;
            diagonal_[i] += stiffness, diagonal_[i - 1] += stiffness, before_[i] = -stiffness;
        }
        return energy;
    }
    // Of the curvatures at `vertex` in the directors of the edge before (0) or after it (1), by the angle of that edge.
    double bend(const RodSection& section, const RodStrand& s, int64_t vertex, int edge, double c, double sn, size_t i) {
        const double p1 = s.binormal[2 * edge][vertex], p2 = s.binormal[2 * edge + 1][vertex];
        const double w1 = c * p2 - sn * p1, w2 = -(c * p1 + sn * p2);
        const double k1 = 0.5 * section.bending[0] * s.over_l[vertex], k2 = 0.5 * section.bending[1] * s.over_l[vertex];
        const double d1 = w1 - s.rest[2 * edge][vertex], d2 = w2 - s.rest[2 * edge + 1][vertex];
        gradient_[i] += k1 * d1 * w2 - k2 * d2 * w1;
        diagonal_[i] += k1 * (w2 * w2 - d1 * w1) + k2 * (w1 * w1 - d2 * w2);
        return 0.5 * (k1 * d1 * d1 + k2 * d2 * d2);
    }
    // A step that goes down, with L |D| L^T in place of the second derivatives; the largest turn of it.
    double newton_step(const RodStrand& s) {
        const size_t n = size_t(s.last - s.first);
        Tridiagonal factors;
        for (size_t i = 0; i < n; ++i) {  // before_ becomes the factors, diagonal_ the inverse pivots
            factors.row(diagonal_[i], before_[i], s.held[s.first + int64_t(i)] != 0, before_[i], diagonal_[i]);
            step_[i] = -gradient_[i] - (i ? before_[i] * step_[i - 1] : 0.0);
        }
        double largest = 0;
        for (size_t i = n; i-- > 0;) {
            step_[i] = step_[i] * std::abs(diagonal_[i]) - (i + 1 < n ? before_[i + 1] * step_[i + 1] : 0.0);
            largest = std::max(largest, std::abs(step_[i]));
        }
        return largest;
    }
};

}  // namespace continua
