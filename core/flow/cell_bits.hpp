// The cells of a block as bits of a word, in plain order (last axis fastest): what holds for all of them, or for their
// neighbours, takes a few operations per block instead of one per cell.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "../grid/halo.hpp"

namespace continua {

template <int d>
inline constexpr uint64_t kAllCells = d == 2 ? 0xffff : ~uint64_t(0);

// Steps between cells along an axis, in plain order.
template <int d>
constexpr int axis_stride(int a) {
    return a == d - 1 ? 1 : a == d - 2 ? kSide : kSide * kSide;
}
// From a cell at the end of a block to the one at the other end.
template <int d>
constexpr int axis_across(int a) {
    return (kSide - 1) * axis_stride<d>(a);
}
// kEnds[axis][upper]: the cells at the lower or upper end of a block along an axis.
template <int d>
inline constexpr auto kEnds = [] {
    std::array<std::array<uint64_t, 2>, d> ends{};
    for (int a = 0; a < d; ++a)
        for (int cell = 0; cell < kBlockNodes<d>; ++cell) {
            const int along = cell / axis_stride<d>(a) % kSide;
            if (along == 0) ends[a][0] |= uint64_t(1) << cell;
            if (along == kSide - 1) ends[a][1] |= uint64_t(1) << cell;
        }
    return ends;
}();
// Place of the face neighbour of a block among its neighbours.
template <int d>
constexpr int face_neighbour(int a, bool upper) {
    const int step = a == d - 1 ? 1 : a == d - 2 ? 3 : 9;
    return kHere<d> + (upper ? step : -step);
}

// Cells whose neighbour along an axis is set: in the same block, or in the one that lies there.
template <int d>
constexpr uint64_t cells_beside(uint64_t here, uint64_t there, int a, bool upper) {
    const int stride = axis_stride<d>(a), across = axis_across<d>(a);
    const uint64_t end = kEnds<d>[a][upper];
    const uint64_t inner = kAllCells<d> & ~end;
    return upper ? (here >> stride & inner) | (there << across & end) : (here << stride & inner) | (there >> across & end);
}

// Bit `bit` of the bytes of a block.
template <int d>
inline uint64_t cells_with_bit(const uint8_t* bytes, int bit) {
    uint64_t cells = 0;
    for (int i = 0; i < kBlockNodes<d>; i += 8) {
        uint64_t eight;
        std::memcpy(&eight, bytes + i, 8);
        // The product brings bit 0 of byte k to bit 56 + k.
        cells |= ((eight >> bit & 0x0101010101010101) * 0x0102040810204080 >> 56) << i;
    }
    return cells;
}
// The bytes of a block that are not 0.
template <int d>
inline uint64_t cells_set(const uint8_t* bytes) {
    uint64_t cells = 0;
    for (int i = 0; i < kBlockNodes<d>; ++i) cells |= uint64_t(bytes[i] != 0) << i;
    return cells;
}

// function(cell) for all cells, in their order.
template <class Function>
inline void for_cells(uint64_t cells, Function&& function) {
    for (; cells; cells &= cells - 1) function(std::countr_zero(cells));
}

}  // namespace continua
