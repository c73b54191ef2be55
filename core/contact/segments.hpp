// Segments of strands: which are close to each other, and which went through each other.
#pragma once

#include "box_pairs.hpp"
#include "segment_points.hpp"

namespace continua {

struct Segments {
    const int32_t* vertices;  // (count, 2)
    int64_t count;
    const double* along;  // (count, 2), or nothing: where they begin and end on a line that has all strands in a row
    double skip;          // closer on that line than this are neighbours

    const int32_t* at(int32_t i) const { return vertices + 2 * int64_t(i); }
    bool neighbours(int32_t i, int32_t j) const {
        const int32_t *p = at(i), *q = at(j);
        if (p[0] == q[0] || p[0] == q[1] || p[1] == q[0] || p[1] == q[1]) return true;
        if (!along) return false;
        const double *s = along + 2 * int64_t(i), *t = along + 2 * int64_t(j);
        return std::max(s[0], t[0]) - std::min(s[1], t[1]) < skip;
    }
};

// The longest way that a vertex of one segment goes, seen from a vertex of the other; 0 without motion.
inline double relative_motion(const double* motion, const int32_t* first, const int32_t* second) {
    double most = 0;
    if (!motion) return most;
    for (int k = 0; k < 2; ++k)
        for (int l = 0; l < 2; ++l) {
            const Vec3 r = minus(vector_at<3>(motion, second[l]), vector_at<3>(motion, first[k]));
            most = std::max(most, dot(r, r));
        }
    return std::sqrt(most);
}

// Pairs closer than `distance`, neighbours left out, ascending. With a motion (vertices, 3): those that may come so close
// on the way to x + motion, which are closer now than by what their vertices approach at most, and whose boxes meet on
// the way. What all go together should be left out of it: it only makes the search longer. x, motion: finite; distance > 0.
inline std::vector<int32_t> nearby_segments(const double* x, const double* motion, int64_t vertices, const Segments& segments,
                                            double distance) {
    double largest = 0;
    for (int64_t k = 0; k < 3 * vertices; ++k) largest = std::max(largest, std::abs(x[k]) + (motion ? std::abs(motion[k]) : 0));
    // Rounding must not part what is closer: and boxes are not too small for their grid.
    const double pad = 0.5 * distance + 64 * std::numeric_limits<double>::epsilon() * largest;
    std::vector<Box3> boxes(size_t(segments.count), Box3::empty());
#pragma omp parallel for schedule(static) num_threads(team(segments.count))
    for (int64_t i = 0; i < segments.count; ++i)
        for (int k = 0; k < 2; ++k) {
            const int64_t vertex = segments.at(int32_t(i))[k];
            boxes[size_t(i)].include(x + 3 * vertex, pad);
            if (motion) boxes[size_t(i)].include(add_scaled<3>(vector_at<3>(x, vertex), 1, vector_at<3>(motion, vertex)).data(), pad);
        }
    return box_pairs(boxes, [&](int32_t i, int32_t j) {
        if (segments.neighbours(i, j)) return false;
        const TwoSegments pair(x, segments.at(i), segments.at(j));
        const double close = distance + relative_motion(motion, segments.at(i), segments.at(j));
        const Vec3 middles = pair.way(0.5, 0.5);
        const double reach = 0.5 * (norm(pair.u) + norm(pair.w)) + close;
        if (dot(middles, middles) > reach * reach * (1 + 1e-12)) return false;
        return ClosestSegmentPoints(pair).squared < close * close;
    });
}

// Where points go straight from x0 to x1: how often two segments go through each other.
//
// The volume of the tetrahedron of their ends is a cubic in time. Where it changes its sign the lines of the segments
// meet, and the segments do if the place is in both of them; an end counts to one of the two segments that share it.
// Segments that stay parallel, or all in one plane, have no such volume: they never count.
class CrossingTest {
  public:
    CrossingTest(const double* x0, const double* x1, const int32_t* first, const int32_t* second)
        : start_(x0, first, second), end_(x1, first, second) {
        const Vec3 du = minus(end_.u, start_.u), dw = minus(end_.w, start_.w), dr = minus(end_.from, start_.from);
        const Vec3 n0 = cross(start_.u, start_.w), n2 = cross(du, dw);
        const Vec3 p = cross(du, start_.w), q = cross(start_.u, dw), n1{p[0] + q[0], p[1] + q[1], p[2] + q[2]};
        c_[0] = dot(n0, start_.from);
        c_[1] = dot(n1, start_.from) + dot(n0, dr);
        c_[2] = dot(n2, start_.from) + dot(n1, dr);
        c_[3] = dot(n2, dr);
    }
    int count() const {
        double ends[4] = {0, 1, 1, 1};
        const int pieces = monotone_pieces(ends);
        int crossings = 0;
        for (int k = 0; k < pieces; ++k)
            if ((value(ends[k]) < 0) != (value(ends[k + 1]) < 0)) crossings += meets(root(ends[k], ends[k + 1]));
        return crossings;
    }

  private:
    TwoSegments start_, end_;
    double c_[4];

    double value(double t) const { return t == 1 ? dot(cross(end_.u, end_.w), end_.from) : c_[0] + t * (c_[1] + t * (c_[2] + t * c_[3])); }
    // ends: 0, the places in between where the slope changes its sign, 1.
    int monotone_pieces(double (&ends)[4]) const {
        const double a = 3 * c_[3], half = c_[2], c = c_[1], d = half * half - a * c;
        if (!(d > 0)) return 1;
        const double q = -(half + std::copysign(std::sqrt(d), half));  // Press et al. (2007), 5.6: without cancellation
        double t[2] = {a != 0 ? q / a : -1, q != 0 ? c / q : -1};
        if (t[1] < t[0]) std::swap(t[0], t[1]);
        int pieces = 0;
        for (const double place : t)
            if (place > 0 && place < 1) ends[++pieces] = place;
        ends[++pieces] = 1;
        return pieces;
    }
    // The change of sign between two places, by halving: every bit is certain.
    double root(double low, double high) const {
        const bool negative = value(low) < 0;
        for (;;) {
            const double middle = 0.5 * (low + high);
            if (!(middle > low && middle < high) || high - low < 1e-15) return middle;
            ((value(middle) < 0) == negative ? low : high) = middle;
        }
    }
    // Whether the segments meet where their lines do, at time t.
    bool meets(double t) const {
        TwoSegments then = start_;
        then.u = add_scaled<3>(then.u, t, minus(end_.u, start_.u));
        then.w = add_scaled<3>(then.w, t, minus(end_.w, start_.w));
        then.from = add_scaled<3>(then.from, t, minus(end_.from, start_.from));
        const Vec3 n = cross(then.u, then.w);
        const double area2 = dot(n, n);
        if (!(area2 > 1e-24 * dot(then.u, then.u) * dot(then.w, then.w))) return false;
        const double a = dot(cross(then.from, then.w), n) / area2, b = dot(cross(then.from, then.u), n) / area2;
        return a >= 0 && a < 1 && b >= 0 && b < 1;
    }
};

struct CrossedSegments {
    std::vector<int32_t> pairs, times;  // (any, 2), (any,) how often
};

// Pairs that go through each other, ascending.
inline CrossedSegments crossed_segments(const double* x0, const double* x1, int64_t vertices, const Segments& segments) {
    double largest = 0;
    for (int64_t k = 0; k < 3 * vertices; ++k) largest = std::max({largest, std::abs(x0[k]), std::abs(x1[k])});
    const double pad = 64 * std::numeric_limits<double>::epsilon() * largest + std::numeric_limits<double>::min();
    std::vector<Box3> boxes(size_t(segments.count), Box3::empty());  // of all places a segment goes through
#pragma omp parallel for schedule(static) num_threads(team(segments.count))
    for (int64_t i = 0; i < segments.count; ++i)
        for (const double* x : {x0, x1})
            for (int k = 0; k < 2; ++k) boxes[size_t(i)].include(x + 3 * int64_t(segments.at(int32_t(i))[k]), pad);
    const auto crossings = [&](int32_t i, int32_t j) { return CrossingTest(x0, x1, segments.at(i), segments.at(j)).count(); };
    CrossedSegments out;
    out.pairs = box_pairs(boxes, [&](int32_t i, int32_t j) { return !segments.neighbours(i, j) && crossings(i, j) > 0; });
    for (size_t k = 0; k < out.pairs.size(); k += 2) out.times.push_back(crossings(out.pairs[k], out.pairs[k + 1]));
    return out;
}

}  // namespace continua
