// Operations on a MAC grid: node I of a block holds the lower faces of cell I in channels 0 ... d - 1 and the cell itself in the
// last one. J15 section 5.4; Bridson, Fluid Simulation for Computer Graphics, chapters 4, 5.
#pragma once

#include <cmath>
#include <vector>

#include "../grid/halo.hpp"
#include "../grid/nodes.hpp"
#include "cell_bits.hpp"
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

// The same added to the velocity of all faces.
template <class T, int d>
void accelerate_faces(T* velocity, int64_t blocks, const T* increment) {
    T add[4] = {};
    std::copy_n(increment, d, add);
    for_blocks(blocks, [&](int64_t b) {
        T* block = velocity + b * kBlockNodes<d> * 4;
        for (int i = 0; i < kBlockNodes<d>; ++i)
            for (int a = 0; a < 4; ++a) block[4 * i + a] += add[a];
    });
}

// The largest velocity of a face, whatever its sign.
template <class T, int d>
double fastest_face(const T* velocity, int64_t blocks) {
    std::vector<double> most(blocks);
    for_blocks(blocks, [&](int64_t b) {
        const T* block = velocity + b * kBlockNodes<d> * 4;
        T fastest[4] = {}, sum[4] = {};
        for (int i = 0; i < kBlockNodes<d>; ++i)
            for (int a = 0; a < 4; ++a) {
                const T speed = std::fabs(block[4 * i + a]);
                fastest[a] = std::max(fastest[a], speed);
                sum[a] += speed - speed;  // not 0 where it is not finite
            }
        for (int a = 0; a < d; ++a) most[b] = sum[a] == T(0) ? std::max(most[b], double(fastest[a])) : double(fastest[a] + sum[a]);
    });
    return largest(most);
}

// Numbers of cells of known blocks (known, 4^d) times a factor, found again by key among sorted blocks; 0 in other blocks.
template <int d>
void carry_cells(const uint64_t* known, int64_t count, const float* values, double factor, const uint64_t* keys,
                 int64_t blocks, double* cells) {
    constexpr int N = kBlockNodes<d>;
    for_blocks(blocks, [&](int64_t b) {
        const int64_t k = std::lower_bound(known, known + count, keys[b]) - known;
        const bool found = k < count && known[k] == keys[b];
        for (int i = 0; i < N; ++i) cells[b * N + i] = found ? factor * double(values[k * N + i]) : 0.0;
    });
}

// What flows through the lower faces of a block: the liquid through what is open, the wall through the rest.
template <class T, int d>
inline void face_fluxes(const T* velocity, const T* open, const T* wall, double* flux) {
    for (int k = 0; k < 4 * kBlockNodes<d>; ++k) {
        const double part = double(open[k]);
        flux[k] = part * double(velocity[k]) + (1 - part) * double(wall[k]);
    }
}

// Volume that flows out of every liquid cell [m/s dx^(d-1)], walls included; 0 in all others. Returns the largest amount.
template <class T, int d>
double outflow(const T* velocity, const T* open, const T* wall, const uint8_t* fluid, const int32_t* neighbours,
               int64_t blocks, double* out) {
    constexpr int N = kBlockNodes<d>;
    std::vector<double> most(blocks, 0.0);
    for_blocks(blocks, [&](int64_t b) {
        double* sums = out + b * N;
        std::fill_n(sums, N, 0.0);
        const uint64_t wet = cells_set<d>(fluid + b * N);
        if (!wet) return;
        double lower[4 * N], upper[N];
        face_fluxes<T, d>(velocity + 4 * b * N, open + 4 * b * N, wall + 4 * b * N, lower);
        for (int a = 0; a < d; ++a) {
            const int stride = axis_stride<d>(a), across = axis_across<d>(a);
            const int64_t above = neighbours[b * kNeighbours<d> + face_neighbour<d>(a, true)];
            for (int i = 0; i + stride < N; ++i) upper[i] = lower[4 * (i + stride) + a];
            for_cells(kEnds<d>[a][1], [&](int i) {
                const int64_t face = 4 * (above * N + i - across) + a;
                const double part = above < 0 ? 0.0 : double(open[face]);
                upper[i] = above < 0 ? 0.0 : part * double(velocity[face]) + (1 - part) * double(wall[face]);
            });
            for (int i = 0; i < N; ++i) sums[i] += upper[i] - lower[4 * i + a];
        }
        for (int i = 0; i < N; ++i) {
            if (!(wet >> i & 1)) sums[i] = 0;
            if (!(std::fabs(sums[i]) <= most[b])) most[b] = std::fabs(sums[i]);
        }
    });
    return largest(most);
}

// Faces of liquid cells are bit a of valid, or bit a + 4 if closed. The velocity of open ones loses the slope of the
// potential, which is 0 at the surface: where the distance (blocks, 4^d) from it says, or, if that is null, in the middle
// of air cells. `overwrite`: of a field that is 0 before.
template <class T, int d>
void subtract_differences(const double* potential, const uint8_t* fluid, const double* distance, const T* open,
                          const int32_t* neighbours, int64_t blocks, bool overwrite, T* velocity, uint8_t* valid) {
    constexpr int N = kBlockNodes<d>;
    for_blocks(blocks, [&](int64_t b) {
        const int64_t first = b * N;
        std::fill_n(valid + first, N, uint8_t(0));
        if (overwrite) clear_faces<T, d>(velocity + 4 * first);
        const uint64_t wet = cells_set<d>(fluid + first);
        for (int a = 0; a < d; ++a) {
            const int64_t below = neighbours[b * kNeighbours<d> + face_neighbour<d>(a, false)];
            const uint64_t wet_below = cells_beside<d>(wet, below < 0 ? 0 : cells_set<d>(fluid + below * N), a, false);
            for_cells(wet | wet_below, [&](int i) {
                const int64_t here = first + i;
                const bool closed = !(open[4 * here + a] > T(0));
                valid[here] |= uint8_t(1 << (closed ? a + kClosed : a));
                if (closed) return;
                // Where there is no block there is air.
                const bool leaves = kEnds<d>[a][0] >> i & 1, none = leaves && below < 0;
                const int64_t there = none ? here : leaves ? below * N + i + axis_across<d>(a) : here - axis_stride<d>(a);
                double slope = potential[here] - (none ? 0.0 : potential[there]);
                if (distance && ((wet ^ wet_below) >> i & 1)) {
                    const double other = none ? kFarFromLiquid : distance[there];
                    slope /= wet >> i & 1 ? surface_cut(distance[here], other) : surface_cut(other, distance[here]);
                }
                velocity[4 * here + a] -= T(slope);
            });
        }
    });
}

// Faces that are not valid take the mean of their valid neighbours (one step along any axis), layer after layer.
// valid grows with the layers.
template <class T, int d>
void extrapolate(T* velocity, uint8_t* valid, const int32_t* neighbours, int64_t blocks, int layers) {
    constexpr int N = kBlockNodes<d>;
    using Known = std::array<uint64_t, d>;  // faces of a block, along every axis
    std::vector<Known> known(blocks), grown(blocks);
    for_blocks(blocks, [&](int64_t b) {
        for (int a = 0; a < d; ++a) known[b][a] = cells_with_bit<d>(valid + b * N, a);
    });
    for (int layer = 0; layer < layers; ++layer) {
        for_blocks(blocks, [&](int64_t b) {
            const int32_t* around = neighbours + b * kNeighbours<d>;
            for (int a = 0; a < d; ++a) {
                const uint64_t here = known[b][a];
                grown[b][a] = here;
                if (here == kAllCells<d>) continue;
                std::array<uint64_t, 2 * d> beside;  // faces with a valid one on each of their sides
                uint64_t any = 0;
                for (int side = 0; side < 2 * d; ++side) {
                    const int64_t there = around[face_neighbour<d>(side / 2, side % 2)];
                    beside[side] = cells_beside<d>(here, there < 0 ? 0 : known[there][a], side / 2, side % 2);
                    any |= beside[side];
                }
                grown[b][a] |= any;
                // Only faces that are not valid are written, and only valid ones are read.
                for_cells(any & ~here, [&](int i) {
                    T sum = T(0);
                    int count = 0;
                    for (int side = 0; side < 2 * d; ++side) {
                        if (!(beside[side] >> i & 1)) continue;
                        const int axis = side / 2, sign = side % 2 ? 1 : -1;
                        const bool leaves = kEnds<d>[axis][side % 2] >> i & 1;
                        const int64_t block = leaves ? around[face_neighbour<d>(axis, side % 2)] : b;
                        const int cell = i + sign * (leaves ? -axis_across<d>(axis) : axis_stride<d>(axis));
                        sum += velocity[4 * (block * N + cell) + a], ++count;
                    }
                    velocity[4 * (b * N + i) + a] = sum / T(count);
                    valid[b * N + i] |= uint8_t(1 << a);
                });
            }
        });
        known.swap(grown);
    }
}

}  // namespace continua
