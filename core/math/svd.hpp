// Polar singular value decomposition F = U diag(s) V^T with det U = det V = +1 and |s_1| >= |s_2| >= |s_3|;
// only the last s may be negative (sign of det F). J15 section 3.1.3.
// In closed form, accurate to round-off also for rank 0-2 and inverted F, every lane for itself: 2D directly; in 3D the
// pair of singular vectors that is well apart from the others is split off, what is left is 2D.
#pragma once

#include <utility>

#include "eig.hpp"

namespace continua {

template <class V, int d>
struct Svd {
    Mat<V, d> U;
    Vec<V, d> s;
    Mat<V, d> V_;
};

namespace detail {

// A unit for F in which powers neither overflow nor vanish: 1 unless F is huge or tiny. Zero becomes I in the unit 0.
template <class V>
struct Unit {
    V size = V(1), inverse = V(1), shift = V(0);

    template <int d>
    explicit Unit(const Mat<V, d>& F) {
        using T = Scalar<V>;
        V largest = abs(F.a[0]), other = abs(F.a[1]);
        for (int k = 2; k < d * d; k += 2) {
            largest = max(largest, V(abs(F.a[k])));
            if (k + 1 < d * d) other = max(other, V(abs(F.a[k + 1])));
        }
        largest = max(largest, other);
        const auto ordinary = largest > V(1e-3f) && largest < V(1e3f);
        if (all(ordinary)) return;
        size = select(ordinary, V(1), max(V(V(0.0625f) * largest), V(4 * std::numeric_limits<T>::min())));
        inverse = V(1) / size;
        const auto zero = largest == V(0);
        size = select(zero, V(0), size), shift = select(zero, V(1), V(0));
    }
    template <int d>
    Mat<V, d> of(const Mat<V, d>& F) const {
        Mat<V, d> scaled;
        for (int i = 0; i < d; ++i)
            for (int j = 0; j < d; ++j) scaled(i, j) = i == j ? V(inverse * F(i, i) + shift) : V(inverse * F(i, j));
        return scaled;
    }
};

// C = Q rotation + [x y; y -x]: what turns and what mirrors.
template <class V>
struct Planar {
    Turn<V> rotation;  // of the polar decomposition
    V Q, x, y;

    explicit Planar(const Mat<V, 2>& C) {
        const V even = V(0.5f) * (C(0, 0) + C(1, 1)), odd = V(0.5f) * (C(1, 0) - C(0, 1));
        x = V(0.5f) * (C(0, 0) - C(1, 1)), y = V(0.5f) * (C(1, 0) + C(0, 1));
        const V Q2 = even * even + odd * odd;
        const auto ok = Q2 > V(std::numeric_limits<Scalar<V>>::min());
        Q = sqrt(Q2);
        const V divisor = select(ok, Q, V(1));  // quotients, not an inverse: a diagonal C is not turned at all
        rotation = {select(ok, V(even / divisor), V(1)), select(ok, V(odd / divisor), V(0))};
    }
};

// C = left diag(s) right^T, s = Q +- R with R = |(x, y)|: the angle of the mirror is the sum of those of left and right,
// the angle of the rotation their difference.
template <class V>
struct PlanarSvd {
    Turn<V> left, right;
    V s1, s2;

    explicit PlanarSvd(const Mat<V, 2>& C) {
        const Planar<V> part(C);
        const Turn<V>& r = part.rotation;
        const V R = sqrt(part.x * part.x + part.y * part.y);
        right = half_angle(V(part.x * r.c + part.y * r.s), V(part.y * r.c - part.x * r.s), R);
        left = right.then(r);
        s1 = part.Q + R;
        s2 = determinant(C) / max(s1, V(std::numeric_limits<Scalar<V>>::min()));  // Q - R without its cancellation
    }
};

// F = s u v^T + [g h] C [e f]^T with the frames (u, g, h) and (v, e, f): v is the eigenvector of F^T F that is apart from the
// others. If it belongs to the largest value, u = F v/s. If to the smallest, s may vanish but F e and F f cannot, and u is
// perpendicular to them. Either way what is neglected is rounding of |F|, whatever the other values are.
template <class V>
struct Deflated {
    Isolated<V> apart;
    Frame<V> right;
    Vec<V, 3> along, first, second;
    Frame<V> left;
    V s;
    Mat<V, 2> C;

    explicit Deflated(const Mat<V, 3>& F)
        : apart(isolated_eigenvector(transpose(F) * F)),
          right(frame_around(apart.v)),
          along(F * right.axis),
          first(F * right.first),
          second(F * right.second),
          left(frame_around(left_axis())),
          s(dot(left.axis, along)),
          C{{dot(left.first, first), dot(left.first, second), dot(left.second, first), dot(left.second, second)}} {}

    Vec<V, 3> left_axis() const {
        const Vec<V, 3> normal = cross(first, second);
        Vec<V, 3> w;
        for (int k = 0; k < 3; ++k) w[k] = select(apart.largest(), along[k], normal[k]);
        return w;
    }
};

// The vectors of a frame as columns, the axis first or last.
template <class V, class Mask>
inline Mat<V, 3> columns(const Frame<V>& frame, const Mask& axis_first) {
    Mat<V, 3> m;
    for (int k = 0; k < 3; ++k) {
        m(k, 0) = select(axis_first, frame.axis[k], frame.first[k]);
        m(k, 1) = select(axis_first, frame.first[k], frame.second[k]);
        m(k, 2) = select(axis_first, frame.second[k], frame.axis[k]);
    }
    return m;
}

}  // namespace detail

// Flattened: left to itself, GCC calls the parts with matrices in memory, which takes three times as long.
template <class V>
[[gnu::flatten]] inline Svd<V, 2> polar_svd(const Mat<V, 2>& F) {
    const detail::Unit<V> unit(F);
    const detail::PlanarSvd<V> f(unit.of(F));
    return {{{f.left.c, -f.left.s, f.left.s, f.left.c}},
            {{unit.size * f.s1, unit.size * f.s2}},
            {{f.right.c, -f.right.s, f.right.s, f.right.c}}};
}
template <class V>
[[gnu::flatten]] inline Svd<V, 3> polar_svd(const Mat<V, 3>& F) {
    const detail::Unit<V> unit(F);
    const detail::Deflated<V> f(unit.of(F));
    const detail::PlanarSvd<V> rest(f.C);
    const auto first = f.apart.largest();
    const V a = unit.size * f.s, b = unit.size * rest.s1, c = unit.size * rest.s2;
    return {detail::columns(f.left.turned(rest.left), first),
            {{select(first, a, b), select(first, b, c), select(first, c, a)}},
            detail::columns(f.right.turned(rest.right), first)};
}

}  // namespace continua
