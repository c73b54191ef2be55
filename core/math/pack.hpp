// Pack: 4 G numbers of a row of grid nodes, G nodes with four channels each.
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

}  // namespace detail

// Ask for a cache line that is needed soon. GCC 12 takes a function that does nothing else for one without effect and leaves out all
// calls of it, so there is a statement, an empty one, that it must keep.
inline void prefetch_line(const void* address) {
    __builtin_prefetch(address, 0, 3);
    asm volatile("" : : "r"(address));
}

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
// Number i of the result is pack[pick(i)].
template <int G, class Q, class Pick>
inline Q shuffled(const Q& pack, Pick&& pick) {
    using Raw = typename RawVector<Scalar<Q>, 4 * G>::type;
    const Raw raw = static_cast<Raw>(pack);
    return [&]<int... i>(std::integer_sequence<int, i...>) {
        return Q(__builtin_shufflevector(raw, raw, decltype(pick(std::integral_constant<int, i>{}))::value...));
    }(std::make_integer_sequence<int, 4 * G>{});
}
// The first n numbers at `from` again and again. A load that repeats by itself, for which GCC has nothing but intrinsics: a shuffle
// of a whole register reads beyond the numbers and often over the end of a cache line (3 % of the scatter). Full masks, as GCC 12 warns of
// its own header without.
template <int G, int n, class T>
inline Pack<T, G> repeated(const T* from) {
    using Raw = typename RawVector<T, 4 * G>::type;
    constexpr size_t bytes = n * sizeof(T), all = 4 * G * sizeof(T);
    if constexpr (bytes == all)
        return Pack<T, G>(from, stdx::element_aligned);
#if defined(__AVX512F__) && defined(__AVX512DQ__)
    else if constexpr (all == 64 && bytes == 16)
        return Pack<T, G>((Raw)_mm512_maskz_broadcast_f32x4(0xffff, _mm_loadu_ps(reinterpret_cast<const float*>(from))));
    else if constexpr (all == 64 && bytes == 32)
        return Pack<T, G>((Raw)_mm512_maskz_broadcast_f64x4(0xff, _mm256_loadu_pd(reinterpret_cast<const double*>(from))));
#endif
#if defined(__AVX__)
    else if constexpr (all == 32 && bytes == 16)
        return Pack<T, G>((Raw)_mm256_broadcast_ps(reinterpret_cast<const __m128*>(from)));
#endif
    else
        return Pack<T, G>([&](auto i) { return from[i % n]; });
}
}  // namespace detail

// w[0], w[1], ... each repeated over the four channels of a node, 4 G numbers in all. Reads 16 bytes.
template <int G, class T>
inline Pack<T, G> spread(const T* w) {
    constexpr int lane = 16 / sizeof(T);  // a shuffle within 16 bytes is cheaper than one across them
    if constexpr (G == 1)
        return Quad<T>(*w);
    else
        return detail::shuffled<G>(detail::repeated<G, lane>(w), [](auto i) { return std::integral_constant<int, i - i % lane + i / 4>{}; });
}

// The same four channels for all nodes.
template <int G, class T>
inline Pack<T, G> repeat(const T* node) {
    return detail::repeated<G, 4>(node);
}

}  // namespace continua
