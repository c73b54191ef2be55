// Node arrays: (blocks, 4^d, 4) with channels (x, y, z or 0, mass). Tiles: the (4 + degree)^d nodes a particle block reaches.
#pragma once

#include <utility>

#include "../parallel.hpp"
#include "blocks.hpp"

namespace continua {

template <int d, class Function>
inline void for_block_nodes(Function&& function) {  // function(node number, local coordinates)
    int node = 0;
    std::array<int, 3> l{};
    for (l[0] = 0; l[0] < kSide; ++l[0])
        for (l[1] = 0; l[1] < kSide; ++l[1]) {
            if constexpr (d == 2)
                function(node++, l);
            else
                for (l[2] = 0; l[2] < kSide; ++l[2]) function(node++, l);
        }
}

template <int d, class Function>
inline void static_corners(Function&& function) {
    [&]<int... corner>(std::integer_sequence<int, corner...>) {
        (function(std::integral_constant<int, corner>{}), ...);
    }(std::make_integer_sequence<int, kCorners<d>>{});
}

// Visit the rows (runs of nodes along the last axis) shared by a tile and the grid block at one of its corners:
// function(first tile node, first block node, run length), the last as an integral_constant.
template <int d, int degree, int corner, class Function>
inline void for_shared_rows(Function&& function) {
    constexpr int S = kSide + degree;
    constexpr auto begin = [](int a) { return (corner >> (d - 1 - a)) & 1 ? kSide : 0; };
    constexpr auto count = [](int a) { return (corner >> (d - 1 - a)) & 1 ? degree : kSide; };
    constexpr std::integral_constant<int, count(d - 1)> run;
    for (int i = 0; i < count(0); ++i) {
        if constexpr (d == 2)
            function((begin(0) + i) * S + begin(1), i * kSide, run);
        else
            for (int j = 0; j < count(1); ++j)
                function(((begin(0) + i) * S + begin(1) + j) * S + begin(2), (i * kSide + j) * kSide, run);
    }
}

// Momentum -> velocity, plus dt * acceleration; nodes without mass stay at rest. J15 section 2.2 steps 3, 5.
template <class T, int d>
void momentum_to_velocity(T* nodes, int64_t blocks, const T* increment) {
    const T tiny = std::numeric_limits<T>::min() * T(1024);
    T add[4] = {};
    for (int a = 0; a < d; ++a) add[a] = increment[a];
#pragma omp parallel for schedule(static) num_threads(team(blocks, kBlocksPerThread))
    for (int64_t i = 0; i < blocks * kBlockNodes<d>; ++i) {
        T* node = nodes + 4 * i;
        const T mass = node[3];
        const bool active = mass > tiny;
        const T inv = active ? T(1) / mass : T(0);
        for (int a = 0; a < 3; ++a) node[a] = active ? node[a] * inv + add[a] : T(0);
        node[3] = active ? mass : T(0);
    }
}

}  // namespace continua
