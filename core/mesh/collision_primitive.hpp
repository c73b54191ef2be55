// The part of a facet (edge in 2D, triangle in 3D) that is closest to a point: the facet itself, a side or a corner.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>

#include "../math/mat.hpp"

namespace continua {

template <int d>
using Vector = Vec<double, d>;

template <int d>
inline Vector<d> vector_at(const double* x, int64_t i) {
    Vector<d> v;
    for (int a = 0; a < d; ++a) v[a] = x[i * d + a];
    return v;
}
template <int d>
inline Vector<d> add_scaled(Vector<d> v, double factor, const Vector<d>& u) {
    for (int a = 0; a < d; ++a) v[a] += factor * u[a];
    return v;
}
template <int d>
inline double inner(const Vector<d>& u, const Vector<d>& v) {
    double sum = 0;
    for (int a = 0; a < d; ++a) sum += u[a] * v[a];
    return sum;
}
inline Vector<3> cross_product(const Vector<3>& u, const Vector<3>& v) {
    return {{u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]}};
}

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
        other.squared = inner<d>(other.r, other.r);
        if (other.squared < squared) *this = other;
    }
    void offer_edge(const Vector<d> (&p)[d], int i, int j) {
        const Vector<d> edge = add_scaled<d>(p[j], -1, p[i]);
        const double along = -inner<d>(p[i], edge), length2 = inner<d>(edge, edge);
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
    const Vector<3> u = add_scaled<3>(p[1], -1, p[0]), v = add_scaled<3>(p[2], -1, p[0]), n = cross_product(u, v);
    const double area2 = inner<3>(n, n);
    if (area2 > 1e-20 * inner<3>(u, u) * inner<3>(v, v)) {
        const double s = inner<3>(cross_product(v, p[0]), n) / area2, t = inner<3>(cross_product(p[0], u), n) / area2;
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
