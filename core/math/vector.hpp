// Vectors of d doubles for geometry. Those of lanes are in mat.hpp.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace continua {

template <int d>
using Vector = std::array<double, size_t(d)>;
using Vec3 = Vector<3>;

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
template <size_t d>
inline double dot(const std::array<double, d>& u, const std::array<double, d>& v) {
    double sum = 0;
    for (size_t a = 0; a < d; ++a) sum += u[a] * v[a];
    return sum;
}
template <size_t d>
inline double norm(const std::array<double, d>& v) {
    return std::sqrt(dot(v, v));
}
inline Vec3 minus(const Vec3& u, const Vec3& v) { return {u[0] - v[0], u[1] - v[1], u[2] - v[2]}; }
inline Vec3 cross(const Vec3& u, const Vec3& v) {
    return {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
}

}  // namespace continua
