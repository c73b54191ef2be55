// Geometric multigrid as a preconditioner: one symmetric V-cycle in single precision.
//
// Cells are joined 2^d to 1 and corrections are constant within a coarse cell. Couplings add up and are halved
// (distances double). Couplings to known zeros and the given diagonal add up in full, which keeps the free surface
// stiff enough on coarse levels, where it runs through cells. Coarser levels sweep more often, which makes up for the
// constant corrections (the variable V-cycle of Bramble and Pasciak 1987).
#pragma once

#include <bit>

#include "poisson_stencil.hpp"

namespace continua {

template <class T, int d>
class Multigrid {
    static constexpr int N = kBlockNodes<d>;
    using Float = Strip<float>;
    using Values = Float::Values;
    static constexpr int kLastSweeps = 8;
    static constexpr int64_t kFewCells = 64;  // coupled cells that sweeps alone can handle

    struct Parent {
        int32_t block, corner;  // number in the next coarser level, and which of its corners the child is
    };
    struct Level {
        LevelBlocks<d> blocks;
        Stencil<T, d> stencil;
        std::vector<Parent> parents;    // (blocks, copies)
        std::vector<int32_t> children;  // (blocks, corners) numbers in the next finer level, or its count
        std::vector<float> x, b;        // (blocks + 1, 2 colours, kHalf); the last block stays 0
    };

  public:
    Multigrid(const LevelBlocks<d>& blocks, Faces<T, d> faces) {
        add_level(blocks, faces);
        for (int64_t extent = widest(blocks); extent > 0 && worth_coarsening(); extent /= 2) {
            const Level& fine = levels_.back();
            LevelBlocks<d> wider = fine.blocks.coarser([&](int64_t b) { return fine.stencil.linked[b] != 0; });
            const std::vector<int32_t> children = relate(wider);
            faces = join(faces, wider, children);
            add_level(std::move(wider), faces);
            levels_.back().children = children;
        }
    }

    int levels() const { return int(levels_.size()); }
    // Right-hand side and result of a cycle (blocks + 1, 2 colours, kHalf), in colour order.
    float* b() { return levels_[0].b.data(); }
    float* x() { return levels_[0].x.data(); }
    void cycle() { cycle(0); }
    const Stencil<T, d>& stencil() const { return levels_[0].stencil; }

  private:
    std::vector<Level> levels_;

    static int64_t widest(const LevelBlocks<d>& blocks) {
        BlockCoords<d> low{}, high{};
        for (int64_t b = 0; b < blocks.count(); ++b) {
            const BlockCoords<d> here = blocks.coords(blocks.keys[b]);
            for (int a = 0; a < d; ++a) {
                low[a] = b ? std::min(low[a], here[a]) : here[a];
                high[a] = b ? std::max(high[a], here[a]) : here[a];
            }
        }
        int64_t extent = 0;
        for (int a = 0; a < d; ++a) extent = std::max<int64_t>(extent, high[a] - low[a] + 1);
        return extent;
    }
    // Cells without neighbours are solved by every sweep and need no coarser level.
    bool worth_coarsening() const {
        int64_t linked = 0;
        for (uint64_t mask : levels_.back().stencil.linked) linked += std::popcount(mask);
        return linked > kFewCells && levels_.back().blocks.can_coarsen();
    }

    void add_level(LevelBlocks<d> blocks, const Faces<T, d>& faces) {
        Level level;
        level.stencil = build_stencil(blocks, faces);
        level.x.assign(size_t(blocks.count() + 1) * N, 0);
        level.b.assign(size_t(blocks.count() + 1) * N, 0);
        level.blocks = std::move(blocks);
        levels_.push_back(std::move(level));
    }

    // Parents of the coarsest level so far in the next one; returns the children there.
    std::vector<int32_t> relate(const LevelBlocks<d>& coarse) {
        Level& fine = levels_.back();
        for (int64_t b = 0; b < fine.blocks.count(); ++b)
            for (int copy = 0; copy < fine.blocks.copies(); ++copy) {
                BlockCoords<d> there = fine.blocks.copy_coords(fine.blocks.keys[b], copy);
                int corner = 0;
                for (int a = 0; a < d; ++a) corner = 2 * corner + (there[a] & 1), there[a] >>= 1;
                fine.parents.push_back({coarse.find(there), corner});
            }
        std::vector<int32_t> children(size_t(coarse.count()) * kCorners<d>);
        for (int64_t b = 0; b < coarse.count(); ++b)
            for (int corner = 0; corner < kCorners<d>; ++corner) {
                BlockCoords<d> there = coarse.coords(coarse.keys[b]);
                for (int a = 0; a < d; ++a) there[a] = 2 * there[a] + ((corner >> (d - 1 - a)) & 1);
                children[b * kCorners<d> + corner] = fine.blocks.find(there);
            }
        return children;
    }

    // Faces of the next coarser level.
    Faces<T, d> join(const Faces<T, d>& fine, const LevelBlocks<d>& blocks,
                     const std::vector<int32_t>& children) const {
        const Level& finer = levels_.back();
        Faces<T, d> coarse;
        coarse.lower.assign(size_t(blocks.count()) * d * N, 0);
        coarse.own.assign(size_t(blocks.count()) * N, 0);
#pragma omp parallel for schedule(static) num_threads(cell_team<d>(finer.blocks.count()))
        for (int64_t b = 0; b < blocks.count(); ++b)
            for (int corner = 0; corner < kCorners<d>; ++corner) {
                const int64_t child = children[b * kCorners<d> + corner];
                if (child == finer.blocks.count()) continue;
                for (int cell = 0; cell < N; ++cell) {
                    if (!(finer.stencil.linked[child] >> cell & 1)) continue;
                    const int into = kParent<d>[corner][cell];
                    coarse.own[b * N + into] += fine.own[child * N + cell];
                    for (int a = 0; a < d; ++a)
                        if (cell / axis_stride<d>(a) % 2 == 0)
                            coarse.lower[(b * d + a) * N + into] += T(0.5) * fine.lower[(child * d + a) * N + cell];
                }
            }
        return coarse;
    }

    // Gauss-Seidel on the cells of one colour.
    template <int colour>
    void relax(Level& level) {
        const float *rhs = level.b.data(), *inverse = level.stencil.inverse.data();
        float* x = level.x.data();
#pragma omp parallel for schedule(static) num_threads(cell_team<d>(level.blocks.count()))
        for (int64_t b = 0; b < level.blocks.count(); ++b)
            for_strips<colour>(level.stencil, level.blocks, x, b, [&](int64_t at, const Values& sum) {
                Float::store(Float::load(inverse + at) * (Float::load(rhs + at) + sum), x + at);
            });
    }
    // The first half sweep, from x = 0.
    void relax_from_zero(Level& level) {
        const float *rhs = level.b.data(), *inverse = level.stencil.inverse.data();
        float* x = level.x.data();
#pragma omp parallel for schedule(static) num_threads(cell_team<d>(level.blocks.count()))
        for (int64_t b = 0; b < level.blocks.count(); ++b)
            for (int64_t at = b * N; at < b * N + kHalf<d>; at += Float::width)
                Float::store(Float::load(inverse + at) * Float::load(rhs + at), x + at);
    }
    // Sums of the residuals of red cells; those of black cells vanish as they were relaxed last.
    void restrict_residual(const Level& fine, Level& coarse) {
        const float *x = fine.x.data(), *rhs = fine.b.data();
        const double* diagonal = fine.stencil.diagonal.data();
#pragma omp parallel for schedule(static) num_threads(cell_team<d>(fine.blocks.count()))
        for (int64_t b = 0; b < coarse.blocks.count(); ++b) {
            float* sums = coarse.b.data() + b * N;
            std::fill(sums, sums + N, 0.0f);
            for (int corner = 0; corner < kCorners<d>; ++corner) {
                const int64_t child = coarse.children[b * kCorners<d> + corner];
                if (child == fine.blocks.count()) continue;
                // A strip is a plane of cells: two planes have the same parents, and so have two rows of a strip.
                Values planes[kHalf<d> / (2 * Float::width) + 1] = {};
                for_strips<0>(fine.stencil, fine.blocks, x, child, [&](int64_t at, const Values& sum) {
                    const Values r = Float::load(rhs + at) + sum - Float::load(diagonal + at) * Float::load(x + at);
                    planes[(at - child * N) / (2 * Float::width)] += r;
                });
                const int* into = kParentPlace<d>[corner].data();
                for (int place = 0; place < kHalf<d>; place += 2 * Float::width)
                    for (const int l : {0, 1, 4, 5}) {
                        const Values& plane = planes[place / (2 * Float::width)];
                        sums[into[place + l]] += plane[l] + plane[l + 2];
                    }
            }
        }
    }
    // The transpose of the sums, over the number of copies. Only red cells need the correction: black ones are relaxed
    // next and depend on the red ones alone.
    void add_correction(Level& fine, const Level& coarse) {
        const int copies = fine.blocks.copies();
        const float weight = 1.0f / float(copies);
#pragma omp parallel for schedule(static) num_threads(cell_team<d>(fine.blocks.count()))
        for (int64_t b = 0; b < fine.blocks.count(); ++b)
            for (int copy = 0; copy < copies; ++copy) {
                const Parent& parent = fine.parents[b * copies + copy];
                const float* correction = coarse.x.data() + int64_t(parent.block) * N;
                const int* into = kParentPlace<d>[parent.corner].data();
                float* x = fine.x.data() + b * N;
                for (int place = 0; place < kHalf<d>; ++place) x[place] += weight * correction[into[place]];
            }
    }

    void cycle(size_t k) {
        Level& level = levels_[k];
        const bool last = k + 1 == levels_.size();
        const int sweeps = last ? kLastSweeps : 2 + 3 * int(k);
        relax_from_zero(level);
        relax<1>(level);
        for (int n = 1; n < sweeps; ++n) relax<0>(level), relax<1>(level);
        if (!last) {
            restrict_residual(level, levels_[k + 1]);
            cycle(k + 1);
            add_correction(level, levels_[k + 1]);
        }
        for (int n = 0; n < sweeps; ++n) relax<1>(level), relax<0>(level);
    }
};

}  // namespace continua
