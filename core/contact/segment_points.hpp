// The points of two segments that are closest to each other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "../math/vector.hpp"

namespace continua {

// Two segments p0 + a u and q0 + b w with a, b in [0, 1].
struct TwoSegments {
    Vec3 u, w, from;  // from p0 to q0

    TwoSegments(const double* x, const int32_t* first, const int32_t* second) {
        const Vec3 p = vector_at<3>(x, first[0]), q = vector_at<3>(x, second[0]);
        u = minus(vector_at<3>(x, first[1]), p);
        w = minus(vector_at<3>(x, second[1]), q);
        from = minus(q, p);
    }
    // From the point a of the first to the point b of the second.
    Vec3 way(double a, double b) const { return add_scaled<3>(add_scaled<3>(from, b, w), -a, u); }
};

// The squared distance is a convex function of (a, b). It is least where its gradient is zero, if that is in the unit
// square, and on a side of the square otherwise. All five places are looked at: none of them has to be told from the
// others by a threshold, so that parallel segments and points are nothing special.
class ClosestSegmentPoints {
  public:
    double a, b;
    Vec3 way;  // from the first to the second
    double squared = std::numeric_limits<double>::infinity();

    explicit ClosestSegmentPoints(const TwoSegments& pair) {
        const double uu = dot(pair.u, pair.u), uw = dot(pair.u, pair.w), ww = dot(pair.w, pair.w);
        const double ur = dot(pair.u, pair.from), wr = dot(pair.w, pair.from);
        offer(pair, along(ur, uu), 0);
        offer(pair, along(ur + uw, uu), 1);
        offer(pair, 0, along(-wr, ww));
        offer(pair, 1, along(uw - wr, ww));
        const Vec3 n = cross(pair.u, pair.w);  // not uu ww - uw^2: that is rounding where they are nearly parallel
        const double area2 = dot(n, n);
        if (area2 > 0) {
            const double s = dot(cross(pair.from, pair.w), n) / area2, t = dot(cross(pair.from, pair.u), n) / area2;
            if (s > 0 && s < 1 && t > 0 && t < 1) offer(pair, s, t);
        }
        choose(pair, 1e-12 * squared + 1e-28 * (uu + ww));
    }

  private:
    struct Place {
        double a, b, squared;
    };
    Place places_[5];
    int count_ = 0;

    static double along(double part, double whole) { return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0.5; }
    void offer(const TwoSegments& pair, double s, double t) {
        const Vec3 r = pair.way(s, t);
        places_[count_++] = {s, t, dot(r, r)};
        squared = std::min(squared, places_[count_ - 1].squared);
    }
    // The middle of all places that are equally close: that of the overlap of parallel segments. Convexity makes it as close.
    void choose(const TwoSegments& pair, double tolerance) {
        double sum_a = 0, sum_b = 0, n = 0;
        for (int k = 0; k < count_; ++k)
            if (places_[k].squared <= squared + tolerance) sum_a += places_[k].a, sum_b += places_[k].b, n += 1;
        a = sum_a / n, b = sum_b / n;
        way = pair.way(a, b);
        squared = std::min(squared, dot(way, way));
    }
};

// The unit vector from the first to the second. Where they touch there is no such direction: then it is that of the
// common normal, or, of parallel ones, a fixed normal of the longer one; the sign means nothing there.
inline Vec3 contact_direction(const TwoSegments& pair, const Vec3& way) {
    const double lengths = dot(pair.u, pair.u) + dot(pair.w, pair.w), size = norm(way);
    if (size * size > 1e-28 * lengths && size > 0) return {way[0] / size, way[1] / size, way[2] / size};
    const Vec3& longer = dot(pair.u, pair.u) >= dot(pair.w, pair.w) ? pair.u : pair.w;
    Vec3 n = cross(pair.u, pair.w);
    if (!(dot(n, n) > 1e-24 * dot(pair.u, pair.u) * dot(pair.w, pair.w))) {
        int least = 0;  // the axis that is furthest from it
        for (int k = 1; k < 3; ++k)
            if (std::abs(longer[k]) < std::abs(longer[least])) least = k;
        Vec3 axis{0, 0, 0};
        axis[least] = 1;
        n = dot(longer, longer) > 0 ? cross(longer, axis) : axis;
    }
    const double length = norm(n);
    return {n[0] / length, n[1] / length, n[2] / length};
}

}  // namespace continua
