// What rods remember: their shape at rest, and the accepted state. Part of rods.hpp.
#pragma once

namespace continua {

namespace detail {
using Plain3 = Vec<double, 3>;
inline Plain3 plain3(const double* x) { return {x[0], x[1], x[2]}; }
// A unit vector perpendicular to t, as close to u as possible.
inline Plain3 across(const Plain3& t, const Plain3& u) {
    const Plain3 v = u - dot(t, u) * t;
    return 1 / std::sqrt(dot(v, v)) * v;
}
inline Plain3 direction(const Plain3& e) { return 1 / std::sqrt(dot(e, e)) * e; }
}  // namespace detail

// Lengths, curvatures and twist at rest; the rods are there.
inline void Rods::measure(const double* points, const double* directors) {
    using namespace detail;
    constexpr double straight = 1e-9;  // |kb| that is rounding
    double bent = 0;
    const Plain3 x{1, 0, 0}, y{0, 1, 0};
    layout_.for_vertices([&](int64_t i, int64_t place) {
        const bool edge = layout_.begins_edge(i);
        const Plain3 e = edge ? plain3(points + 3 * (i + 1)) - plain3(points + 3 * i) : x;
        const Plain3 t = direction(e), m = edge ? across(t, plain3(directors + 3 * i)) : y;
        for (int a = 0; a < 3; ++a) {
            state_.row(kTangent0 + a)[place] = t[a];
            state_.row(kDirector0 + a)[place] = m[a];
        }
        rest_.row(kLength)[place] = edge ? std::sqrt(dot(e, e)) : 0.0;
        const bool inside = edge && i > 0 && layout_.begins_edge(i - 1);
        if (!inside) return;
        const double l = 0.5 * (rest_.row(kLength)[place - 1] + rest_.row(kLength)[place]);
        Plain3 te, me;
        for (int a = 0; a < 3; ++a) te[a] = state_.row(kTangent0 + a)[place - 1], me[a] = state_.row(kDirector0 + a)[place - 1];
        const Plain3 kb = 2 / (1 + dot(te, t)) * cross(te, t), u = carried(me, te, t);
        rest_.row(kOverL)[place] = 1 / l;
        const Plain3 M[4] = {cross(te, me), -1.0 * me, cross(t, m), -1.0 * m};
        for (int k = 0; k < 4; ++k) rest_.row(kBar + k)[place] = dot(kb, M[k]);
        rest_.row(kBarTwist)[place] = state_.row(kTwist0)[place] = std::atan2(dot(cross(t, u), m), dot(u, m));
        bent = std::max(bent, dot(kb, kb));
    });
    layout_.for_vertices([&](int64_t, int64_t place) { turn_of_twist(place); });
    plain_ = section_.round() && bent <= straight * straight;
}

inline void Rods::adopt(const RodTable& work, int64_t j, int64_t place) {
    using namespace detail;
    if (!(rest_.row(kLength)[place] > 0)) return;
    Plain3 t, first, second;
    for (int a = 0; a < 3; ++a) t[a] = work.row(kTangent + a)[j], first[a] = work.row(kFirst + a)[j], second[a] = work.row(kSecond + a)[j];
    const double theta = work.row(kTheta)[j];
    const Plain3 m = across(t, std::cos(theta) * first + std::sin(theta) * second);
    for (int a = 0; a < 3; ++a) state_.row(kTangent0 + a)[place] = t[a], state_.row(kDirector0 + a)[place] = m[a];
    if (rest_.row(kOverL)[place] > 0) state_.row(kTwist0)[place] = work.row(kTwist)[j];
    turn_of_twist(place);
    state_.row(kGiven)[place] = 0;
}

inline void Rods::hold(const int32_t* edges, int64_t count, const double* along, const double* directors) {
    using namespace detail;
    for (int64_t k = 0; k < count; ++k)
        if (!layout_.begins_edge(edges[k])) throw std::invalid_argument("edges: no edge begins at point " + std::to_string(edges[k]));
    release();
    for (int64_t k = 0; k < count; ++k) {
        const int64_t place = layout_.place(edges[k]);
        const Plain3 t = direction(plain3(along + 3 * k)), m = plain3(directors + 3 * k);
        Plain3 before, first;
        for (int a = 0; a < 3; ++a) before[a] = state_.row(kTangent0 + a)[place], first[a] = state_.row(kDirector0 + a)[place];
        first = carried(first, before, t);
        const double angle = dot(m, m) > 0 ? std::atan2(dot(cross(t, first), m), dot(first, m)) : 0.0;
        state_.row(kHeld)[place] = 1;
        state_.row(kGiven)[place] = std::isfinite(angle) ? angle : 0.0;
    }
}

}  // namespace continua
