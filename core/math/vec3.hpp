// Points and vectors in double and in 3D; in 2D the last entry is zero.
#pragma once

#include <array>
#include <cmath>

namespace continua {

using Vec3 = std::array<double, 3>;

inline double dot3(const Vec3& a, const Vec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline double norm3(const Vec3& a) { return std::sqrt(dot3(a, a)); }
inline Vec3 cross3(const Vec3& a, const Vec3& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline Vec3 minus3(const Vec3& a, const Vec3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

}  // namespace continua
