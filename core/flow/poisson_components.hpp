// Connected parts of the unknowns without any known value: there the solution is free up to a constant.
#pragma once

#include <bit>
#include <cmath>
#include <numeric>

#include "poisson_stencil.hpp"

namespace continua {

template <class T, int d>
class FreeParts {
    static constexpr int N = kBlockNodes<d>;
    using Masks = std::array<uint64_t, d>;  // a bit for every cell of a block, in plain order
    struct Piece {  // connected cells of one block
        int32_t block;
        int32_t part;
        uint64_t cells;
    };

  public:
    FreeParts(const LevelBlocks<d>& blocks, const Faces<T, d>& faces, const std::vector<uint64_t>& unknown) {
        const std::vector<Masks> open = open_faces(blocks, faces);
        std::vector<Piece> pieces;
        std::vector<int64_t> first(size_t(blocks.count()) + 1, 0);
        for (int64_t b = 0; b < blocks.count(); ++b) {
            find_pieces(open[b], b, unknown[b], pieces);
            first[b + 1] = int64_t(pieces.size());
        }
        join_pieces(blocks, open, first, pieces);
        keep_free(faces, pieces);
    }

    bool empty() const { return pieces_.empty(); }

    // Take the mean of every free part out of values (blocks, 2 colours, kHalf); returns the largest.
    template <class S>
    double remove_means(S* values) const {
        const int64_t count = int64_t(pieces_.size());
        std::vector<double> sums(pieces_.size()), means(cells_.size(), 0.0);
#pragma omp parallel for schedule(static) num_threads(team(count, kBlocksPerThread))
        for (int64_t p = 0; p < count; ++p) for_cells(pieces_[p], [&](int64_t i) { sums[p] += double(values[i]); });
        for (int64_t p = 0; p < count; ++p) means[pieces_[p].part] += sums[p];
        double largest = 0;
        for (size_t part = 0; part < means.size(); ++part) {
            means[part] /= double(cells_[part]);
            largest = std::max(largest, std::abs(means[part]));
        }
#pragma omp parallel for schedule(static) num_threads(team(count, kBlocksPerThread))
        for (int64_t p = 0; p < count; ++p)
            for_cells(pieces_[p], [&](int64_t i) { values[i] = S(double(values[i]) - means[pieces_[p].part]); });
        return largest;
    }

  private:
    std::vector<Piece> pieces_;   // of free parts only
    std::vector<int64_t> cells_;  // of every free part

    // Per block: cells coupled to their lower neighbour along every axis.
    static std::vector<Masks> open_faces(const LevelBlocks<d>& blocks, const Faces<T, d>& faces) {
        std::vector<Masks> open(size_t(blocks.count()));
#pragma omp parallel for schedule(static) num_threads(cell_team<d>(blocks.count()))
        for (int64_t b = 0; b < blocks.count(); ++b)
            for (int a = 0; a < d; ++a)
                for (int cell = 0; cell < N; ++cell)
                    open[b][a] |= uint64_t(faces.lower[(b * d + a) * N + cell] > 0) << cell;
        return open;
    }
    template <class Function>
    static void for_cells(const Piece& piece, Function&& f) {
        if (std::popcount(piece.cells) == N) {
            for (int64_t i = piece.block * int64_t(N); i < (piece.block + 1) * int64_t(N); ++i) f(i);
            return;
        }
        for (uint64_t rest = piece.cells; rest; rest &= rest - 1)
            f(piece.block * int64_t(N) + kPlace<d>[std::countr_zero(rest)]);
    }

    static void find_pieces(Masks inner, int64_t b, uint64_t rest, std::vector<Piece>& pieces) {
        for (int a = 0; a < d; ++a) inner[a] &= ~kEnds<d>[a][0];
        while (rest) {
            uint64_t cells = rest & -rest, before = 0;
            while (cells != before) {
                before = cells;
                for (int a = 0; a < d; ++a)
                    cells |= (cells & inner[a]) >> axis_stride<d>(a) | (cells << axis_stride<d>(a) & inner[a]);
            }
            pieces.push_back({int32_t(b), int32_t(pieces.size()), cells});
            rest &= ~cells;
        }
    }

    static int32_t root(std::vector<Piece>& pieces, int32_t p) {
        while (pieces[p].part != p) p = pieces[p].part = pieces[pieces[p].part].part;
        return p;
    }
    // Pieces of neighbouring blocks that touch get the same part (the first piece of it).
    static void join_pieces(const LevelBlocks<d>& blocks, const std::vector<Masks>& open,
                            const std::vector<int64_t>& first, std::vector<Piece>& pieces) {
        for (int64_t b = 0; b < blocks.count(); ++b)
            for (int a = 0; a < d; ++a) {
                const int64_t there = blocks.around[b * 2 * d + 2 * a];
                if (there == blocks.count()) continue;
                const uint64_t touching = open[b][a] & kEnds<d>[a][0];
                for (int64_t p = first[b]; touching && p < first[b + 1]; ++p)
                    for (int64_t q = first[there]; q < first[there + 1]; ++q)
                        if ((pieces[p].cells & touching) << (kSide - 1) * axis_stride<d>(a) & pieces[q].cells) {
                            const int32_t one = root(pieces, int32_t(p)), other = root(pieces, int32_t(q));
                            pieces[std::max(one, other)].part = std::min(one, other);
                        }
            }
    }
    void keep_free(const Faces<T, d>& faces, std::vector<Piece>& pieces) {
        std::vector<int32_t> part(pieces.size());
        std::vector<uint8_t> held(pieces.size(), 0);
        for (size_t p = 0; p < pieces.size(); ++p) {
            part[p] = root(pieces, int32_t(p));
            for (uint64_t rest = pieces[p].cells; rest && !held[part[p]]; rest &= rest - 1)
                held[part[p]] = faces.own[pieces[p].block * int64_t(N) + std::countr_zero(rest)] > 0;
        }
        std::vector<int32_t> number(pieces.size(), -1);
        for (size_t p = 0; p < pieces.size(); ++p) {
            if (held[part[p]]) continue;
            if (number[part[p]] < 0) number[part[p]] = int32_t(cells_.size()), cells_.push_back(0);
            cells_[number[part[p]]] += std::popcount(pieces[p].cells);
            pieces_.push_back({pieces[p].block, number[part[p]], pieces[p].cells});
        }
    }
};

}  // namespace continua
