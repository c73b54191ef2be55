// The part of a facet (edge in 2D, triangle in 3D) that is closest to a point: the facet itself, a side or a corner.
#pragma once

#include <initializer_list>
#include <limits>

#include "../math/vector.hpp"

namespace continua {

// The primitive with the corners corner[0] .. corner[edges], and the vector r from the point to the closest point.
template <int d>
struct Closest {
    int edges = -1;
    int corner[d] = {};
    double weight[d] = {};  // barycentric coordinates of the closest point, for all corners of the facet
    Vector<d> r{};
    double squared = std::numeric_limits<double>::infinity();

    // Take this primitive instead, if it is closer. t: coordinates along its edges; p: corners seen from the point.
    void offer(const Vector<d> (&p)[d], std::initializer_list<int> corners, std::initializer_list<double> t) {
        Closest other;
        double rest = 1;
        for (const int c : corners) other.corner[++other.edges] = c;
        int k = 0;
        for (const double value : t) other.weight[other.corner[++k]] = value, rest -= value;
        other.weight[other.corner[0]] = rest;
        for (const int c : corners) other.r = add_scaled<d>(other.r, other.weight[c], p[c]);
        other.squared = dot(other.r, other.r);
        if (other.squared < squared) *this = other;
    }
    void offer_edge(const Vector<d> (&p)[d], int i, int j) {
        const Vector<d> edge = add_scaled<d>(p[j], -1, p[i]);
        const double along = -dot(p[i], edge), length2 = dot(edge, edge);
        if (!(along > 0))
            offer(p, {i}, {});
        else if (along >= length2)
            offer(p, {j}, {});
        else
            offer(p, {i, j}, {along / length2});
    }
};

inline Closest<2> closest_primitive(const Vector<2> (&p)[2]) {
    Closest<2> found;
    found.offer_edge(p, 0, 1);
    return found;
}
// Triangles without area count as their sides.
inline Closest<3> closest_primitive(const Vector<3> (&p)[3]) {
    Closest<3> found;
    const Vector<3> u = add_scaled<3>(p[1], -1, p[0]), v = add_scaled<3>(p[2], -1, p[0]), n = cross(u, v);
    const double area2 = dot(n, n);
    if (area2 > 1e-20 * dot(u, u) * dot(v, v)) {
        const double s = dot(cross(v, p[0]), n) / area2, t = dot(cross(p[0], u), n) / area2;
        if (s > 0 && t > 0 && s + t < 1) {
            found.offer(p, {0, 1, 2}, {s, t});
            return found;
        }
    }
    found.offer_edge(p, 0, 1);
    found.offer_edge(p, 0, 2);
    found.offer_edge(p, 1, 2);
    return found;
}
// Of a facet given by its nodes.
template <int d>
inline Closest<d> closest_primitive(const double* x, const Vector<d>& point, const int32_t* facet) {
    Vector<d> p[d];
    for (int k = 0; k < d; ++k) p[k] = add_scaled<d>(vector_at<d>(x, facet[k]), -1, point);
    return closest_primitive(p);
}

}  // namespace continua
