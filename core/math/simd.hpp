// Lanes: one number from each of several particles; Quad: the four channels of one grid node.
// The same templates run on plain float/double, so every formula exists once.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <experimental/simd>
#include <limits>
#include <type_traits>

namespace continua {

namespace stdx = std::experimental;

template <class T>
using Lanes = stdx::native_simd<T>;
template <class T>
using Quad = stdx::simd<T, stdx::simd_abi::deduce_t<T, 4>>;

// Particles are handled in batches; a batch is a whole number of Lanes for every instruction set.
inline constexpr int kBatch = 16;

template <class V>
struct scalar_of {
    using type = V;
};
template <class T, class A>
struct scalar_of<stdx::simd<T, A>> {
    using type = T;
};
template <class V>
using Scalar = typename scalar_of<V>::type;
template <class V>
inline constexpr bool is_lanes = !std::is_same_v<V, Scalar<V>>;

// ---- selection and reductions that also accept plain scalars -------------------------------------------------
template <class V, class M>
inline V select(const M& mask, const V& yes, const V& no) {
    if constexpr (is_lanes<V>) {
        V out = no;
        stdx::where(mask, out) = yes;
        return out;
    } else {
        return mask ? yes : no;
    }
}
// Of the first `count` lanes.
template <class V>
inline typename V::mask_type first_lanes(int count) {
    using T = Scalar<V>;
    return V([](auto i) { return T(int(i)); }) < V(T(count));
}
inline bool any(bool mask) { return mask; }
template <class T, class A>
inline bool any(const stdx::simd_mask<T, A>& mask) { return stdx::any_of(mask); }
inline bool all(bool mask) { return mask; }
template <class T, class A>
inline bool all(const stdx::simd_mask<T, A>& mask) { return stdx::all_of(mask); }

using std::abs;
using std::max;
using std::min;
using std::sqrt;
using stdx::abs;
using stdx::max;
using stdx::min;
using stdx::sqrt;

template <class V>
inline V load(const Scalar<V>* p) {
    if constexpr (is_lanes<V>)
        return V(p, stdx::element_aligned);
    else
        return *p;
}
template <class V>
inline void store(const V& value, Scalar<V>* p) {
    if constexpr (is_lanes<V>)
        value.copy_to(p, stdx::element_aligned);
    else
        *p = value;
}
template <class V>
inline constexpr int lanes_of() {
    if constexpr (is_lanes<V>)
        return int(V::size());
    else
        return 1;
}

}  // namespace continua
