// Vectors of three numbers, each plain or in lanes.
#pragma once

#include "eig.hpp"

namespace continua {

template <class V>
inline Vec<V, 3> operator+(Vec<V, 3> u, const Vec<V, 3>& v) {
    for (int a = 0; a < 3; ++a) u[a] += v[a];
    return u;
}
template <class V>
inline Vec<V, 3> operator-(Vec<V, 3> u, const Vec<V, 3>& v) {
    for (int a = 0; a < 3; ++a) u[a] -= v[a];
    return u;
}
template <class V>
inline Vec<V, 3> operator*(const V& s, Vec<V, 3> u) {
    for (int a = 0; a < 3; ++a) u[a] *= s;
    return u;
}
template <class V, class M>
inline Vec<V, 3> select(const M& mask, const Vec<V, 3>& yes, const Vec<V, 3>& no) {
    Vec<V, 3> out;
    for (int a = 0; a < 3; ++a) out[a] = select(mask, yes[a], no[a]);
    return out;
}

}  // namespace continua
