// Liquid that touches no wall keeps its momentum and angular momentum, whatever pressure, viscosity and extrapolation did
// to its faces: each part gets back, as a rigid motion, what it lost. A rigid motion has no divergence on a MAC grid,
// since component a does not depend on coordinate a.
#pragma once

#include <array>

#include "../contact/law.hpp"
#include "solids.hpp"
#include "staggered.hpp"

namespace continua {

// Positions in cells.
template <int d>
inline Lattice<double, d> unit_lattice() {
    Lattice<double, d> lattice{};
    lattice.dx = lattice.inv_dx = 1;
    return lattice;
}

// Rigid motions: d translations, then turns, about z in 2D and about all axes in 3D.
template <int d>
inline constexpr int kRigid = d == 2 ? 3 : 6;

// Component a of a rigid motion at x from the centre.
template <int d>
inline double rigid_motion(int motion, int a, const Vec3& x) {
    if (motion < d) return motion == a ? 1 : 0;
    const int axis = d == 2 ? 2 : motion - d;  // e_axis x x
    if (a == (axis + 1) % 3) return -x[(axis + 2) % 3];
    if (a == (axis + 2) % 3) return x[(axis + 1) % 3];
    return 0;
}

// Labels of parts grow by so many layers of cells that have none; the lowest one wins. scratch: as large as labels.
template <int d>
void spread_labels(int32_t* labels, int32_t* scratch, const int32_t* neighbours, int64_t blocks, int layers) {
    for (int layer = 0; layer < layers; ++layer) {
        for_blocks(blocks, [&](int64_t b) {
            const int64_t first = b * kBlockNodes<d>;
            Halo<int32_t, d> known;
            known.read(labels, neighbours + b * kNeighbours<d>, -1);
            for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
                const int at = known.offset(l);
                int32_t label = known.value[at];
                for (int a = 0; a < d && known.value[at] < 0; ++a)
                    for (const int cell : {at - known.stride(a), at + known.stride(a)})
                        if (known.value[cell] >= 0 && (label < 0 || known.value[cell] < label)) label = known.value[cell];
                scratch[first + i] = label;
            });
        });
        std::copy_n(scratch, blocks * kBlockNodes<d>, labels);
    }
}

// function(node number, local coordinates, axis, label) for all open faces of a block that belong to a part below `count`: that of a
// liquid cell beside it, else the lower one of the two cells.
template <class T, int d, class Function>
inline void for_labelled_faces(const int32_t* labels, const uint8_t* fluid, const T* open, const int32_t* neighbours,
                               int32_t count, int64_t b, Function&& function) {
    const int32_t* around = neighbours + b * kNeighbours<d>;
    Halo<int32_t, d> part;
    part.read(labels, around, -1);
    auto ours = [&](int32_t label) { return label >= 0 && label < count; };
    if (std::none_of(part.value, part.value + part.kCells, ours)) return;
    Halo<uint8_t, d> wet;
    wet.read(fluid, around);
    for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
        const int at = part.offset(l);
        for (int a = 0; a < d; ++a) {
            if (open[4 * (b * kBlockNodes<d> + i) + a] < T(1)) continue;
            const int below = at - part.stride(a);
            const int32_t one = part.value[at], other = part.value[below];
            const int32_t lower = one < 0 ? other : other < 0 ? one : std::min(one, other);
            const int32_t label = wet.value[at] ? one : wet.value[below] ? other : lower;
            if (ours(label)) function(i, l, a, label);
        }
    });
}

// Sums over the faces of every part, with the mass m of faces and rigid motions r about its centre (count, 3) [cells]:
// gram (count, k, k) of m r r', momentum (count, k) of m r u.
template <class T, int d>
void part_momenta(const uint64_t* keys, int64_t blocks, const int32_t* neighbours, const int32_t* labels,
                  const uint8_t* fluid, const T* open, const T* mass, const T* velocity, int32_t count,
                  const double* centres, double* gram, double* momentum) {
    constexpr int K = kRigid<d>;
    struct Sums {
        int32_t label;
        std::array<double, K * K> gram{};
        std::array<double, K> momentum{};
    };
    std::vector<std::vector<Sums>> found(static_cast<size_t>(blocks));  // per block, put together in their order
    const Lattice<double, d> cells = unit_lattice<d>();
    for_blocks(blocks, [&](int64_t b) {
        const BlockPlace<d> place(cells, keys[b]);
        for_labelled_faces<T, d>(labels, fluid, open, neighbours, count, b, [&](int i, auto& l, int a, int32_t label) {
            auto sums = std::find_if(found[b].begin(), found[b].end(), [&](const Sums& s) { return s.label == label; });
            if (sums == found[b].end()) sums = found[b].insert(sums, Sums{label});
            const int64_t at = 4 * (b * kBlockNodes<d> + i) + a;
            const double m = double(mass[at]), u = double(velocity[at]);
            if (!(m > 0)) return;
            Vec3 x = place.face_centre(l, a);
            for (int c = 0; c < d; ++c) x[c] -= centres[3 * label + c];
            double r[K];
            for (int k = 0; k < K; ++k) r[k] = rigid_motion<d>(k, a, x);
            for (int k = 0; k < K; ++k) {
                sums->momentum[k] += m * r[k] * u;
                for (int n = 0; n < K; ++n) sums->gram[k * K + n] += m * r[k] * r[n];
            }
        });
    });
    std::fill_n(gram, int64_t(count) * K * K, 0.0);
    std::fill_n(momentum, int64_t(count) * K, 0.0);
    for (const auto& block : found)
        for (const Sums& sums : block) {
            for (int k = 0; k < K; ++k) momentum[int64_t(sums.label) * K + k] += sums.momentum[k];
            for (int k = 0; k < K * K; ++k) gram[int64_t(sums.label) * K * K + k] += sums.gram[k];
        }
}

// Take rigid motions (count, k) [velocity, or velocity per cell] off the faces of every part.
template <class T, int d>
void subtract_motions(const uint64_t* keys, int64_t blocks, const int32_t* neighbours, const int32_t* labels,
                      const uint8_t* fluid, const T* open, int32_t count, const double* centres, const double* motions,
                      T* velocity) {
    constexpr int K = kRigid<d>;
    const Lattice<double, d> cells = unit_lattice<d>();
    for_blocks(blocks, [&](int64_t b) {
        const BlockPlace<d> place(cells, keys[b]);
        for_labelled_faces<T, d>(labels, fluid, open, neighbours, count, b, [&](int i, auto& l, int a, int32_t label) {
            Vec3 x = place.face_centre(l, a);
            for (int c = 0; c < d; ++c) x[c] -= centres[3 * label + c];
            double u = 0;
            for (int k = 0; k < K; ++k) u += motions[int64_t(label) * K + k] * rigid_motion<d>(k, a, x);
            velocity[4 * (b * kBlockNodes<d> + i) + a] -= T(u);
        });
    });
}

}  // namespace continua
