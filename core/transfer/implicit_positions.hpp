// Positions at the end of a step by the velocity found there: x' = x + dt v(x'), v interpolated on the grid. J15 A.6.2
//
// Particles move less than one cell (the time step sees to it), so all they can meet lies in the tile of their block
// and one more layer of nodes around it; iterates are kept within one cell. Nodes that do not count (last channel zero:
// nothing was transferred to them) are left out of the mean v = sum w v_i / sum w: counted as resting they would hold
// back the front of a body in free flight.
#pragma once

#include "particles.hpp"

namespace continua {

struct PositionReport {
    int max_steps = 0;          // Newton steps of the particle that needed most
    int64_t steps = 0;          // of all
    int64_t halvings = 0;
    int64_t unsolved = 0;       // particles left with a larger residual than asked for
    double max_residual = 0;    // [cells]

    void merge(const PositionReport& o) {
        max_steps = std::max(max_steps, o.max_steps);
        steps += o.steps, halvings += o.halvings, unsolved += o.unsolved;
        max_residual = std::max(max_residual, o.max_residual);
    }
};

namespace detail {

// Node velocities around one particle block, in double: the tile and one layer on every side.
template <int d, int degree>
class VelocityTile {
  public:
    static constexpr int K = degree + 1, S = kSide + degree + 2;
    static constexpr int kNodes = d == 2 ? S * S : S * S * S;

    // `neighbours`: node blocks around the particle block, see neighbourhood(); where there is none no node counts.
    template <class T>
    void read(const T* nodes, const std::vector<int64_t>& neighbours) {
        std::array<int, 3> n{};
        for (int i = 0; i < kNodes; ++i) {
            int rest = i, block = 0, inside = 0;
            for (int a = d - 1; a >= 0; --a, rest /= S) n[a] = rest % S;
            for (int a = 0; a < d; ++a) {
                const int from = n[a] - 1 + kSide;  // counted from the first node of the lower neighbour
                block = 3 * block + from / kSide;
                inside = kSide * inside + from % kSide;
            }
            const int64_t b = neighbours[block];
            const T* node = b < 0 ? nullptr : nodes + 4 * (b * kBlockNodes<d> + inside);
            const double counts = node && node[3] > T(0) ? 1.0 : 0.0;
            for (int c = 0; c < 3; ++c) tile_[4 * i + c] = counts > 0 ? double(node[c]) : 0.0;
            tile_[4 * i + 3] = counts;
        }
    }
    // v and its gradient at q, in cells from the first node of the block. Zero where no node counts.
    void at(const double* q, double* v, Mat<double, d>& gradient) const {
        double w[d][K], slope[d][K];
        int first[d];
        for (int a = 0; a < d; ++a) patterns(q[a] + 1, first[a], w[a], slope[a]);
        Quad<double> sums[d + 1];
        for (auto& sum : sums) sum = 0.0;
        if constexpr (d == 2)
            add_rows(first, w, slope, 0, 1.0, 0.0, sums);
        else
            for (int i = 0; i < K; ++i) add_rows(first, w, slope, (first[0] + i) * S, w[0][i], slope[0][i], sums);
        const double total = sums[0][3], inverse = total > 0 ? 1 / total : 0.0;
        for (int c = 0; c < d; ++c) {
            v[c] = sums[0][c] * inverse;
            for (int a = 0; a < d; ++a) gradient(c, a) = (sums[1 + a][c] - v[c] * sums[1 + a][3]) * inverse;
        }
    }

  private:
    static void patterns(double q, int& first, double* w, double* slope) {
        using Spline = BSpline<degree>;
        first = std::clamp(int(std::floor(q - Spline::shift)), 0, S - K);
        const double f = q - first, kappa = Spline::kappa(f);
        Spline::weights(f, w);
        for (int k = 0; k < K; ++k) slope[k] = Spline::share * w[k] * (k - f) + Spline::difference(k, kappa);
    }
    // One plane of nodes (all of them in 2D), with its own factor in the weight and in the slope along the first axis.
    void add_rows(const int* first, const double (*w)[K], const double (*slope)[K], int above, double factor,
                  double factor_slope, Quad<double>* sums) const {
        constexpr int A = d - 2, B = d - 1;
        for (int a = 0; a < K; ++a) {
            const double* row = tile_ + 4 * ((above + first[A] + a) * S + first[B]);
            Quad<double> value = 0.0, along = 0.0;
            for (int b = 0; b < K; ++b) {
                const Quad<double> node(row + 4 * b, stdx::element_aligned);
                value += w[B][b] * node;
                along += slope[B][b] * node;
            }
            sums[0] += factor * w[A][a] * value;
            if constexpr (d == 3) sums[1] += factor_slope * w[A][a] * value;
            sums[1 + A] += factor * slope[A][a] * value;
            sums[1 + B] += factor * w[A][a] * along;
        }
    }
    alignas(64) double tile_[kNodes * 4];
};

template <int d>
inline double norm(const double* r) {
    double sum = 0;
    for (int a = 0; a < d; ++a) sum += r[a] * r[a];
    return std::sqrt(sum);
}

// u = rate v(q + u) for the displacement u in cells; rate = dt / dx.
template <int d, int degree>
struct PositionSolve {
    static constexpr int kMostSteps = 30, kMostHalvings = 14;
    static constexpr double kTolerance = 1e-10;  // cells
    const VelocityTile<d, degree>& tile;
    const double* q;
    double rate;
    double u[d] = {}, r[d] = {};
    Mat<double, d> J = Mat<double, d>::identity();

    double residual(const double* at) {
        double there[d], v[d];
        for (int a = 0; a < d; ++a) there[a] = q[a] + at[a];
        tile.at(there, v, J);
        for (int a = 0; a < d; ++a) r[a] = at[a] - rate * v[a];
        J = Mat<double, d>::identity() - rate * J;
        return norm<d>(r);
    }
    // Newton step -J^-1 r, or -r where J cannot be inverted.
    void direction(double* step) const {
        const Mat<double, d> cof = cofactor(J);
        const double det = determinant(J, cof);
        for (int a = 0; a < d; ++a) {
            double sum = 0;
            for (int b = 0; b < d; ++b) sum += cof(b, a) * r[b];
            step[a] = det != 0 ? -sum / det : -r[a];
        }
    }
    void run(PositionReport& report) {
        double size = residual(u);
        int steps = 0;
        for (; steps < kMostSteps && size > kTolerance; ++steps) {
            double step[d], next[d];
            direction(step);
            double scale = 1, found = 0;
            for (int halving = 0;; ++halving, scale *= 0.5) {
                for (int a = 0; a < d; ++a) next[a] = std::clamp(u[a] + scale * step[a], -1.0, 1.0);
                found = residual(next);
                if (found <= size || halving == kMostHalvings) break;
                ++report.halvings;
            }
            std::copy_n(next, d, u);
            size = found;
        }
        report.max_steps = std::max(report.max_steps, steps);
        report.steps += steps;
        report.unsolved += !(size <= 10 * kTolerance);
        report.max_residual = std::max(report.max_residual, size);
    }
};

// Numbers of the node blocks at and around a particle block, 3^d of them; -1 for those that are not in the grid.
template <class T, int d>
std::vector<int64_t> neighbourhood(const Lattice<T, d>& lattice, const BlockCoords<d>& block, const uint64_t* keys,
                                   int64_t count) {
    std::vector<int64_t> found(d == 2 ? 9 : 27, -1);
    for (size_t k = 0; k < found.size(); ++k) {
        BlockCoords<d> at = block;
        for (int a = d - 1, rest = int(k); a >= 0; --a, rest /= 3) at[a] = lattice.wrap(block[a] + rest % 3 - 1, a);
        const uint64_t key = morton_key<d>(at);
        const uint64_t* place = std::lower_bound(keys, keys + count, key);
        if (place != keys + count && *place == key) found[k] = place - keys;
    }
    return found;
}

}  // namespace detail

struct NodeBlocks {
    const uint64_t* keys;  // sorted
    int64_t count;
};

// Writes out.x in block order, as gather does. Not for linear splines, which are not smooth enough for Newton's method.
template <class T, int d, int degree>
PositionReport implicit_positions(const Particles<T>& in, const Particles<T>& out, const Lattice<T, d>& lattice,
                                  const Blocks& blocks, const NodeBlocks& grid, const T* velocity, double dt) {
    std::vector<PositionReport> reports(blocks.count);
#pragma omp parallel for schedule(dynamic, 1) num_threads(team(in.count))
    for (int64_t s = 0; s < blocks.count; ++s) {
        const BlockCoords<d> block = block_coords<d>(blocks.keys[s]);
        detail::VelocityTile<d, degree> tile;
        tile.read(velocity, detail::neighbourhood<T, d>(lattice, block, grid.keys, grid.count));
        for (int64_t place = blocks.offsets[s]; place < blocks.offsets[s + 1]; ++place) {
            const int64_t p = blocks.order[place];
            double q[d];
            for (int a = 0; a < d; ++a) {
                const double span = double(kSide) * lattice.period[a];
                q[a] = (double(in.x[a * in.stride + p]) - double(lattice.origin[a])) * double(lattice.inv_dx) -
                       double(kSide) * block[a];
                // Across the seam, as in Stencils.
                if (span > 0 && q[a] < BSpline<degree>::shift + kSide / 2 - 0.5 * span) q[a] += span;
            }
            detail::PositionSolve<d, degree> solve{tile, q, dt * double(lattice.inv_dx)};
            solve.run(reports[s]);
            for (int a = 0; a < d; ++a) {
                T moved = T(double(in.x[a * in.stride + p]) + double(lattice.dx) * solve.u[a]);
                const T lower = lattice.origin[a], length = T(kSide * lattice.period[a]) * lattice.dx;
                if (length > T(0) && moved < lower) moved += length;
                if (length > T(0) && moved >= lower + length) moved -= length;
                out.x[a * out.stride + place] = moved;
            }
        }
    }
    PositionReport total;
    for (const auto& report : reports) total.merge(report);
    return total;
}

}  // namespace continua
