// The free surface inside cells: how full each cell is by the mass that splines collect in it, the signed distance from
// the surface that follows, which cells are liquid, and how crowded they are. Gathers only: no sum depends on threads.
#pragma once

#include "open_shares.hpp"

namespace continua {

// How far a cell counts as a part of the wall, by its open volume: slivers have too few particles to be judged alone, so
// their mass counts for cells with more room beside them, and they follow those. Ramps, since walls move.
inline constexpr double kRamp = 0.2;
inline double sliver(double volume) { return std::clamp((0.6 - volume) / kRamp, 0.0, 1.0); }
inline constexpr double kLeastExpected = 0.05;

// Means of the cells of a block, weighed by [1 2 1] / 4 along every axis, from a halo that is overwritten.
template <int d>
inline void smooth(Halo<double, d>& cells, double* out) {
    constexpr int S = Halo<double, d>::S, kPlaneCells = d == 3 ? S * S : S;
    double* v = cells.value;
    auto mean = [](const double* at, int stride) { return 0.25 * (at[-stride] + at[stride]) + 0.5 * at[0]; };
    for (int row = 0; row < Halo<double, d>::kCells; row += S) {  // along the last axis
        double line[kSide];
        for (int k = 0; k < kSide; ++k) line[k] = mean(v + row + k + 1, 1);
        std::copy_n(line, kSide, v + row + 1);
    }
    if constexpr (d == 3)
        for (int plane = 0; plane < Halo<double, d>::kCells; plane += S * S) {
            double rows[kSide][kSide];
            for (int j = 0; j < kSide; ++j)
                for (int k = 0; k < kSide; ++k) rows[j][k] = mean(v + plane + (j + 1) * S + k + 1, S);
            for (int j = 0; j < kSide; ++j) std::copy_n(rows[j], kSide, v + plane + (j + 1) * S + 1);
        }
    for (int i = 0; i < kSide; ++i)
        for (int j = 0; j < (d == 3 ? kSide : 1); ++j)
            for (int k = 0; k < kSide; ++k)
                *out++ = mean(v + (i + 1) * kPlaneCells + (d == 3 ? (j + 1) * S : 0) + k + 1, kPlaneCells);
}

// Signed distance from the surface in units of `width` cells, negative in liquid, if a cell is full to this part.
// Exact for a plane along the grid between evenly spread mass and nothing: a hat over it gives 1/2 + s - s|s|/2.
inline double distance_of_fill(double fill, double width) {
    const double h = std::clamp(fill - 0.5, -0.5, 0.5);
    return std::copysign(width * (1 - std::sqrt(1 - 2 * std::fabs(h))), -h);
}

// The fill of all cells, then where the liquid is; see `find_surface`. What solids have to do with it is kept only for the
// blocks at solids: the others share the first slot, where everything is open.
template <class T, int d, int degree>
class SurfaceFinder {
    static constexpr int N = kBlockNodes<d>;
    using Cells = Halo<double, d>;
    using Open = Halo<T, d, 4>;

  public:
    SurfaceFinder(const T* nodes, const T* open, const int32_t* neighbours, int64_t blocks, double full, double* fill)
        : open_(open), neighbours_(neighbours), blocks_(blocks), fill_(fill), shares_(open, neighbours, blocks),
          near_(size_t(blocks)), slot_(size_t(blocks), kOpen) {
        std::vector<uint8_t> wet(static_cast<size_t>(blocks));
        for_blocks(blocks, [&](int64_t b) {
            for (int i = 0; i < N; ++i) fill_[b * N + i] = double(nodes[4 * (b * N + i) + kCentre]) / full;
            wet[b] = std::any_of(fill_ + b * N, fill_ + (b + 1) * N, [](double mass) { return mass > 0; });
        });
        for_blocks(blocks, [&](int64_t b) {
            for (int n = 0; n < kNeighbours<d>; ++n) {
                const int32_t block = around(b)[n];
                if (block < 0) continue;
                if (wet[block]) near_[b] |= kMass;
                if (shares_.cut(block)) near_[b] |= kSolid;
            }
        });
        give_slots();
    }

    // From the mass in units of a full cell to F = mass over what would be there if all that is open around the cell were
    // full. What splines give to solid cells counts for the liquid beside them, so that it does not matter how close to a
    // wall particles lie.
    void fill() {
        each_at_solids([&](int64_t b) { expect(b, expected_.data() + slot_[b] * N); });
        each_at_solids([&](int64_t b) { compare(b, found_.data() + slot_[b] * N); });
        each_at_solids([&](int64_t b) { std::copy_n(found_.data() + slot_[b] * N, N, fill_ + b * N); });
        each_at_solids([&](int64_t b) { follow(b, found_.data() + slot_[b] * N); });
        each_at_solids([&](int64_t b) { std::copy_n(found_.data() + slot_[b] * N, N, fill_ + b * N); });
    }

    // Signed distance and liquid cells, from the fill smoothed by [1 2 1] / 4 per axis, weighed by open volume, which
    // doubles the width of the ramp. Returns the volume of the liquid: each cell as far as the surface by its own fill
    // lets it be, air cells included [cells].
    double surface(double* distance, uint8_t* fluid) const {
        std::vector<double> part(size_t(blocks_), 0.0);
        for_blocks(blocks_, [&](int64_t b) {
            double* to = distance + b * N;
            if (!(near_[b] & kMass)) {
                std::fill_n(to, N, kFarFromLiquid);
                std::fill_n(fluid + b * N, N, uint8_t(0));
                return;
            }
            measure(b, to);
            raise_above_grid(b, to);
            const double *volume = volume_.data() + slot_[b] * N, *filled = fill_ + b * N;
            double full[N], sum = 0;
            for (int i = 0; i < N; ++i) full[i] = volume[i] * std::clamp(0.5 - distance_of_fill(filled[i], 1), 0.0, 1.0);
            for (const double cell : full) sum += cell;
            part[b] = sum;
            for (int i = 0; i < N; ++i) fluid[b * N + i] = to[i] < 0 && volume[i] > 0;
        });
        double sum = 0;
        for (const double p : part) sum += p;
        return sum;
    }

  private:
    const T* open_;
    const int32_t* neighbours_;
    int64_t blocks_;
    double* fill_;
    OpenShares<T, d, degree> shares_;
    static constexpr uint8_t kMass = 1, kSolid = 2;
    static constexpr int64_t kOpen = 0;
    std::vector<uint8_t> near_;                      // what is in a block or around it
    std::vector<int64_t> slot_;                      // (blocks)
    std::vector<double> volume_, expected_, found_;  // (slots, cells) in units of a full one

    const int32_t* around(int64_t b) const { return neighbours_ + b * kNeighbours<d>; }
    bool at_solids(int64_t b) const { return near_[b] == (kMass | kSolid); }

    template <class Function>
    void each_at_solids(Function&& function) const {
        for_blocks(blocks_, [&](int64_t b) {
            if (at_solids(b)) function(b);
        });
    }
    // For blocks with solids in them, and for those beside them that mass is near.
    void give_slots() {
        int64_t slots = kOpen + 1;
        for (int64_t b = 0; b < blocks_; ++b)
            if (shares_.cut(b) || at_solids(b)) slot_[b] = slots++;
        volume_.assign(size_t(slots) * N, 1.0);
        expected_.assign(size_t(slots) * N, 1.0);
        found_.resize(size_t(slots) * N);
        for_blocks(blocks_, [&](int64_t b) {
            for (int i = 0; i < N && shares_.cut(b); ++i)
                volume_[slot_[b] * N + i] = double(open_[4 * (b * N + i) + kCentre]);
        });
        for_blocks(blocks_, [&](int64_t b) {
            if (!at_solids(b)) return;
            Cells volume;  // solids of blocks around it matter in the layer of cells beside this one
            read(b, volume_, volume);
            if (std::all_of(volume.value, volume.value + Cells::kCells, [](double v) { return v == 1; })) near_[b] = kMass;
        });
    }
    // Of the slots of a block and of those around it; all is open where there is no block.
    void read(int64_t b, const std::vector<double>& numbers, Cells& cells) const {
        int32_t slots[kNeighbours<d>];
        for (int n = 0; n < kNeighbours<d>; ++n) {
            const int32_t block = around(b)[n];
            slots[n] = block < 0 ? int32_t(kOpen) : int32_t(slot_[block]);
        }
        cells.read(numbers.data(), slots);
    }
    void expect(int64_t b, double* out) const {
        Cells open, all, none;
        read(b, volume_, open);
        for (int k = 0; k < Cells::kCells; ++k) all.value[k] = open.value[k] == 1, none.value[k] = open.value[k] == 0;
        double whole[N], solid[N];  // 1 where that holds for all cells around
        smooth<d>(all, whole);
        smooth<d>(none, solid);
        typename OpenShares<T, d, degree>::Shares shares;
        bool known = false;
        for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
            out[i] = whole[i];
            if (whole[i] == 1 || solid[i] == 1) return;
            if (!known) shares_.read(b, shares), known = true;
            out[i] = OpenShares<T, d, degree>::expected(shares, Cells::offset(l));
        });
    }
    void compare(int64_t b, double* out) const {
        Cells mass, expected, volume;
        mass.read(fill_, around(b));
        read(b, expected_, expected);
        read(b, volume_, volume);
        for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
            const int at = Cells::offset(l);
            double found = mass.value[at], wanted = expected.value[at];
            for (int a = 0; a < d; ++a)
                for (const int cell : {at - Cells::stride(a), at + Cells::stride(a)}) {
                    const double more = std::clamp((volume.value[at] - volume.value[cell]) / kRamp, 0.0, 1.0);
                    const double solid = more * sliver(volume.value[cell]);
                    found += solid * mass.value[cell], wanted += solid * expected.value[cell];
                }
            out[i] = found / std::max(wanted, kLeastExpected);
        });
    }
    // Slivers that walls leave of a cell may miss particles though they are wet: they follow cells with more room across
    // open faces, not those along the wall, which may be dry.
    void follow(int64_t b, double* out) const {
        Cells fill;
        Open open;
        bool known = false;
        for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
            const double volume = volume_[slot_[b] * N + i], part = sliver(volume);
            if (part == 0 || volume == 0) return;  // a cell that is all solid has no open face
            if (!known) fill.read(fill_, around(b)), open.read(open_, around(b), T(1)), known = true;
            const int at = Cells::offset(l);
            double sum = 0, weight = 0;
            for (int a = 0; a < d; ++a)
                for (const int cell : {at - Cells::stride(a), at + Cells::stride(a)}) {
                    const double face = double(open.value[4 * std::max(at, cell) + a]), face2 = face * face;
                    const double room = double(open.value[4 * cell + kCentre] - open.value[4 * at + kCentre]);
                    const double q = face2 * face2 * std::max(room, 0.0);
                    sum += q * fill.value[cell], weight += q;
                }
            if (weight >= 1e-6) out[i] = (1 - part) * fill.value[at] + part * sum / weight;
        });
    }
    void measure(int64_t b, double* distance) const {
        Cells amount, volume;
        double mean[N], room[N];
        amount.read(fill_, around(b));
        const bool solid = at_solids(b);
        if (solid) {
            read(b, volume_, volume);
            for (int i = 0; i < Cells::kCells; ++i) amount.value[i] *= volume.value[i];
            smooth<d>(volume, room);
        }
        smooth<d>(amount, mean);
        for (int i = 0; i < N && solid; ++i) mean[i] = room[i] > 0 ? mean[i] / room[i] : 0.0;
        for (int i = 0; i < N; ++i) distance[i] = distance_of_fill(mean[i], 2);
    }
    // Heaps of particles in one place may seem to fill cells whose upper faces are not on the grid: those are air.
    void raise_above_grid(int64_t b, double* distance) const {
        for (int a = 0; a < d; ++a) {
            if (around(b)[face_neighbour<d>(a, true)] >= 0) continue;
            for_cells(kEnds<d>[a][1], [&](int i) { distance[i] = std::max(distance[i], 0.0); });
        }
    }
};

// Cell mass: last channel of `nodes`; `full`: that of a full cell. fill, distance (blocks, 4^d) [cells], fluid: 1 in cells
// with open volume whose middle lies in the liquid. Returns the volume of the liquid [cells].
template <class T, int d, int degree>
double find_surface(const T* nodes, const T* open, const int32_t* neighbours, int64_t blocks, double full, double* fill,
                    double* distance, uint8_t* fluid) {
    SurfaceFinder<T, d, degree> finder(nodes, open, neighbours, blocks, full, fill);
    finder.fill();
    return finder.surface(distance, fluid);
}

// By how much liquid cells are too full (positive) or too empty, as a fraction of their volume. A cell at the surface
// may hold less than a full one: what a plane surface leaves in it at the distance D of its middle, from where the
// surface cuts the lines to its neighbours. Cells that hold less still are sinks: they pull a diffuse surface together.
template <class T, int d, int degree>
void crowding(const double* fill, const double* distance, const uint8_t* fluid, const T* open, const int32_t* neighbours,
              int64_t blocks, double* out) {
    constexpr double kMost = 0.5;
    for_blocks(blocks, [&](int64_t b) {
        const int64_t first = b * kBlockNodes<d>;
        const int32_t* around = neighbours + b * kNeighbours<d>;
        std::fill_n(out + first, kBlockNodes<d>, 0.0);
        if (std::all_of(fluid + first, fluid + first + kBlockNodes<d>, [](uint8_t f) { return f == 0; })) return;
        Halo<T, d, 4> free;
        Halo<uint8_t, d> wet;
        Halo<double, d> surface;
        wet.read(fluid, around);
        const bool inside = std::all_of(wet.value, wet.value + wet.kCells, [](uint8_t w) { return w; });
        if (!inside) surface.read(distance, around, kFarFromLiquid), free.read(open, around, T(1));
        for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
            if (!fluid[first + i]) return;
            const int at = wet.offset(l);
            double steepness = 0;  // sum over axes of 1 / cut^2
            for (int a = 0; a < d && !inside; ++a) {
                double cut = 2;
                for (const int cell : {at - wet.stride(a), at + wet.stride(a)})
                    if (!wet.value[cell] && free.value[4 * std::max(at, cell) + a] > T(0))
                        cut = std::min(cut, surface_cut(surface.value[at], surface.value[cell]));
                if (cut <= 1) steepness += 1 / (cut * cut);
            }
            const double excess = fill[first + i] - 1;
            double s = excess;
            if (steepness > 0 && excess <= 0) {
                const double D = std::min(1.0, 1 / std::sqrt(steepness));
                s = std::min(fill[first + i] - fill_below_surface<degree>(D), 0.0);
            }
            out[first + i] = std::clamp(s, -kMost, kMost);
        });
    });
}

}  // namespace continua
