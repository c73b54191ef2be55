// From component-major batches to one record of four channels per particle, four particles at a time.
#pragma once

#include "pack.hpp"

namespace continua {

template <class T>
inline void transpose(Quad<T>& a, Quad<T>& b, Quad<T>& c, Quad<T>& d) {
    using Raw = typename detail::RawVector<T, 4>::type;
    const Raw ra = static_cast<Raw>(a), rb = static_cast<Raw>(b), rc = static_cast<Raw>(c), rd = static_cast<Raw>(d);
    const Raw ab_low = __builtin_shufflevector(ra, rb, 0, 4, 1, 5), ab_high = __builtin_shufflevector(ra, rb, 2, 6, 3, 7);
    const Raw cd_low = __builtin_shufflevector(rc, rd, 0, 4, 1, 5), cd_high = __builtin_shufflevector(rc, rd, 2, 6, 3, 7);
    a = Quad<T>(__builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5));
    b = Quad<T>(__builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7));
    c = Quad<T>(__builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5));
    d = Quad<T>(__builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7));
}

// channel[c][j] -> record j, records `stride` numbers apart; missing channels are zero. `add`: to what is there.
template <class T, int channels, bool add = false>
inline void to_records(const T* const (&channel)[channels], T* record, int stride) {
    for (int j = 0; j < kBatch; j += 4) {
        Quad<T> q[4];
        for (int c = 0; c < 4; ++c) q[c] = c < channels ? Quad<T>(channel[c] + j, stdx::element_aligned) : Quad<T>(T(0));
        transpose(q[0], q[1], q[2], q[3]);
        for (int k = 0; k < 4; ++k) {
            T* to = record + (j + k) * stride;
            if constexpr (add) q[k] += Quad<T>(to, stdx::element_aligned);
            q[k].copy_to(to, stdx::element_aligned);
        }
    }
}

}  // namespace continua
