// Impulses between pairs of segments that come too close, in sweeps over all pairs at once (Jacobi).
//
// A pair acts at fixed points a and b along a fixed direction n from the first to the second, on its four vertices with
// w = (-(1-a), -a, 1-b, b). Their relative velocity there is r = sum w_k v_k; an impulse j at the points changes it by
// K j, K = sum w_k^2 / m_k. W20 4.5.3 removes what approaches, j = -(r.n) n / K, and divides what a vertex gets by the
// number of its pairs. That gives the four vertices of a pair different shares of one impulse: momentum is lost.
// Here a vertex divides its mass among the c_k pairs that push it (Tonge et al. 2012): K = sum w_k^2 c_k / m_k, and all
// of the impulse is applied. A pair alone is as before. Action is reaction for any number of them, and energy never
// grows: m |sum over c pushes|^2 <= m c sum |push|^2, which is what K counts. Where vertices are held and the point lies
// next to them, K is nearly nothing, and the free vertex at the far end would be thrown away to move it: K is at least the
// part kGrip of that of the lightest vertex at the point. Pairs without held vertices have at least half of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "../math/vector.hpp"
#include "../parallel.hpp"

namespace continua {

inline constexpr double kGrip = 0.1;

struct SegmentContacts {
    const int32_t* vertices;    // of all segments (segments, 2)
    const int32_t* pairs;       // (count, 2)
    int64_t count;
    const double* parameters;   // a, b (count, 2)
    const double* normal;       // (count, 3)
    const double* allowed;      // (count,) how fast each may approach [m/s]
    const double* friction;     // (count,)

    int32_t vertex(int64_t pair, int corner) const {
        return vertices[2 * int64_t(pairs[2 * pair + corner / 2]) + corner % 2];
    }
    double weight(int64_t pair, int corner) const {
        const double t = parameters[2 * pair + corner / 2], share = corner % 2 ? t : 1 - t;
        return corner < 2 ? -share : share;
    }
};

class SegmentImpulses {
  public:
    SegmentImpulses(const SegmentContacts& contacts, const double* inverse_mass, int64_t vertices)
        : contacts_(contacts), inverse_mass_(inverse_mass), corners_(size_t(4 * contacts.count)),
          acting_(size_t(contacts.count)), sharing_(size_t(vertices), 0), push_(size_t(contacts.count)) {
        for (int64_t p = 0; p < contacts.count; ++p)
            for (int k = 0; k < 4; ++k) ++sharing_[size_t(contacts.vertex(p, k))];
        std::vector<int64_t>& next = start_;
        next.reserve(size_t(std::min(vertices, 4 * contacts.count)) + 2);
        touched_.reserve(next.capacity());
        next.push_back(0);
        for (int64_t i = 0; i < vertices; ++i)
            if (const int32_t n = sharing_[size_t(i)]) {
                sharing_[size_t(i)] = int32_t(touched_.size());
                touched_.push_back(int32_t(i));
                next.push_back(next.back() + n);
            }
        next.insert(next.begin(), 0);  // one place late: the end of the last one is where the next one begins
        for (int64_t p = 0; p < contacts.count; ++p)
            for (int k = 0; k < 4; ++k)
                corners_[size_t(next[size_t(sharing_[size_t(contacts.vertex(p, k))]) + 1]++)] = 4 * p + k;
        next.pop_back();
    }
    // v, impulse (vertices, 3) and pressed (count,) change: velocities, what vertices got, also those that nothing moves
    // [N s], and what each pair gave along its normal. Whether any pair acted.
    bool sweep(double* v, double* impulse, double* pressed) {
        const int64_t count = contacts_.count;
        int64_t acted = 0;
#pragma omp parallel num_threads(team(count, 2048))
        {
#pragma omp for schedule(static) reduction(+ : acted)
            for (int64_t p = 0; p < count; ++p) {
                acting_[size_t(p)] = approach(relative(p, v), p) > contacts_.allowed[p];
                acted += acting_[size_t(p)];
            }
#pragma omp for schedule(static)
            for (size_t t = 0; t < touched_.size(); ++t) {
                int32_t n = 0;
                for (int64_t k = start_[t]; k < start_[t + 1]; ++k) n += acting_[size_t(corners_[size_t(k)] / 4)];
                sharing_[size_t(touched_[t])] = n;
            }
#pragma omp for schedule(static)
            for (int64_t p = 0; p < count; ++p)
                if (acting_[size_t(p)]) pressed[p] += push(relative(p, v), p);
#pragma omp for schedule(static)
            for (size_t t = 0; t < touched_.size(); ++t)
                if (sharing_[size_t(touched_[t])] > 0) give(t, v, impulse);
        }
        return acted > 0;
    }

  private:
    const SegmentContacts& contacts_;
    const double* inverse_mass_;
    std::vector<int32_t> touched_;          // vertices of any pair, ascending
    std::vector<int64_t> start_, corners_;  // of each of them: 4 pair + corner, ascending
    std::vector<char> acting_;
    std::vector<int32_t> sharing_;  // how many pairs act on every vertex
    std::vector<Vec3> push_;

    Vec3 relative(int64_t pair, const double* v) const {
        Vec3 r{0, 0, 0};
        for (int k = 0; k < 4; ++k) r = add_scaled<3>(r, contacts_.weight(pair, k), vector_at<3>(v, contacts_.vertex(pair, k)));
        return r;
    }
    bool held(int64_t pair) const {
        for (int k = 0; k < 4; ++k)
            if (!(inverse_mass_[contacts_.vertex(pair, k)] > 0)) return true;
        return false;
    }
    double approach(const Vec3& r, int64_t pair) const { return -dot(r, vector_at<3>(contacts_.normal, pair)); }

    // The impulse of a pair on its second segment; returns its size along the normal.
    double push(const Vec3& r, int64_t pair) {
        double K = 0, lightest = 0;
        for (int k = 0; k < 4; ++k) {
            const double w = contacts_.weight(pair, k);
            const int32_t i = contacts_.vertex(pair, k);
            const double free = sharing_[size_t(i)] * inverse_mass_[i];
            K += w * w * free;
            lightest = std::max(lightest, free);
        }
        push_[size_t(pair)] = {0, 0, 0};
        if (!(K > 0)) return 0;  // nothing moves either
        if (held(pair)) K = std::max(K, kGrip * lightest);
        const Vec3 n = vector_at<3>(contacts_.normal, pair);
        const double closing = approach(r, pair), j = (closing - contacts_.allowed[pair]) / K;
        push_[size_t(pair)] = add_scaled<3>({0, 0, 0}, j, n);
        const Vec3 slip = add_scaled<3>(r, closing, n);
        const double speed = norm(slip);
        if (contacts_.friction[pair] > 0 && speed > 0)  // Coulomb: at most what stops it
            push_[size_t(pair)] = add_scaled<3>(push_[size_t(pair)], -std::min(contacts_.friction[pair] * j / speed, 1 / K), slip);
        return j;
    }
    void give(size_t t, double* v, double* impulse) const {
        const int64_t i = touched_[t];
        Vec3 sum{0, 0, 0};
        for (int64_t k = start_[t]; k < start_[t + 1]; ++k) {
            const int64_t pair = corners_[size_t(k)] / 4;
            if (acting_[size_t(pair)]) sum = add_scaled<3>(sum, contacts_.weight(pair, int(corners_[size_t(k)] % 4)), push_[size_t(pair)]);
        }
        for (int a = 0; a < 3; ++a) {
            impulse[3 * i + a] += sum[size_t(a)];
            v[3 * i + a] += inverse_mass_[i] * sum[size_t(a)];
        }
    }
};

}  // namespace continua
