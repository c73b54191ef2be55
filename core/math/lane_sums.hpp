// Sums over the lanes of several vectors at once.
#pragma once

#include <array>
#include <utility>

#include "pack.hpp"

namespace continua {

namespace detail {

// Two vectors of which every `2 s` lanes add up to one number become one of which every `s` lanes do so.
template <class T, int n, int s>
struct LaneMerge {
    // Lanes of the two vectors side by side that are summed into lane p, of the first or the second half of their group. Single
    // floats go four together, which is one instruction.
    static constexpr int from(int p, bool second) {
        const int group = s == 1 && sizeof(T) == 4 && n >= 4 ? 4 : 2 * s, width = group / 2;
        const int base = p / group * group, at = p % group, b = at / width, k = at % width;
        return b * n + base + (s > 1 || group == 2 ? k : 2 * k) + (second ? s : 0);
    }
    template <class Raw>
    static Raw merge(const Raw& a, const Raw& b) {
        return [&]<int... p>(std::integer_sequence<int, p...>) {
            return __builtin_shufflevector(a, b, from(p, false)...) + __builtin_shufflevector(a, b, from(p, true)...);
        }(std::make_integer_sequence<int, n>{});
    }
};

// The lane that the sum of vector number q ends up in, if the first are merged with the first.
template <class T, int n>
constexpr std::array<int, n> lanes_of_sums() {
    std::array<std::array<int, n>, n> v{};
    for (int q = 0; q < n; ++q)
        for (int p = 0; p < n; ++p) v[q][p] = q;
    auto merge = [&]<int s>(std::integral_constant<int, s>, auto& self) {
        if constexpr (s > 0) {
            for (int q = 0; q < s; ++q) {
                std::array<int, n> to{};
                for (int p = 0; p < n; ++p) {
                    const int from = LaneMerge<T, n, s>::from(p, false);
                    to[p] = v[2 * q + from / n][from % n];
                }
                v[q] = to;
            }
            self(std::integral_constant<int, s / 2>{}, self);
        }
    };
    merge(std::integral_constant<int, n / 2>{}, merge);
    std::array<int, n> lane{};
    for (int p = 0; p < n; ++p) lane[v[0][p]] = p;
    return lane;
}

}  // namespace detail

// Lane i of the result is the sum over the lanes of vector i.
template <class L>
inline L lane_sums(const L* vectors) {
    using T = Scalar<L>;
    constexpr int n = lanes_of<L>();
    constexpr auto lane = detail::lanes_of_sums<T, n>();
    using Raw = typename detail::RawVector<T, n>::type;
    Raw v[n];
    for (int q = 0; q < n; ++q) v[q] = static_cast<Raw>(vectors[lane[q]]);
    auto merge = [&]<int s>(std::integral_constant<int, s>, auto& self) {
        if constexpr (s > 0) {
            for (int q = 0; q < s; ++q) v[q] = detail::LaneMerge<T, n, s>::merge(v[2 * q], v[2 * q + 1]);
            self(std::integral_constant<int, s / 2>{}, self);
        }
    };
    merge(std::integral_constant<int, n / 2>{}, merge);
    return L(v[0]);
}

}  // namespace continua
