// An approximate inverse of the second derivatives of rods: the factors of those of sections that cannot turn, kept in single
// precision. With positive pivots their product is positive definite however they are rounded. Part of rods.hpp.
//
// Points are coupled with two neighbours to either side, so that A = L D L^T with blocks of 3 x 3 numbers:
//   L2_i = A_i(i-2) D_(i-2)^-1,  W_i = A_i(i-1) - A_i(i-2) L1_(i-1)^T,  L1_i = W_i D_(i-1)^-1,  D_i = A_ii - L2_i A_i(i-2)^T - L1_i W_i^T.
#pragma once

namespace continua {

namespace detail {
using Block = Mat<double, 3>;

// The factors l10, l20, l21 and 1/d of a symmetric matrix, with d where it is positive.
inline void factor_block(const Block& D, double* l, double* over) {
    constexpr double small = 1e-14;
    const double size = std::abs(D(0, 0)) + std::abs(D(1, 1)) + std::abs(D(2, 2));
    auto invert = [&](double d) { return 1 / (d > small * size ? d : size); };
    over[0] = invert(D(0, 0));
    l[0] = D(1, 0) * over[0], l[1] = D(2, 0) * over[0];
    over[1] = invert(D(1, 1) - l[0] * D(1, 0));
    const double rest = D(2, 1) - l[1] * D(1, 0);
    l[2] = rest * over[1];
    over[2] = invert(D(2, 2) - l[1] * D(2, 0) - l[2] * rest);
}
// y = D^-1 x in place
template <class T>
inline void solve_block(const T* l, const T* over, double* y) {
    y[1] -= l[0] * y[0];
    y[2] -= l[1] * y[0] + l[2] * y[1];
    for (int a = 0; a < 3; ++a) y[a] *= over[a];
    y[1] -= l[2] * y[2];
    y[0] -= l[0] * y[1] + l[1] * y[2];
}
// The inverse of D.
inline Block inverse_of(const double* l, const double* over) {
    Block inverse = Block::identity();
    for (int a = 0; a < 3; ++a) solve_block(l, over, inverse.a + 3 * a);  // columns, and rows as well
    return inverse;
}
}  // namespace detail

// factors (nodes, kFactors) of weight K + diag(added), with added (nodes, 3) and K at x without negative stiffness.
inline void Rods::factor(const double* x, double weight, const double* added, float* factors) const {
    using detail::Block;
    constexpr int first_row = kWorkRows + RodRows::count;
    layout_.for_chunks(first_row + kHessianRows, [&](int64_t, const RodLayout::Chunk& chunk, RodTable& work) {
        find_shape(x, chunk, work);
        find_hessian(chunk, work, true, work.row(first_row), work.row(1) - work.row(0));
        auto own = [&](int64_t j) {
            Block m;
            for (int k = 0; k < 9; ++k) m.a[k] = weight * work.row(first_row + kOwn + upper(k / 3, k % 3))[j];
            return m;
        };
        auto cross = [&](int64_t j) {  // of the edge before with this one
            Block m;
            for (int k = 0; k < 9; ++k) m.a[k] = weight * work.row(first_row + kBefore + k)[j];
            return m;
        };
        Block D1 = Block::zero(), D2 = D1, L1_before = D1;  // D^-1 of the point before, and the one before that
        for (int64_t j = 0; j < chunk.last - chunk.first; ++j) {
            const int64_t i = chunk.first + j;
            const Block before = cross(j);
            Block A = own(j) - before - transpose(before), A1 = Block::zero(), A2 = Block::zero();
            if (j > 0) {
                const Block previous = own(j - 1), across = cross(j - 1);
                A = A + previous;
                A1 = transpose(before + across - previous);  // A_i(i-1)
                if (j > 1) A2 = -1.0 * transpose(across);
            }
            for (int a = 0; a < 3; ++a) A(a, a) += added[3 * i + a];
            const Block L2 = A2 * D2, W = A1 - times_transpose(A2, L1_before), L1 = W * D1;
            double l[3], over[3];
            detail::factor_block(A - times_transpose(L2, A2) - times_transpose(L1, W), l, over);
            D2 = D1;
            D1 = detail::inverse_of(l, over);
            L1_before = L1;
            float* to = factors + kFactors * i;
            for (int k = 0; k < 9; ++k) to[k] = float(L2.a[k]), to[9 + k] = float(L1.a[k]);
            for (int k = 0; k < 3; ++k) to[18 + k] = float(l[k]), to[21 + k] = float(over[k]);
        }
    });
}

// out (nodes, 3) = (L D L^T)^-1 r
inline void Rods::solve(const float* factors, const double* r, double* out) const {
    using detail::Block;
    auto take = [](const float* from, const double* x, double* y, bool transposed) {
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) y[i] -= double(from[transposed ? 3 * j + i : 3 * i + j]) * x[j];
    };
    layout_.for_chunks(1, [&](int64_t, const RodLayout::Chunk& chunk, RodTable&) {
        for (int64_t i = chunk.first; i < chunk.last; ++i) {
            double* y = out + 3 * i;
            std::copy(r + 3 * i, r + 3 * i + 3, y);
            if (i > chunk.first + 1) take(factors + kFactors * i, y - 6, y, false);
            if (i > chunk.first) take(factors + kFactors * i + 9, y - 3, y, false);
        }
        for (int64_t i = chunk.last; i-- > chunk.first;) {
            double* y = out + 3 * i;
            detail::solve_block(factors + kFactors * i + 18, factors + kFactors * i + 21, y);
            if (i + 1 < chunk.last) take(factors + kFactors * (i + 1) + 9, y + 3, y, true);
            if (i + 2 < chunk.last) take(factors + kFactors * (i + 2), y + 6, y, true);
        }
    });
}

}  // namespace continua
