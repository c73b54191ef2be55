// Operations on a MAC grid: node I of a block holds the lower faces of cell I in channels 0 ... d - 1 and the cell itself in the
// last one. J15 section 5.4; Bridson, Fluid Simulation for Computer Graphics, chapters 4, 5.
#pragma once

#include <cmath>
#include <vector>

#include "../grid/halo.hpp"
#include "../grid/nodes.hpp"
#include "cut.hpp"

namespace continua {

inline constexpr int kCentre = 3;  // channel of the cell
inline constexpr int kClosed = 4;  // bits of faces: valid from 0, closed beside liquid from here

template <class Function>
inline void for_blocks(int64_t blocks, Function&& function) {
#pragma omp parallel for schedule(static) num_threads(team(blocks, kBlocksPerThread))
    for (int64_t b = 0; b < blocks; ++b) function(b);
}

template <class T, int d>
inline void clear_faces(T* block) {
    for (int i = 0; i < kBlockNodes<d>; ++i) std::fill_n(block + 4 * i, d, T(0));
}

// The largest of one number per block; NaN wins.
inline double largest(const std::vector<double>& values) {
    double most = 0;
    for (const double v : values) most = v > most || v != v ? v : most;
    return most;
}

// Momentum -> velocity plus increment on faces with mass, at rest elsewhere. valid (blocks, 4^d): bit a = face a has mass.
template <class T, int d>
void face_velocities(T* nodes, const T* mass, int64_t blocks, const T* increment, uint8_t* valid) {
    const T tiny = std::numeric_limits<T>::min() * T(1024);
    for_blocks(blocks, [&](int64_t b) {
        for (int64_t i = b * kBlockNodes<d>; i < (b + 1) * kBlockNodes<d>; ++i) {
            uint8_t bits = 0;
            for (int a = 0; a < d; ++a) {
                const T m = mass[4 * i + a];
                if (m > tiny) bits |= uint8_t(1 << a);
                nodes[4 * i + a] = m > tiny ? nodes[4 * i + a] / m + increment[a] : T(0);
            }
            valid[i] = bits;
        }
    });
}

// Liquid cells: those that hold particles (last channel of mass) and are not solid. Slivers that walls leave of a cell, less
// than half of it, may miss particles though they are wet: they follow the cell across their most open face.
template <class T, int d>
void mark_liquid(const T* mass, const T* open, const int32_t* neighbours, int64_t blocks, uint8_t* fluid) {
    for_blocks(blocks, [&](int64_t b) {
        const int64_t first = b * kBlockNodes<d>;
        Halo<T, d, 4> held, free;
        bool read = false;
        for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
            const T volume = open[4 * (first + i) + kCentre];
            fluid[first + i] = volume > T(0) && mass[4 * (first + i) + kCentre] > T(0);
            if (fluid[first + i] || !(volume > T(0)) || volume > T(0.5)) return;
            if (!read) {
                held.read(mass, neighbours + b * kNeighbours<d>);
                free.read(open, neighbours + b * kNeighbours<d>, T(1));
                read = true;
            }
            const int at = held.offset(l);
            T widest = T(0);
            for (int a = 0; a < d; ++a)
                for (const int other : {at - held.stride(a), at + held.stride(a)}) {
                    const T opening = free.value[std::max(at, other) + a];  // of the face between them
                    const bool wet = held.value[other + kCentre] > T(0) && free.value[other + kCentre] > T(0);
                    if (opening > widest) widest = opening, fluid[first + i] = wet;
                    else if (opening == widest && opening > T(0)) fluid[first + i] |= wet;
                }
        });
    });
}

// Volume that flows out of every liquid cell [m/s dx^(d-1)], walls included; 0 in all others. Returns the largest amount.
template <class T, int d>
double outflow(const T* velocity, const T* open, const T* wall, const uint8_t* fluid, const int32_t* neighbours,
               int64_t blocks, double* out) {
    std::vector<double> most(blocks, 0.0);
    for_blocks(blocks, [&](int64_t b) {
        const int64_t first = b * kBlockNodes<d>;
        Halo<T, d, 4> u, free, solid;
        bool read = false;
        for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
            out[first + i] = 0;
            if (!fluid[first + i]) return;
            if (!read) {
                u.read(velocity, neighbours + b * kNeighbours<d>);
                free.read(open, neighbours + b * kNeighbours<d>, T(1));
                solid.read(wall, neighbours + b * kNeighbours<d>);
                read = true;
            }
            auto flux = [&](int at, int a) {
                const double f = free.value[at + a];
                return f * double(u.value[at + a]) + (1 - f) * double(solid.value[at + a]);
            };
            const int at = u.offset(l);
            double sum = 0;
            for (int a = 0; a < d; ++a) sum += flux(at + u.stride(a), a) - flux(at, a);
            out[first + i] = sum;
            if (!(std::fabs(sum) <= most[b])) most[b] = std::fabs(sum);
        });
    });
    return largest(most);
}

// Faces of liquid cells are bit a of valid, or bit a + 4 if closed. The velocity of open ones loses the slope of the
// potential, which is 0 at the surface: where the distance (blocks, 4^d) from it says, or, if that is null, in the middle
// of air cells. `overwrite`: of a field that is 0 before.
template <class T, int d>
void subtract_differences(const double* potential, const uint8_t* fluid, const double* distance, const T* open,
                          const int32_t* neighbours, int64_t blocks, bool overwrite, T* velocity, uint8_t* valid) {
    for_blocks(blocks, [&](int64_t b) {
        const int64_t first = b * kBlockNodes<d>;
        Halo<double, d> phi;
        Halo<uint8_t, d> wet;
        wet.read(fluid, neighbours + b * kNeighbours<d>);
        if (std::none_of(wet.value, wet.value + wet.kCells, [](uint8_t w) { return w; })) {
            std::fill_n(valid + first, kBlockNodes<d>, uint8_t(0));
            if (overwrite) clear_faces<T, d>(velocity + 4 * first);
            return;
        }
        phi.read(potential, neighbours + b * kNeighbours<d>);
        Halo<double, d> surface;
        if (distance) surface.read(distance, neighbours + b * kNeighbours<d>, kFarFromLiquid);
        for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
            const int at = phi.offset(l);
            uint8_t bits = 0;
            for (int a = 0; a < d; ++a) {
                const int below = at - phi.stride(a);
                T& u = velocity[4 * (first + i) + a];
                if (overwrite) u = T(0);
                if (!wet.value[at] && !wet.value[below]) continue;
                const bool closed = !(open[4 * (first + i) + a] > T(0));
                bits |= uint8_t(1 << (closed ? a + kClosed : a));
                if (closed) continue;
                double cut = 1;
                if (distance && wet.value[at] != wet.value[below])
                    cut = wet.value[at] ? surface_cut(surface.value[at], surface.value[below])
                                        : surface_cut(surface.value[below], surface.value[at]);
                u -= T((phi.value[at] - phi.value[below]) / cut);
            }
            valid[first + i] = bits;
        });
    });
}

// Faces that are not valid take the mean of their valid neighbours (one step along any axis), layer after layer.
// valid grows with the layers; scratch: as large as valid.
template <class T, int d>
void extrapolate(T* velocity, uint8_t* valid, uint8_t* scratch, const int32_t* neighbours, int64_t blocks, int layers) {
    for (int layer = 0; layer < layers; ++layer) {
        for_blocks(blocks, [&](int64_t b) {
            const int64_t first = b * kBlockNodes<d>;
            constexpr uint8_t all = uint8_t((1 << d) - 1);
            std::copy_n(valid + first, kBlockNodes<d>, scratch + first);
            auto every = [](const uint8_t* v, int n, uint8_t bits) {
                return std::all_of(v, v + n, [=](uint8_t b) { return (b & all) == bits; });
            };
            if (every(valid + first, kBlockNodes<d>, all)) return;
            Halo<uint8_t, d> known;
            Halo<T, d, 4> u;
            known.read(valid, neighbours + b * kNeighbours<d>);
            if (every(known.value, known.kCells, 0)) return;
            // Only faces that are not valid are written, and only valid ones are read.
            u.read(velocity, neighbours + b * kNeighbours<d>);
            for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
                const int at = known.offset(l);
                for (int a = 0; a < d; ++a) {
                    if (known.value[at] >> a & 1) continue;
                    T sum = T(0);
                    int count = 0;
                    for (int c = 0; c < d; ++c)
                        for (const int side : {at - known.stride(c), at + known.stride(c)})
                            if (known.value[side] >> a & 1) sum += u.value[4 * side + a], ++count;
                    if (count == 0) continue;
                    velocity[4 * (first + i) + a] = sum / T(count);
                    scratch[first + i] |= uint8_t(1 << a);
                }
            });
        });
        std::copy_n(scratch, blocks * kBlockNodes<d>, valid);
    }
}

}  // namespace continua
