// From component-major batches to one record of four channels per particle.
#pragma once

#include "pack.hpp"

namespace continua {

namespace detail {

// Number i of the result: every four numbers of a and b from these places, b's counted from 4.
template <int p0, int p1, int p2, int p3, class Raw>
inline Raw mixed(const Raw& a, const Raw& b) {
    constexpr int n = sizeof(Raw) / sizeof(a[0]);
    return [&]<int... i>(std::integer_sequence<int, i...>) {
        constexpr int place[4] = {p0, p1, p2, p3};
        return __builtin_shufflevector(a, b, (i / 4 * 4 + place[i % 4] % 4 + place[i % 4] / 4 * n)...);
    }(std::make_integer_sequence<int, n>{});
}

// Numbers 4 g to 4 g + 3.
template <int g, class V>
inline Quad<Scalar<V>> four(const V& v) {
    if constexpr (lanes_of<V>() == 4) {
        return v;
    } else {
        using Raw = typename RawVector<Scalar<V>, lanes_of<V>()>::type;
        const Raw raw = static_cast<Raw>(v);
        return Quad<Scalar<V>>(__builtin_shufflevector(raw, raw, 4 * g, 4 * g + 1, 4 * g + 2, 4 * g + 3));
    }
}

}  // namespace detail

// Lanes of four channels a, b, c, d: afterwards the four numbers of particle 4 g + k are those from 4 g on in the k-th vector.
template <class V>
inline void transpose(V (&v)[4]) {
    using Raw = typename detail::RawVector<Scalar<V>, lanes_of<V>()>::type;
    const Raw a = static_cast<Raw>(v[0]), b = static_cast<Raw>(v[1]), c = static_cast<Raw>(v[2]), d = static_cast<Raw>(v[3]);
    const Raw ab_low = detail::mixed<0, 4, 1, 5>(a, b), ab_high = detail::mixed<2, 6, 3, 7>(a, b);
    const Raw cd_low = detail::mixed<0, 4, 1, 5>(c, d), cd_high = detail::mixed<2, 6, 3, 7>(c, d);
    v[0] = V(detail::mixed<0, 1, 4, 5>(ab_low, cd_low)), v[1] = V(detail::mixed<2, 3, 6, 7>(ab_low, cd_low));
    v[2] = V(detail::mixed<0, 1, 4, 5>(ab_high, cd_high)), v[3] = V(detail::mixed<2, 3, 6, 7>(ab_high, cd_high));
}

// Lanes of up to four channels -> records of four numbers, `stride` numbers apart; missing channels are zero.
template <class V, int channels>
inline void lanes_to_records(const V (&channel)[channels], Scalar<V>* record, int stride) {
    V v[4];
    for (int c = 0; c < 4; ++c) v[c] = c < channels ? channel[c] : V(0);
    transpose(v);
    for (int k = 0; k < 4; ++k) {
        [&]<int... g>(std::integer_sequence<int, g...>) {
            (detail::four<g>(v[k]).copy_to(record + (4 * g + k) * stride, stdx::element_aligned), ...);
        }(std::make_integer_sequence<int, lanes_of<V>() / 4>{});
    }
}

// The same for a batch, channel[c][j].
template <class T, int channels>
inline void to_records(const T* const (&channel)[channels], T* record, int stride) {
    using V = Lanes<T>;
    for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
        V v[channels];
        for (int c = 0; c < channels; ++c) v[c] = load<V>(channel[c] + lane);
        lanes_to_records(v, record + lane * stride, stride);
    }
}

}  // namespace continua
