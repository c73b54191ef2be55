// What a cell covers: a point, or directions around one of its nodes. Summed over the cells of a body these give the
// winding number of its surface.
#pragma once

#include <cmath>

#include "../geometry/closest_primitive.hpp"

namespace continua {

// Edges from the first vertex of a cell to the others.
template <int d>
inline void cell_edges(const double* x, const int32_t* cell, Vector<d> (&edge)[d]) {
    for (int k = 0; k < d; ++k) edge[k] = add_scaled<d>(vector_at<d>(x, cell[k + 1]), -1, vector_at<d>(x, cell[0]));
}
// Area or volume between vectors, with a sign.
inline double spanned(const Vector<2> (&e)[2]) { return e[0][0] * e[1][1] - e[0][1] * e[1][0]; }
inline double spanned(const Vector<3> (&e)[3]) { return dot(e[0], cross(e[1], e[2])); }

// 1 if the triangle (2D) or tetrahedron (3D) contains the point, -1 if it does so inside out, 0 if not.
template <int d>
inline int cover(const double* x, const int32_t* cell, const Vector<d>& point) {
    Vector<d> edge[d];
    cell_edges<d>(x, cell, edge);
    const double volume = spanned(edge);
    const Vector<d> p = add_scaled<d>(point, -1, vector_at<d>(x, cell[0]));
    double first = 1;
    for (int k = 0; k < d; ++k) {
        Vector<d> replaced[d];
        for (int l = 0; l < d; ++l) replaced[l] = l == k ? p : edge[l];
        const double weight = spanned(replaced) / volume;
        if (!(weight > 0)) return 0;
        first -= weight;
    }
    return !(first > 0) ? 0 : volume > 0 ? 1 : -1;
}

// Part of the directions around one of its nodes that a cell covers, negative if it is inside out.
template <int d>
inline double covered_directions(const double* x, const int32_t* cell, int32_t node) {
    Vector<d> edge[d], away[d] = {};
    cell_edges<d>(x, cell, edge);
    const double sign = spanned(edge) > 0 ? 1 : -1;
    int count = 0;
    for (int k = 0; k <= d; ++k)
        if (cell[k] != node && count < d)
            away[count++] = add_scaled<d>(vector_at<d>(x, cell[k]), -1, vector_at<d>(x, node));
    const double volume = std::abs(spanned(away));
    if constexpr (d == 2) {
        return sign * std::atan2(volume, dot(away[0], away[1])) / (2 * M_PI);
    } else {  // solid angle of a triangle, after van Oosterom and Strackee (1983)
        double length[3], base = 1;
        for (int k = 0; k < 3; ++k) base *= length[k] = norm(away[k]);
        for (int k = 0; k < 3; ++k) base += dot(away[k], away[(k + 1) % 3]) * length[(k + 2) % 3];
        return sign * 2 * std::atan2(volume, base) / (4 * M_PI);
    }
}

}  // namespace continua
