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
template <int d>
inline const int32_t* neighbours_of(nb::handle object, int64_t blocks) {
    const int32_t* neighbours = checked<int32_t>(object, "neighbours", {blocks, kNeighbours<d>});
    for (int64_t i = 0; i < blocks * kNeighbours<d>; ++i)
        if (neighbours[i] < -1 || neighbours[i] >= blocks)
            throw std::invalid_argument("neighbours: refers to a block that does not exist");
    return neighbours;
}

}  // namespace continua
