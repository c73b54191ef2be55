// Logarithm and exponential in lanes, and quotients of them that do not lose digits. Plain numbers use <cmath>.
// log: x = 2^e m, sqrt(1/2) <= m < sqrt(2), log m = 2 atanh(t), t = (m - 1)/(m + 1); exp: x = n ln 2 + r, Taylor in r.
// Both are within 2 units in the last place.
#pragma once

#include "simd.hpp"

namespace continua {

namespace detail {

template <class T>
struct Bits;
template <>
struct Bits<float> {
    using Int = int32_t;
    static constexpr int mantissa = 23, log_terms = 5, exp_degree = 7;
    static constexpr Int sqrt_half = 0x3f3504f3;
    static constexpr float ln2_high = 0.693145751953125f, ln2_low = 1.42860682030941723e-6f;
    static constexpr float lowest = -87.0f, highest = 88.0f;
};
template <>
struct Bits<double> {
    using Int = int64_t;
    static constexpr int mantissa = 52, log_terms = 11, exp_degree = 13;
    static constexpr Int sqrt_half = 0x3fe6a09e667f3bcd;
    static constexpr double ln2_high = 0.6931471803691238, ln2_low = 1.9082149292705877e-10;
    static constexpr double lowest = -708.0, highest = 709.0;
};

template <class To, class From>
inline To bits_of(const From& from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy((void*)&to, (const void*)&from, sizeof to);
    return to;
}
template <class V>
using IntLanes = stdx::rebind_simd_t<typename Bits<Scalar<V>>::Int, V>;

// atanh(t)/t as a series in t^2, for t^2 <= 0.0295.
template <class V>
inline V atanh_series(const V& t2) {
    using T = Scalar<V>;
    constexpr int n = Bits<T>::log_terms;
    V sum = V(T(1) / T(2 * n - 1));
    for (int k = n - 1; k >= 1; --k) sum = sum * t2 + V(T(1) / T(2 * k - 1));
    return sum;
}

}  // namespace detail

template <class V>
inline V log_of(const V& x) {
    if constexpr (!is_lanes<V>) {
        return std::log(x);
    } else {
        using T = Scalar<V>;
        using B = detail::Bits<T>;
        using I = detail::IntLanes<V>;
        const I shifted = detail::bits_of<I>(x) - I(B::sqrt_half);
        const I exponent = shifted >> B::mantissa;
        const V m = detail::bits_of<V>(I((shifted - (exponent << B::mantissa)) + I(B::sqrt_half)));
        const V t = (m - V(1)) / (m + V(1)), e = stdx::static_simd_cast<V>(exponent);
        V result = e * V(B::ln2_high) + (V(2) * t * detail::atanh_series(V(t * t)) + e * V(B::ln2_low));
        constexpr T tiny = std::numeric_limits<T>::min(), infinity = std::numeric_limits<T>::infinity();
        const auto unusual = !(x >= V(tiny) && x < V(infinity));
        if (any(unusual)) {
            for (int i = 0; i < lanes_of<V>(); ++i)
                if (unusual[i]) result[i] = std::log(T(x[i]));
        }
        return result;
    }
}

template <class V>
inline V exp_of(const V& x) {
    if constexpr (!is_lanes<V>) {
        return std::exp(x);
    } else {
        using T = Scalar<V>;
        using B = detail::Bits<T>;
        using I = detail::IntLanes<V>;
        const V inside = min(max(x, V(B::lowest)), V(B::highest));
        const V n = stdx::floor(V(inside * V(T(1.4426950408889634)) + V(T(0.5))));
        const V r = (inside - n * V(B::ln2_high)) - n * V(B::ln2_low);
        V sum = V(1);
        for (int k = B::exp_degree; k >= 1; --k) sum = sum * r * V(T(1) / T(k)) + V(1);
        const I bits = detail::bits_of<I>(sum) + (stdx::static_simd_cast<I>(n) << B::mantissa);
        V result = detail::bits_of<V>(bits);
        const auto unusual = !(x > V(B::lowest) && x < V(B::highest));
        if (any(unusual)) {
            for (int i = 0; i < lanes_of<V>(); ++i)
                if (unusual[i]) result[i] = std::exp(T(x[i]));
        }
        return result;
    }
}

// (ln a - ln b)/(a - b) for a, b > 0, also where they are equal: 2 atanh(t)/(t (a + b)), t = (a - b)/(a + b).
template <class V>
inline V log_slope(const V& a, const V& b) {
    using T = Scalar<V>;
    const V sum = a + b, t = (a - b) / sum;
    const auto close = t * t < V(T(0.0295));
    const V near = V(2) * detail::atanh_series(V(select(close, V(t * t), V(0)))) / sum;
    if (all(close)) return near;
    return select(close, near, V((log_of(a) - log_of(b)) / (a - b)));
}

}  // namespace continua
