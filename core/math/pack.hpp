// Pack: 4 G numbers of a row of grid nodes, G nodes with four channels each or twice as many with two.
#pragma once

#include <utility>

#include "simd.hpp"

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace continua {

template <class T, int G>
using Pack = stdx::simd<T, stdx::simd_abi::deduce_t<T, 4 * G>>;

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

// Store a batch past the cache because it will not be read soon; `to` must be a multiple of 64 bytes. Call stream_end() when done.
// An intrinsic, as GCC has no other way to ask for it: grid to particles takes a fifth less time with it.
template <class T>
inline void stream_batch(const T* from, T* to) {
    static_assert(sizeof(T) * kBatch % 64 == 0);
    for (size_t byte = 0; byte < sizeof(T) * kBatch; byte += 64) {
        const char* source = reinterpret_cast<const char*>(from) + byte;
        char* target = reinterpret_cast<char*>(to) + byte;
#if defined(__AVX512F__)
        _mm512_stream_si512(reinterpret_cast<__m512i*>(target), _mm512_loadu_si512(source));
#elif defined(__AVX__)
        for (int half = 0; half < 64; half += 32)
            _mm256_stream_si256(reinterpret_cast<__m256i*>(target + half),
                                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source + half)));
#else
        std::memcpy(target, source, 64);
#endif
    }
}
// to[j] = from[at[j]] for a batch of numbers of four or eight bytes. With intrinsics: one number at a time the batch would be read again
// before its stores are done, which takes twice as long.
template <class T>
inline void pick_batch(const T* from, const int32_t* at, T* to) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
#if defined(__AVX2__)
    constexpr int n = 32 / sizeof(T);
    for (int j = 0; j < kBatch; j += n) {
        if constexpr (sizeof(T) == 4) {
            const __m256i index = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + j));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + j), _mm256_i32gather_epi32(reinterpret_cast<const int*>(from), index, 4));
        } else {
            const __m128i index = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + j));
            _mm256_storeu_pd(to + j, _mm256_i32gather_pd(from, index, 8));
        }
    }
#else
    for (int j = 0; j < kBatch; ++j) to[j] = from[at[j]];
#endif
}
inline void stream_end() {
#if defined(__AVX__)
    _mm_sfence();
#endif
}

namespace detail {
// The first 4 G numbers at `from`, which must be there, picked over: number i of the result is from[pick(i)]. A shuffle within one
// register; built from a smaller one GCC 12 goes through memory.
template <int G, class T, class Pick>
inline Pack<T, G> picked(const T* from, Pick&& pick) {
    using Raw = typename RawVector<T, 4 * G>::type;
    Raw raw;
    std::memcpy(&raw, from, sizeof raw);
    return [&]<int... i>(std::integer_sequence<int, i...>) {
        return Pack<T, G>(__builtin_shufflevector(raw, raw, decltype(pick(std::integral_constant<int, i>{}))::value...));
    }(std::make_integer_sequence<int, 4 * G>{});
}
}  // namespace detail

// w[0], w[1], ... each repeated over all channels of a node, 4 G numbers in all. Reads as many.
template <int G, int channels = 4, class T>
inline Pack<T, G> spread(const T* w) {
    if constexpr (G == 1 && channels == 4)
        return Quad<T>(*w);
    else
        return detail::picked<G>(w, [](auto i) { return std::integral_constant<int, i / channels>{}; });
}

// The same channels for all nodes. Reads 4 G numbers.
template <int G, int channels = 4, class T>
inline Pack<T, G> repeat(const T* node) {
    if constexpr (G == 1 && channels == 4)
        return Quad<T>(node, stdx::element_aligned);
    else if constexpr (G == 2 && channels == 4)
        return detail::join(node, node);
    else
        return detail::picked<G>(node, [](auto i) { return std::integral_constant<int, i % channels>{}; });
}

}  // namespace continua
