// Which part of an edge, a square or a cube lies where a function is positive, from its values at the corners.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>

namespace continua {

// Part of a simplex (segment, triangle, tetrahedron: n corners) where the linear function with these corner values is
// positive; zero counts as not positive.
template <size_t n>
inline double positive_part_of_simplex(std::array<double, n> value) {
    const auto other = std::partition(value.begin(), value.end(), [](double v) { return v > 0; });
    const size_t positive = size_t(other - value.begin());
    if (positive == 0) return 0;
    if (positive == n) return 1;
    // Along the edge from corner i to a corner k of the other sign: the part that belongs to i.
    auto cut = [&](size_t i, size_t k) { return value[i] / (value[i] - value[k]); };
    double corner = 1;  // a simplex cut off at a single corner: the product of the cuts
    if (positive == 1) {
        for (size_t k = 1; k < n; ++k) corner *= cut(0, k);
        return corner;
    }
    if (positive == n - 1) {
        for (size_t k = 0; k + 1 < n; ++k) corner *= cut(n - 1, k);
        return 1 - corner;
    }
    if constexpr (n == 4) {  // a wedge on the edge 0-1, as three tetrahedra
        const double c02 = cut(0, 2), c03 = cut(0, 3), c12 = cut(1, 2), c13 = cut(1, 3);
        return c02 * c03 + c12 * c13 * (1 - c03) + c12 * c03 * (1 - c02);
    }
    return 0;  // not reached
}

// Part of the unit cube of dimension m; corner number: bit a set = upper end of axis a. The mean over all the simplices
// spanned by a path along the edges from a corner to the opposite one (both triangulations of a square, the 24
// tetrahedra on the four diagonals of a cube): exact for planes, and no direction is preferred. Zero everywhere is not
// positive, but zeros do not cut a cube that has no negative corner: it only touches the surface.
template <int m>
inline double positive_part_of_cube(const std::array<double, 1 << m>& corner) {
    if (std::none_of(corner.begin(), corner.end(), [](double v) { return v > 0; })) return 0;
    if (std::none_of(corner.begin(), corner.end(), [](double v) { return v < 0; })) return 1;
    double sum = 0;
    int simplices = 0;
    for (int start = 0; start < (1 << m) / 2; ++start) {
        std::array<int, m> axes;
        std::iota(axes.begin(), axes.end(), 0);
        do {
            std::array<double, m + 1> simplex{corner[start]};
            for (int k = 0, at = start; k < m; ++k) simplex[k + 1] = corner[at ^= 1 << axes[k]];
            sum += positive_part_of_simplex(simplex);
            ++simplices;
        } while (std::next_permutation(axes.begin(), axes.end()));
    }
    return sum / simplices;
}

}  // namespace continua
