// Symmetric systems on the cells of a block-sparse grid: for every unknown cell
//     sum over its faces of coupling (x_c - x_neighbour) / cut + diagonal x_c = rhs_c,      x = 0 in all other cells,
// where cut is the part of the way to a cell without unknown at which x = 0 is reached, 1 if it is not told otherwise;
// solved by conjugate gradients in double precision with one multigrid cycle as the preconditioner.
#pragma once

#include <memory>
#include <stdexcept>

#include "../math/conjugate_gradients.hpp"
#include "cut.hpp"
#include "multigrid.hpp"
#include "poisson_components.hpp"

namespace continua {

// The cells as given: arrays over all blocks of the grid.
template <class T>
struct PoissonCells {
    const uint8_t* unknown;  // (blocks, cells)
    const T* coupling;       // (blocks, cells, 4) on lower faces
    const double* diagonal;  // (blocks, cells) or null
    const double* distance;  // (blocks, cells) from where x = 0, negative in unknown cells; or null: every cut is 1
};

struct PoissonReport : SolveReport {
    double removed = 0;  // largest mean taken out of the right-hand side
};

template <class T, int d>
class PoissonSystem {
    static constexpr int N = kBlockNodes<d>;
    using Vector = std::vector<double>;  // (blocks + 1, 2 colours, kHalf); the last block stays 0

  public:
    // `given` are all blocks of the grid, linked.
    PoissonSystem(const LevelBlocks<d>& given, const PoissonCells<T>& cells) {
        Faces<T, d> faces = read_faces(given, cells);
        parts_ = std::make_unique<ConnectedParts<d>>(blocks_, faces, unknown_);
        free_ = std::make_unique<FreeParts<T, d>>(*parts_, faces);
        multigrid_ = std::make_unique<Multigrid<T, d>>(blocks_, std::move(faces));
    }

    int levels() const { return multigrid_->levels(); }
    int64_t unknowns() const {
        int64_t count = 0;
        for (uint64_t mask : unknown_) count += std::popcount(mask);
        return count;
    }

    // labels (given blocks, cells): numbers from 0 for the connected parts all of whose couplings are at least 1 (no wall
    // touches them), kHeld for other unknowns, -1 elsewhere. Returns the number of such parts.
    static constexpr int32_t kHeld = std::numeric_limits<int32_t>::max();
    int32_t label_open_parts(int32_t* labels) const {
        int32_t count = 0;
        std::fill(labels, labels + given_ * N, -1);
        auto mark = [&](const Piece& piece, int32_t label) {
            for (uint64_t rest = piece.cells; rest; rest &= rest - 1)
                labels[source_[piece.block] * N + std::countr_zero(rest)] = label;
        };
        const auto open = parts_->without([&](const Piece& p) { return (walled_[p.block] & p.cells) != 0; });
        if (open.empty()) return 0;
        for (const Piece& piece : parts_->pieces()) mark(piece, kHeld);
        for (const Piece& piece : open) mark(piece, piece.part), count = std::max(count, piece.part + 1);
        return count;
    }

    // out = A x; both (given blocks, cells). Cells that are no unknowns get 0.
    void apply(const double* x, double* out) const {
        const Vector from = load(x);
        Vector to(from.size());
        for_blocks([&](int64_t b) { multiply(from, to, b); });
        save(to, out);
    }
    // z = one multigrid cycle for r.
    void precondition(const double* r, double* z) {
        Vector from = load(r);
        Vector to(from.size());
        if (!free_->empty()) free_->remove_means(from.data());
        precondition(from, 1.0);
        std::copy_n(multigrid_->x(), to.size(), to.begin());
        save(to, z);
    }

    // phi: initial guess and result. Stops when the largest residual is at most the tolerance.
    PoissonReport solve(const double* rhs, double* phi, double tolerance, int max_iterations) {
        PoissonReport report;
        Iterate iterate(*this, load(rhs), load(phi));
        if (!free_->empty()) report.removed = free_->remove_means(iterate.b.data());
        static_cast<SolveReport&>(report) = conjugate_gradients(iterate, tolerance, max_iterations);
        if (!free_->empty()) free_->remove_means(iterate.x.data());
        save(iterate.x, phi);
        return report;
    }

  private:
    LevelBlocks<d> blocks_;          // those with unknowns
    std::vector<int64_t> source_;    // their numbers among the given blocks
    std::vector<uint64_t> unknown_;  // a bit for every unknown cell
    std::vector<uint64_t> walled_;   // a bit for every unknown cell with a coupling below 1
    int64_t given_ = 0;
    std::unique_ptr<ConnectedParts<d>> parts_;
    std::unique_ptr<FreeParts<T, d>> free_;
    std::unique_ptr<Multigrid<T, d>> multigrid_;
    Vector part_;                    // of sums over blocks

    // ---- set-up ----------------------------------------------------------------------------------------------------
    // Keeps the blocks with unknowns; returns the unknown cells of all given blocks and of a missing one.
    std::vector<uint64_t> select_blocks(const LevelBlocks<d>& given, const uint8_t* unknown) {
        given_ = given.count();
        std::vector<uint64_t> masks(size_t(given_) + 1, 0);
        std::vector<int32_t> number(size_t(given_) + 1, -1);
        for (int64_t b = 0; b < given_; ++b) {
            masks[b] = cells_set<d>(unknown + b * N);
            if (!masks[b]) continue;
            number[b] = int32_t(source_.size());
            source_.push_back(b);
            unknown_.push_back(masks[b]);
            blocks_.keys.push_back(given.keys[b]);
        }
        blocks_.period = given.period;
        blocks_.around.resize(source_.size() * 2 * d);
        for (size_t i = 0; i < blocks_.around.size(); ++i) {
            const int32_t there = number[given.around[source_[i / (2 * d)] * 2 * d + i % (2 * d)]];
            blocks_.around[i] = there < 0 ? int32_t(blocks_.count()) : there;
        }
        return masks;
    }

    Faces<T, d> read_faces(const LevelBlocks<d>& given, const PoissonCells<T>& cells) {
        const std::vector<uint64_t> masks = select_blocks(given, cells.unknown);
        Faces<T, d> faces;
        faces.lower.resize(size_t(blocks_.count()) * d * N);
        faces.own.resize(size_t(blocks_.count()) * N);
        walled_.assign(size_t(blocks_.count()), 0);
        const char* wrong = nullptr;
#pragma omp parallel for schedule(static) num_threads(team(blocks_.count(), kBlocksPerThread))
        for (int64_t b = 0; b < blocks_.count(); ++b) {
            const char* problem = read_diagonal(cells, b, faces.own.data() + b * N);
            for (int side = 0; side < 2 * d && !problem; ++side)
                problem = read_side(given, masks, cells, b, side, faces);
            if (problem) {
#pragma omp critical
                wrong = problem;
            }
        }
        if (wrong) throw std::invalid_argument(wrong);
        return faces;
    }
    const char* read_diagonal(const PoissonCells<T>& cells, int64_t b, double* own) const {
        for (int cell = 0; cell < N && cells.diagonal; ++cell) {
            if (unknown_[b] >> cell & 1) own[cell] = cells.diagonal[source_[b] * N + cell];
            if (!(own[cell] >= 0) || std::isinf(own[cell])) return "diagonal: must be finite and not negative";
        }
        return nullptr;
    }
    // Couplings of a block's unknowns across their faces on one side, to other unknowns or to known zeros.
    const char* read_side(const LevelBlocks<d>& given, const std::vector<uint64_t>& masks, const PoissonCells<T>& cells,
                          int64_t b, int side, Faces<T, d>& faces) {
        const int a = side / 2, upper = side % 2, stride = axis_stride<d>(a), across = axis_across<d>(a);
        const int64_t g = source_[b], next = given.around[g * 2 * d + side];
        const uint64_t mine = masks[g], end = kEnds<d>[a][upper];
        const uint64_t both = mine & cells_beside<d>(mine, masks[next], a, upper);
        if (upper && next == given_ && mine & end)
            return "keys: a block that holds an upper face of an unknown cell is missing";
        T coupling[N];
        const T* own = cells.coupling + g * N * 4 + a;
        if (upper) {
            for (int cell = 0; cell < N - stride; ++cell) coupling[cell] = own[4 * (cell + stride)];
            const T* there = cells.coupling + next * N * 4 + a;
            for_cells(next < given_ ? end : 0, [&](int cell) { coupling[cell] = there[4 * (cell - across)]; });
        } else {
            for (int cell = 0; cell < N; ++cell) coupling[cell] = own[4 * cell];
        }
        uint64_t wrong = 0, walled = 0;
        for (int cell = 0; cell < N; ++cell) {
            wrong |= uint64_t(!(coupling[cell] >= 0 && coupling[cell] <= std::numeric_limits<T>::max())) << cell;
            walled |= uint64_t(coupling[cell] < 1) << cell;
        }
        if (wrong & mine) return "coupling: must be finite and not negative";
        walled_[b] |= walled & mine;
        T* lower = faces.lower.data() + (b * d + a) * N;
        for (int cell = 0; cell < N && !upper; ++cell) lower[cell] = both >> cell & 1 ? coupling[cell] : T(0);
        const char* problem = nullptr;
        for_cells(mine & ~both, [&](int cell) {
            const bool leaves = end >> cell & 1;
            const int64_t here = g * N + cell;
            const int64_t other = (leaves ? next : g) * N + cell + (upper ? 1 : -1) * (leaves ? -across : stride);
            const double* distance = coupling[cell] > 0 ? cells.distance : nullptr;
            const double inside = distance ? distance[here] : -1;
            const double outside = !distance ? 0 : leaves && next == given_ ? kFarFromLiquid : distance[other];
            if (!(inside < 0 && outside >= 0))
                problem = "distance: must be negative in unknown cells and not in those beside them";
            else
                faces.own[b * N + cell] += double(coupling[cell]) / surface_cut(inside, outside);
        });
        return problem;
    }

    // ---- vectors ---------------------------------------------------------------------------------------------------
    template <class Function>
    void for_blocks(Function&& f) const {
#pragma omp parallel for schedule(static) num_threads(cell_team<d>(blocks_.count()))
        for (int64_t b = 0; b < blocks_.count(); ++b) f(b);
    }
    Vector load(const double* cells) const {
        Vector v(size_t(blocks_.count() + 1) * N, 0.0);
        for_blocks([&](int64_t b) {
            const double* from = cells + source_[b] * N;
            for (int place = 0; place < N; ++place)
                v[b * N + place] = unknown_[b] >> kCell<d>[place] & 1 ? from[kCell<d>[place]] : 0.0;
        });
        return v;
    }
    void save(const Vector& v, double* cells) const {
        std::fill(cells, cells + given_ * N, 0.0);
        for_blocks([&](int64_t b) {
            for (int cell = 0; cell < N; ++cell) cells[source_[b] * N + cell] = v[b * N + kPlace<d>[cell]];
        });
    }
    // Sum over the blocks of f(b), added in their order: the same bits for any number of threads.
    template <class Function>
    double sum_blocks(Function&& f) {
        part_.resize(size_t(blocks_.count()));
        for_blocks([&](int64_t b) { part_[b] = f(b); });
        return std::accumulate(part_.begin(), part_.end(), 0.0);
    }
    template <class Function>
    double max_blocks(Function&& f) {
        part_.resize(size_t(blocks_.count()));
        for_blocks([&](int64_t b) { part_[b] = f(b); });
        return part_.empty() ? 0.0 : *std::max_element(part_.begin(), part_.end());
    }
    template <class S>
    static double dot(const double* a, const S* b) {
        double lanes[kPlane] = {};
        for (int i = 0; i < N; i += kPlane)
            for (int l = 0; l < kPlane; ++l) lanes[l] += a[i + l] * double(b[i + l]);
        double sum = 0;
        for (double lane : lanes) sum += lane;
        return sum;
    }

    // q = A p for one block.
    void multiply(const Vector& p, Vector& q, int64_t b) const {
        using Double = Strip<double>;
        const Stencil<T, d>& stencil = multigrid_->stencil();
        const double* diagonal = stencil.diagonal.data();
        auto rows = [&](int64_t at, const Double::Values& sum) {
            Double::store(Double::load(diagonal + at) * Double::load(p.data() + at) - sum, q.data() + at);
        };
        for_strips<0>(stencil, blocks_, p.data(), b, rows);
        for_strips<1>(stencil, blocks_, p.data(), b, rows);
    }
    // r = b - A x; returns its largest entry.
    double residual(const Vector& rhs, const Vector& x, Vector& r) {
        for_blocks([&](int64_t b) {
            multiply(x, r, b);
            for (int64_t i = b * N; i < (b + 1) * N; ++i) r[i] = rhs[i] - r[i];
        });
        if (!free_->empty()) free_->remove_means(r.data());
        return max_blocks([&](int64_t b) { return largest_entry(r.data() + b * N); });
    }
    static double largest_entry(const double* r) {
        double largest = 0;
        for (int i = 0; i < N; ++i) largest = std::max(largest, std::abs(r[i]));
        return largest;
    }
    // multigrid x = cycle(scale r), orthogonal to constants on free parts.
    void precondition(const Vector& r, double scale) {
        for_blocks([&](int64_t b) {
            for (int64_t i = b * N; i < (b + 1) * N; ++i) multigrid_->b()[i] = float(scale * r[i]);
        });
        multigrid_->cycle();
        if (!free_->empty()) free_->remove_means(multigrid_->x());
    }

    // The vectors of one solve, see conjugate_gradients.
    struct Iterate {
        PoissonSystem& system;
        Vector b, x, r, p, q;
        double scale = 1;  // of r, keeps single precision away from underflow

        Iterate(PoissonSystem& owner, Vector rhs, Vector guess)
            : system(owner), b(std::move(rhs)), x(std::move(guess)), r(b.size()), p(b.size()), q(b.size()) {}

        double residual() {
            const double largest = system.residual(b, x, r);
            scale = 1 / largest;
            return largest;
        }
        double turn(double alpha, double rz) {
            system.precondition(r, scale);
            const float* z = system.multigrid_->x();
            // Polak-Ribiere: forgives that a cycle in single precision is not exactly symmetric.
            double beta = 0;
            if (rz != 0)
                beta = -alpha / rz * system.sum_blocks([&](int64_t n) { return dot(q.data() + n * N, z + n * N); });
            return system.sum_blocks([&](int64_t n) {
                for (int64_t i = n * N; i < (n + 1) * N; ++i) p[i] = z[i] + beta * p[i];
                return dot(r.data() + n * N, z + n * N);
            });
        }
        double multiply() {
            return system.sum_blocks([&](int64_t n) {
                system.multiply(p, q, n);
                return dot(p.data() + n * N, q.data() + n * N);
            });
        }
        double advance(double alpha) {
            return system.max_blocks([&](int64_t n) {
                for (int64_t i = n * N; i < (n + 1) * N; ++i) x[i] += alpha * p[i], r[i] -= alpha * q[i];
                return largest_entry(r.data() + n * N);
            });
        }
    };
};

}  // namespace continua
