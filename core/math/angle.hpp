// The angle of a direction in the plane, in lanes.
#pragma once

#include "simd.hpp"

namespace continua {

// Angle of the unit vector (c, s), between -pi and pi: 2 atan(t) with t = s/(1 + c), as a series where it is small.
template <class V>
inline V angle_of(const V& s, const V& c) {
    using T = Scalar<V>;
    const auto small = c > V(T(0.9));
    const V t = s / select(small, V(V(1) + c), V(1)), t2 = t * t;  // t^2 <= 0.0527
    constexpr int n = std::is_same_v<T, float> ? 6 : 13;
    V sum = V(T(1) / T(2 * n - 1));
    for (int k = n - 1; k >= 1; --k) sum = V(T(1) / T(2 * k - 1)) - sum * t2;
    V result = V(2) * t * sum;
    if (!all(small)) {
        if constexpr (is_lanes<V>) {
            for (int i = 0; i < lanes_of<V>(); ++i)
                if (!small[i]) result[i] = std::atan2(T(s[i]), T(c[i]));
        } else {
            result = std::atan2(s, c);
        }
    }
    return result;
}

}  // namespace continua
