// Arrays of the MAC grid at the border: one record of four channels per cell, one number per cell, neighbouring blocks.
#pragma once

#include "../grid/halo.hpp"
#include "arrays.hpp"

namespace continua {

template <class T, int d>
inline T* faces_of(nb::handle object, const char* name, int64_t blocks) {
    return checked<T>(object, name, {blocks, kBlockNodes<d>, 4});
}
template <class S, int d>
inline S* cells_of(nb::handle object, const char* name, int64_t blocks) {
    return checked<S>(object, name, {blocks, kBlockNodes<d>});
}
// Numbers from -1 to count - 1.
inline const int32_t* numbers_of(nb::handle object, const std::string& name, std::vector<int64_t> shape, int64_t count) {
    const int32_t* numbers = checked<int32_t>(object, name, shape);
    int64_t size = 1;
    for (const int64_t n : shape) size *= n;
    uint32_t outside = 0;  // no branch, so that many are checked at once: -1 becomes 0
    for (int64_t i = 0; i < size; ++i) outside |= uint32_t(uint32_t(numbers[i]) + 1 > uint32_t(count));
    if (outside) throw std::invalid_argument(name + ": number out of range");
    return numbers;
}
template <int d>
inline const int32_t* neighbours_of(nb::handle object, int64_t blocks) {
    return numbers_of(object, "neighbours", {blocks, kNeighbours<d>}, blocks);
}

}  // namespace continua
