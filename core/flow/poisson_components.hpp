// Connected parts of the unknowns, and those without any known value: there the solution is free up to a constant.
#pragma once

#include <bit>
#include <cmath>
#include <numeric>

#include "poisson_stencil.hpp"

namespace continua {

struct Piece {  // connected cells of one block
    int32_t block;
    int32_t part;
    uint64_t cells;  // a bit each, in plain order
};

template <int d>
class ConnectedParts {
    static constexpr int N = kBlockNodes<d>;
    using Masks = std::array<uint64_t, d>;

  public:
    template <class T>
    ConnectedParts(const LevelBlocks<d>& blocks, const Faces<T, d>& faces, const std::vector<uint64_t>& unknown) {
        const std::vector<Masks> open = open_faces(blocks, faces);
        std::vector<int64_t> first(size_t(blocks.count()) + 1, 0);
        for (int64_t b = 0; b < blocks.count(); ++b) {
            find_pieces(open[b], b, unknown[b]);
            first[b + 1] = int64_t(pieces_.size());
        }
        join_pieces(blocks, open, first);
        for (size_t p = 0; p < pieces_.size(); ++p) pieces_[p].part = root(int32_t(p));
    }

    // By block; the number of a part is that of its first piece.
    const std::vector<Piece>& pieces() const { return pieces_; }

    // The pieces of the parts of which no piece has the property; parts are numbered anew in the order of their pieces.
    template <class Property>
    std::vector<Piece> without(Property&& property) const {
        std::vector<uint8_t> has(pieces_.size(), 0);
        for (const Piece& piece : pieces_)
            if (!has[piece.part]) has[piece.part] = property(piece);
        std::vector<int32_t> number(pieces_.size(), -1);
        std::vector<Piece> kept;
        int32_t count = 0;
        for (const Piece& piece : pieces_) {
            if (has[piece.part]) continue;
            if (number[piece.part] < 0) number[piece.part] = count++;
            kept.push_back({piece.block, number[piece.part], piece.cells});
        }
        return kept;
    }

  private:
    std::vector<Piece> pieces_;

    // Per block: cells coupled to their lower neighbour along every axis.
    template <class T>
    static std::vector<Masks> open_faces(const LevelBlocks<d>& blocks, const Faces<T, d>& faces) {
        std::vector<Masks> open(size_t(blocks.count()));
#pragma omp parallel for schedule(static) num_threads(cell_team<d>(blocks.count()))
        for (int64_t b = 0; b < blocks.count(); ++b)
            for (int a = 0; a < d; ++a)
                for (int cell = 0; cell < N; ++cell)
                    open[b][a] |= uint64_t(faces.lower[(b * d + a) * N + cell] > 0) << cell;
        return open;
    }

    void find_pieces(Masks inner, int64_t b, uint64_t rest) {
        for (int a = 0; a < d; ++a) inner[a] &= ~kEnds<d>[a][0];
        while (rest) {
            uint64_t cells = rest & -rest, before = 0;
            while (cells != before) {
                before = cells;
                for (int a = 0; a < d; ++a)
                    cells |= (cells & inner[a]) >> axis_stride<d>(a) | (cells << axis_stride<d>(a) & inner[a]);
            }
            pieces_.push_back({int32_t(b), int32_t(pieces_.size()), cells});
            rest &= ~cells;
        }
    }

    int32_t root(int32_t p) {
        while (pieces_[p].part != p) p = pieces_[p].part = pieces_[pieces_[p].part].part;
        return p;
    }
    // Pieces of neighbouring blocks that touch get the same part (the first piece of it).
    void join_pieces(const LevelBlocks<d>& blocks, const std::vector<Masks>& open, const std::vector<int64_t>& first) {
        for (int64_t b = 0; b < blocks.count(); ++b)
            for (int a = 0; a < d; ++a) {
                const int64_t there = blocks.around[b * 2 * d + 2 * a];
                if (there == blocks.count()) continue;
                const uint64_t touching = open[b][a] & kEnds<d>[a][0];
                for (int64_t p = first[b]; touching && p < first[b + 1]; ++p)
                    for (int64_t q = first[there]; q < first[there + 1]; ++q)
                        if ((pieces_[p].cells & touching) << (kSide - 1) * axis_stride<d>(a) & pieces_[q].cells) {
                            const int32_t one = root(int32_t(p)), other = root(int32_t(q));
                            pieces_[std::max(one, other)].part = std::min(one, other);
                        }
            }
    }
};

template <class T, int d>
class FreeParts {
    static constexpr int N = kBlockNodes<d>;

  public:
    FreeParts(const ConnectedParts<d>& parts, const Faces<T, d>& faces)
        : pieces_(parts.without([&](const Piece& piece) { return held(faces, piece); })) {
        for (const Piece& piece : pieces_) {
            cells_.resize(std::max(cells_.size(), size_t(piece.part) + 1), 0);
            cells_[piece.part] += std::popcount(piece.cells);
        }
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

    // A cell of the piece is coupled to a known zero or has a diagonal of its own.
    static bool held(const Faces<T, d>& faces, const Piece& piece) {
        for (uint64_t rest = piece.cells; rest; rest &= rest - 1)
            if (faces.own[piece.block * int64_t(N) + std::countr_zero(rest)] > 0) return true;
        return false;
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
};

}  // namespace continua
