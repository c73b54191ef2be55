// Pack: the four channels of one grid node for each of G particles that share their nodes. Where registers hold eight
// numbers two particles of a cell are handled at once, else one.
#pragma once

#include "simd.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace continua {

template <class T, int G>
using Pack = stdx::simd<T, stdx::simd_abi::deduce_t<T, 4 * G>>;

template <class T>
inline constexpr int kPacked = lanes_of<Lanes<T>>() >= 8 ? 2 : 1;

namespace detail {
template <class T, int n>
struct RawVector {
    using type [[gnu::vector_size(n * sizeof(T))]] = T;
};

// Two quads side by side.
template <class T>
inline Pack<T, 2> join(const T* low, const T* high) {
    using Raw8 = typename RawVector<T, 8>::type;
    return Pack<T, 2>(Raw8{low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3]});
}
}  // namespace detail

// Store past the cache what will not be read soon; `to` must be a multiple of 16 bytes. Call stream_end() when done.
template <class T>
inline void stream(const Quad<T>& q, T* to) {
#if defined(__SSE2__)
    alignas(32) T values[4];
    q.copy_to(values, stdx::element_aligned);
    if constexpr (sizeof(T) == 4) {
        _mm_stream_ps(to, _mm_load_ps(values));
    } else {
        _mm_stream_pd(to, _mm_load_pd(values));
        _mm_stream_pd(to + 2, _mm_load_pd(values + 2));
    }
#else
    q.copy_to(to, stdx::element_aligned);
#endif
}
inline void stream_end() {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

// One number per particle, repeated over its four channels: w[0] (and w[1]).
template <int G, class T>
inline Pack<T, G> spread(const T* w) {
    if constexpr (G == 1) {
        return Quad<T>(*w);
    } else if constexpr (sizeof(T) == 4) {  // both numbers as one of twice the size: a broadcast and a shuffle
        using Raw8 = typename detail::RawVector<T, 8>::type;
        using Wide4 = typename detail::RawVector<double, 4>::type;
        double both;
        std::memcpy(&both, w, sizeof both);
        const Raw8 pairs = Raw8(Wide4{both, both, both, both});
        return Pack<T, 2>(__builtin_shufflevector(pairs, pairs, 0, 0, 0, 0, 5, 5, 5, 5));
    } else {
        return Pack<T, 2>([&](auto i) { return w[i / 4]; });
    }
}

// The same four channels for every particle.
template <int G, class T>
inline Pack<T, G> repeat(const T* node) {
    if constexpr (G == 1)
        return Quad<T>(node, stdx::element_aligned);
    else
        return detail::join(node, node);
}

// Four channels of each particle's own record, records `stride` numbers apart.
template <int G, class T>
inline Pack<T, G> load_records(const T* record, int stride) {
    if constexpr (G == 1)
        return Quad<T>(record, stdx::element_aligned);
    else
        return detail::join(record, record + stride);
}
template <int G, class T>
inline void store_records(const Pack<T, G>& pack, T* record, int stride) {
    if constexpr (G == 1) {
        pack.copy_to(record, stdx::element_aligned);
    } else {
        using Raw8 = typename detail::RawVector<T, 8>::type;
        const Raw8 raw = static_cast<Raw8>(pack);
        Quad<T>(__builtin_shufflevector(raw, raw, 0, 1, 2, 3)).copy_to(record, stdx::element_aligned);
        Quad<T>(__builtin_shufflevector(raw, raw, 4, 5, 6, 7)).copy_to(record + stride, stdx::element_aligned);
    }
}

}  // namespace continua
