// When a point first meets a facet, or an edge an edge, while all vertices go straight on: continuous collision detection.
//
// A stencil has d + 1 vertices with positions x + t u, t from 0 to 1. Its volume, det(A + t dA, B + t dB, C + t dC) with
// A, B, C from one of its vertices to the others, is a polynomial of degree d in t, and zero where the stencil meets (M23
// section 7; Bridson et al. 2002). The places where its slope changes its sign cut [0, 1] into pieces in each of which there
// is at most one zero. Halving finds it, the end before the zero. Ends of pieces where the volume is zero up to rounding are
// looked at too. A stencil meets at the first of these times at which its distance is at most kTouch of its size L.
//
// The volume says nothing of what stays in one plane (on one line in 2D): parallel edges, slides in a plane. There a meeting
// begins with a point on an edge or with two points. Their own polynomials give the times to look at: all components of the
// cross product for a point and an edge, and where two points are closest. They are asked as well when volumes are tiny.
//
// What touches already at t = 0 meets there if it approaches; if not, when it goes through, or after it was apart. Only where
// the distance is zero up to rounding has it no side of its own: then `outward` says which side is which.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "../geometry/closest_primitive.hpp"
#include "segment_points.hpp"

namespace continua {

enum class Meeting { point_facet, edge_edge };  // vertices: of the facet, then the point; of one edge, then of the other

inline constexpr double kTouch = 1e-9;         // of L: distances that count as none
inline constexpr double kFlat = 1e-12;         // of L^d: volumes that count as none
inline constexpr double kNearlyFlat = 1e-5;    // of L^d: volumes that do not tell all meetings for sure
inline constexpr double kStandstill = 1e-12;   // of L: approach that counts as none

template <int d>
struct Stencil {
    static constexpr int kSize = d + 1;
    Meeting kind;
    Vector<d> x[kSize], u[kSize];  // positions and displacements, seen from the first vertex

    Stencil(Meeting kind_, const double* positions, const double* v, double dt, const int32_t* nodes) : kind(kind_) {
        for (int k = 0; k < kSize; ++k)
            for (int a = 0; a < d; ++a) {
                x[k][a] = positions[int64_t(nodes[k]) * d + a] - positions[int64_t(nodes[0]) * d + a];
                u[k][a] = dt * (v[int64_t(nodes[k]) * d + a] - v[int64_t(nodes[0]) * d + a]);
            }
    }
    void at(double t, Vector<d> (&out)[kSize]) const {
        for (int k = 0; k < kSize; ++k) out[k] = add_scaled<d>(x[k], t, u[k]);
    }
    static Vector<d> weighted(const Vector<d + 1>& weights, const Vector<d> (&values)[kSize]) {
        Vector<d> sum{};
        for (int k = 0; k < kSize; ++k) sum = add_scaled<d>(sum, weights[size_t(k)], values[k]);
        return sum;
    }
};

// Weights c of the vertices, sum c = 0, so that sum c x is the way from the facet (first edge) to the point (second edge).
template <int d>
inline Vector<d + 1> closest_weights(Meeting kind, const Vector<d> (&x)[d + 1]) {
    Vector<d + 1> c{};
    if constexpr (d == 3)
        if (kind == Meeting::edge_edge) {
            const double flat[12] = {x[0][0], x[0][1], x[0][2], x[1][0], x[1][1], x[1][2],
                                     x[2][0], x[2][1], x[2][2], x[3][0], x[3][1], x[3][2]};
            constexpr int32_t first[2] = {0, 1}, second[2] = {2, 3};
            const ClosestSegmentPoints closest(TwoSegments(flat, first, second));
            return {closest.a - 1, -closest.a, 1 - closest.b, closest.b};
        }
    Vector<d> seen[d];
    for (int k = 0; k < d; ++k) seen[k] = add_scaled<d>(x[k], -1, x[d]);
    const Closest<d> closest = closest_primitive(seen);
    for (int k = 0; k < d; ++k) c[size_t(k)] = -closest.weight[k];
    c[d] = 1;
    return c;
}

// Normal of the facet, or of both edges, not normalised.
template <int d>
inline Vector<d> stencil_normal(Meeting kind, const Vector<d> (&x)[d + 1]) {
    const Vector<d> e = add_scaled<d>(x[1], -1, x[0]);
    if constexpr (d == 2)
        return {e[1], -e[0]};
    else
        return cross(e, kind == Meeting::point_facet ? minus(x[2], x[0]) : minus(x[3], x[2]));
}

// c0 + c1 t + c2 t^2 + c3 t^3 on [0, 1].
struct Cubic {
    double c[4] = {0, 0, 0, 0};

    double operator()(double t) const { return c[0] + t * (c[1] + t * (c[2] + t * c[3])); }
    // It lies between the least and the largest of these (its coefficients in Bernstein's form).
    void bounds(double& low, double& high) const {
        const double b1 = c[0] + c[1] / 3, b2 = c[0] + (2 * c[1] + c[2]) / 3, b3 = (*this)(1);
        low = std::min({c[0], b1, b2, b3}), high = std::max({c[0], b1, b2, b3});
    }
    // Times in ascending order: 0, zeros, where the slope changes its sign, 1. Those that are zeros are `found`.
    struct Times {
        double t[8];
        bool zero[8];
        int count = 0;

        void add(double time, bool is_zero) { t[count] = time, zero[count++] = is_zero; }
    };
    Times times(double nothing) const {
        double ends[4] = {0, 1, 1, 1};
        const int pieces = monotone_pieces(ends);
        Times found;
        for (int k = 0; k <= pieces; ++k) {
            found.add(ends[k], std::abs((*this)(ends[k])) <= nothing);
            if (k < pieces && ((*this)(ends[k]) < 0) != ((*this)(ends[k + 1]) < 0)) found.add(zero(ends[k], ends[k + 1]), true);
        }
        return found;
    }

  private:
    int monotone_pieces(double (&ends)[4]) const {
        const double a = 3 * c[3], half = c[2], b = c[1], discriminant = half * half - a * b;
        if (!(discriminant > 0)) return 1;
        const double q = -(half + std::copysign(std::sqrt(discriminant), half));  // Press et al. (2007), 5.6: without cancellation
        double t[2] = {a != 0 ? q / a : -1, q != 0 ? b / q : -1};
        if (t[1] < t[0]) std::swap(t[0], t[1]);
        int pieces = 0;
        for (const double place : t)
            if (place > 0 && place < 1) ends[++pieces] = place;
        ends[++pieces] = 1;
        return pieces;
    }
    double zero(double low, double high) const {
        const bool negative = (*this)(low) < 0;
        for (;;) {
            const double middle = 0.5 * (low + high);
            if (!(middle > low && middle < high) || high - low < 1e-16) return low;
            (((*this)(middle) < 0) == negative ? low : high) = middle;
        }
    }
};

// Volume of a stencil in time, by multilinearity.
template <int d>
inline Cubic volume_in_time(const Stencil<d>& s) {
    Cubic f;
    if constexpr (d == 2) {
        const Vector<2> a = add_scaled<2>(s.x[1], -1, s.x[0]), b = add_scaled<2>(s.x[2], -1, s.x[0]);
        const Vector<2> da = add_scaled<2>(s.u[1], -1, s.u[0]), db = add_scaled<2>(s.u[2], -1, s.u[0]);
        f.c[0] = a[0] * b[1] - a[1] * b[0];
        f.c[1] = da[0] * b[1] - da[1] * b[0] + a[0] * db[1] - a[1] * db[0];
        f.c[2] = da[0] * db[1] - da[1] * db[0];
    } else {
        const bool edges = s.kind == Meeting::edge_edge;
        const auto along = [&](const Vector<3> (&p)[4], int k) {
            return k == 0 ? minus(p[1], p[0]) : k == 1 ? minus(p[edges ? 3 : 2], p[edges ? 2 : 0]) : minus(p[edges ? 2 : 3], p[0]);
        };
        const Vec3 a = along(s.x, 0), b = along(s.x, 1), c = along(s.x, 2);
        const Vec3 da = along(s.u, 0), db = along(s.u, 1), dc = along(s.u, 2);
        const Vec3 n0 = cross(a, b), n2 = cross(da, db), n1 = add_scaled<3>(cross(da, b), 1, cross(a, db));
        f.c[0] = dot(n0, c);
        f.c[1] = dot(n1, c) + dot(n0, dc);
        f.c[2] = dot(n2, c) + dot(n1, dc);
        f.c[3] = dot(n2, dc);
    }
    return f;
}

// The first meeting of a stencil, if any.
template <int d>
class FirstMeeting {
  public:
    static constexpr int kSize = d + 1;
    bool found = false;
    double t = 2;               // of the step
    Vector<d + 1> weights{};    // of the vertices, where they meet
    Vector<d> normal{};         // unit vector from the facet (first edge) to the point (second edge), against their relative velocity

    // outward: some vector from the facet (first edge) to the side where the point (second edge) should be; zero if unknown.
    FirstMeeting(const Stencil<d>& stencil, const Vector<d>& outward) : s_(stencil), outward_(outward) {
        for (int k = 1; k < kSize; ++k)
            for (int a = 0; a < d; ++a) {
                const double now = stencil.x[k][a] - stencil.x[0][a], way = stencil.u[k][a] - stencil.u[0][a];
                size_ = std::max({size_, std::abs(now), std::abs(now + way)});
            }
        const double whole = d == 2 ? size_ * size_ : size_ * size_ * size_;
        if (!(whole > 0)) return;
        const Cubic f = volume_in_time(stencil);
        double low, high;
        f.bounds(low, high);
        const double nothing = kFlat * whole;
        if (low > nothing || high < -nothing || too_far()) return;
        Candidates times;
        times.add(f.times(nothing));
        if (std::max(high, -low) < kNearlyFlat * whole) add_flat(times);
        std::stable_sort(times.at.begin(), times.at.begin() + times.count, [](const Time& p, const Time& q) { return p.t < q.t; });
        search(times);
    }

  private:
    struct Time {
        double t;
        bool zero;
    };
    struct Candidates {
        std::array<Time, 136> at;
        int count = 0;

        void add(const Cubic::Times& found) {
            for (int k = 0; k < found.count; ++k) at[size_t(count++)] = {found.t[k], found.zero[k]};
        }
    };
    const Stencil<d>& s_;
    Vector<d> outward_;
    double size_ = 0;
    int side_ = 0;  // of its normal, on which what touches at the start is; 0: not known

    // Whether they are further apart than they go towards each other at most.
    bool too_far() const {
        const int first = s_.kind == Meeting::point_facet ? d : 2;
        double reach = 0;
        for (int i = 0; i < first; ++i)
            for (int j = first; j < kSize; ++j) {
                const Vector<d> r = add_scaled<d>(s_.u[j], -1, s_.u[i]);
                reach = std::max(reach, dot(r, r));
            }
        reach = std::sqrt(reach) + 2 * kTouch * size_;
        const Vector<d> way = Stencil<d>::weighted(closest_weights<d>(s_.kind, s_.x), s_.x);
        return dot(way, way) > reach * reach;
    }
    // Meetings of what stays in one plane.
    void add_flat(Candidates& times) const {
        if (s_.kind == Meeting::point_facet) {
            for (int k = 0; k < d; ++k) {
                if (k < (d == 2 ? 1 : 3)) add_point_edge(times, k, (k + 1) % d, d);
                add_points(times, k, d);
            }
        } else {
            for (int k = 0; k < 2; ++k) {
                add_point_edge(times, 0, 1, 2 + k), add_point_edge(times, 2, 3, k);
                add_points(times, k, 2), add_points(times, k, kSize - 1);
            }
        }
    }
    void add_point_edge(Candidates& times, int i, int j, int p) const {
        if constexpr (d == 3) {
            const Vec3 e = minus(s_.x[j], s_.x[i]), r = minus(s_.x[p], s_.x[i]), de = minus(s_.u[j], s_.u[i]), dr = minus(s_.u[p], s_.u[i]);
            const Vec3 h0 = cross(e, r), h1 = add_scaled<3>(cross(de, r), 1, cross(e, dr)), h2 = cross(de, dr);
            for (int a = 0; a < 3; ++a) {
                const Cubic h{{h0[a], h1[a], h2[a], 0}};
                times.add(h.times(kFlat * size_ * size_));
            }
        }
    }
    void add_points(Candidates& times, int i, int j) const {
        const Vector<d> r = add_scaled<d>(s_.x[j], -1, s_.x[i]), dr = add_scaled<d>(s_.u[j], -1, s_.u[i]);
        const double way2 = dot(dr, dr), t = way2 > 0 ? -dot(r, dr) / way2 : -1;
        if (t > 0 && t < 1) times.at[size_t(times.count++)] = {t, true};
    }

    bool has_normal(double length) const { return length > 1e-9 * size_ * (d == 2 ? 1 : size_); }
    void search(const Candidates& times) {
        bool touching = false, looked = false;
        for (int k = 0; k < times.count; ++k) {
            const auto [time, zero] = times.at[size_t(k)];
            if (!zero && !touching) continue;
            Vector<d> now[kSize];
            s_.at(time, now);
            const Vector<d + 1> c = closest_weights<d>(s_.kind, now);
            const Vector<d> way = Stencil<d>::weighted(c, now);
            const bool close = dot(way, way) <= kTouch * kTouch * size_ * size_;
            if (!close) touching = false;
            if (!close) continue;
            if (touching) {
                if (zero && goes_on(time, c, now)) return;
                continue;
            }
            if (!looked) {
                looked = true;
                if (touches_at_start()) {
                    if (found) return;
                    touching = true, k = -1;  // from the start: it meets after it was apart
                    continue;
                }
            }
            meet(time, c, now);
            return;
        }
    }
    // Whether it touches at t = 0; if it also approaches, that is where it meets.
    bool touches_at_start() {
        const Vector<d + 1> c = closest_weights<d>(s_.kind, s_.x);
        const Vector<d> way = Stencil<d>::weighted(c, s_.x), u = Stencil<d>::weighted(c, s_.u);
        const double distance = norm(way);
        if (distance > kTouch * size_) return false;
        const bool apart = distance > kStandstill * size_, known = dot(outward_, outward_) > 0;
        const Vector<d> side = apart ? way : known ? outward_ : add_scaled<d>({}, -1, u);
        Vector<d> n = stencil_normal<d>(s_.kind, s_.x);
        const bool lined = !has_normal(norm(n));  // edges in one line
        if (lined) n = side;
        const double length = norm(n), across = dot(n, side);
        // What touches where facets end may have a normal across the side, or no clear side: other stencils speak for it.
        if (!(length > 0) || (!apart && known && std::abs(across) < 0.1 * length * norm(side))) return true;
        if (!apart && lined && norm(outward_) < 1e-3 * (d == 2 ? size_ : size_ * size_)) return true;
        for (double& component : n) component /= std::copysign(length, across);
        if (!lined) side_ = across > 0 ? 1 : -1;
        if (dot(n, u) < -kStandstill * size_) found = true, t = 0, weights = c, normal = n;
        return true;
    }
    // Whether what has touched since the start goes through now, seen from the side where it was.
    bool goes_on(double time, const Vector<d + 1>& c, const Vector<d> (&now)[kSize]) {
        Vector<d> n = stencil_normal<d>(s_.kind, now);
        const double length = norm(n);
        if (side_ == 0 || !has_normal(length)) return false;
        for (double& component : n) component *= side_ / length;
        if (!(dot(n, Stencil<d>::weighted(c, s_.u)) < -kStandstill * size_)) return false;
        found = true, t = time, weights = c, normal = n;
        return true;
    }
    void meet(double time, const Vector<d + 1>& c, const Vector<d> (&now)[kSize]) {
        normal = stencil_normal<d>(s_.kind, now);
        const Vector<d> u = Stencil<d>::weighted(c, s_.u);
        const double speed = norm(u), length = norm(normal), approach = dot(normal, u);
        if (!(speed > 0)) return;
        // Edges that are parallel there, and slides in the plane, have no normal of their own.
        const bool plain = has_normal(length) && std::abs(approach) > 1e-6 * length * speed;
        const double scale = plain ? std::copysign(length, -approach) : -speed;
        for (int a = 0; a < d; ++a) normal[a] = (plain ? normal[a] : u[a]) / scale;
        found = true, t = time, weights = c;
    }
};

}  // namespace continua
