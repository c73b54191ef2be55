// How much of a B-spline lies over what walls leave open of cells: the mass that full cells would collect.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "../grid/halo.hpp"
#include "../grid/nodes.hpp"
#include "staggered.hpp"

namespace continua {

// B-spline at a distance from its middle [cells].
template <int degree>
inline double spline_value(double r) {
    const double s = std::fabs(r);
    if constexpr (degree == 1) return s < 1 ? 1 - s : 0;
    if constexpr (degree == 2) return s < 0.5 ? 0.75 - s * s : s < 1.5 ? 0.5 * (1.5 - s) * (1.5 - s) : 0;
    if constexpr (degree == 3) return s < 1 ? 2.0 / 3 - s * s * (1 - 0.5 * s) : s < 2 ? (2 - s) * (2 - s) * (2 - s) / 6 : 0;
}

// Integral over the part [0, t] of a cell of the spline that belongs to the cell `next` (-1, 0, 1) further on; those
// farther away, which cubic ones have, count for the nearer. Splines are cubic at most between 0, 1/2 and 1, so two
// Gauss points for each half are exact.
template <int degree>
inline double spline_share(int next, double t) {
    constexpr double kGauss = 0.28867513459481287;  // 1 / (2 sqrt 3)
    double sum = 0;
    for (const double from : {0.0, 0.5}) {
        const double width = std::clamp(t - from, 0.0, 0.5), middle = from + 0.5 * width;
        for (const double side : {-kGauss, kGauss}) {
            const double r = middle + side * width - 0.5 - next;
            sum += 0.5 * width * (spline_value<degree>(r) + (degree == 3 && next ? spline_value<degree>(r - next) : 0));
        }
    }
    return sum;
}

// Fill of a cell whose middle is a distance below a plane surface along the grid: what of its spline lies in the liquid.
template <int degree>
inline double fill_below_surface(double D) {
    if constexpr (degree == 1) return D < 1 ? 0.5 + D - 0.5 * D * D : 1;
    if constexpr (degree == 2) return D < 0.5 ? 0.5 + D * (0.75 - D * D / 3) : D < 1.5 ? 1 - (1.5 - D) * (1.5 - D) * (1.5 - D) / 6 : 1;
    if constexpr (degree == 3) return 0.5 + D * (2.0 / 3 - D * D * (1.0 / 3 - D / 8));  // up to D = 1
}

// Per cell and axis the shares of the splines of the cell below, of its own and of that above, in its open part; their
// products over axes add up to the mass that is expected in a cell. Along an axis the open part is taken for a step from
// the open part of the lower face to that of the upper one, where its volume puts it: exact for walls along the grid.
template <class T, int d, int degree>
class OpenShares {
  public:
    static constexpr int N = kBlockNodes<d>, kNumbers = 3 * d;
    using Shares = Halo<double, d, kNumbers>;

    OpenShares(const T* open, const int32_t* neighbours, int64_t blocks)
        : neighbours_(neighbours), slot_(size_t(blocks), kOpen) {
        for_blocks(blocks, [&](int64_t b) { slot_[b] = kind(open + b * N * 4); });
        int32_t slots = kOwn;
        for (int32_t& slot : slot_)
            if (slot == kOwn) slot = slots++;
        numbers_.assign(size_t(slots) * N * kNumbers, 0.0);
        const std::array<double, d> whole = filled(1);
        for (int i = 0; i < N; ++i) put(kOpen, i, 1, whole, whole);
        for_blocks(blocks, [&](int64_t b) {
            if (slot_[b] >= kOwn) cut(open, b);
        });
    }
    bool cut(int64_t b) const { return slot_[b] != kOpen; }

    // Of a block and the cells around it.
    void read(int64_t b, Shares& shares) const {
        int32_t slots[kNeighbours<d>];
        for (int n = 0; n < kNeighbours<d>; ++n) {
            const int32_t block = neighbours_[b * kNeighbours<d> + n];
            slots[n] = block < 0 ? kOpen : slot_[block];
        }
        shares.read(numbers_.data(), slots);
    }
    // Expected mass of the cell at `at` (in cells) of such a halo, in units of a full one.
    static double expected(const Shares& shares, int at) {
        double sum = 0;
        for (const Step& step : kSteps) {
            const double* share = shares.value + at * kNumbers + step.from;
            if constexpr (d == 2)
                sum += share[step.number[0]] * share[step.number[1]];
            else
                sum += share[step.number[0]] * share[step.number[1]] * share[step.number[2]];
        }
        return sum;
    }

  private:
    struct Step {  // to a cell around: where its numbers begin, and which of them are of the splines of the cell left
        int from;
        std::array<int, 3> number;
    };
    static constexpr auto kSteps = [] {
        std::array<Step, kNeighbours<d>> steps{};
        for (int n = 0; n < kNeighbours<d>; ++n)
            for (int a = d - 1, rest = n; a >= 0; --a, rest /= 3) {
                steps[n].from += (rest % 3 - 1) * Shares::stride(a);
                steps[n].number[a] = 3 * a + 2 - rest % 3;
            }
        return steps;
    }();
    static constexpr int32_t kOpen = 0, kSolid = 1, kOwn = 2;  // blocks without walls share the first slot
    const int32_t* neighbours_;
    std::vector<int32_t> slot_;
    std::vector<double> numbers_;  // (slots, cells, axes, 3)

    static std::array<double, d> filled(double value) {
        std::array<double, d> all;
        all.fill(value);
        return all;
    }
    static int32_t kind(const T* open) {
        bool whole = true, none = true;
        for (int i = 0; i < N; ++i) whole &= open[4 * i + kCentre] == T(1), none &= open[4 * i + kCentre] == T(0);
        return whole ? kOpen : none ? kSolid : kOwn;
    }
    void put(int32_t slot, int i, double volume, const std::array<double, d>& lower, const std::array<double, d>& upper) {
        double* to = numbers_.data() + (int64_t(slot) * N + i) * kNumbers;
        for (int a = 0; a < d; ++a) {
            const double step = lower[a] - upper[a];
            const double place = step == 0 ? 1 : std::clamp((volume - upper[a]) / step, 0.0, 1.0);
            for (int next = -1; next <= 1; ++next) {
                // A flat profile is that of the volume, whatever its faces say.
                const double share = step == 0 ? volume * spline_share<degree>(next, 1)
                                               : upper[a] * spline_share<degree>(next, 1) + step * spline_share<degree>(next, place);
                const double mean = step == 0 ? volume : upper[a] + step * place;
                to[3 * a + 1 + next] = mean > 0 ? share / mean : 0;
            }
        }
        for (int k = 0; k < 3; ++k) to[k] *= volume;
    }
    void cut(const T* open, int64_t b) {
        Halo<T, d, 4> faces;
        faces.read(open, neighbours_ + b * kNeighbours<d>, T(1));
        for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
            const T* here = faces.at(l);
            std::array<double, d> lower, upper;
            for (int a = 0; a < d; ++a) lower[a] = double(here[a]), upper[a] = double(here[faces.stride(a) + a]);
            put(slot_[b], i, double(here[kCentre]), lower, upper);
        });
    }
};

}  // namespace continua
