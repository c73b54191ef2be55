// Blocks of the Hessian of one element, for all pairs of its vertices k <= l, from the tangent dP/dF of its material.
//
// In the frames U, V of the singular vectors of F, dP/dF has the entries h_ab between the diagonal elements aa and bb,
// p_ab = (a_ab + b_ab)/2 at (ab, ab) and q_ab = (a_ab - b_ab)/2 at (ab, ba), see TangentLayout. With W = B V, whose row
// k belongs to vertex k, the block of k and l is Ve U T U^T with
//   T_aa = h_aa W_ka W_la + sum_b p_ab W_kb W_lb,   T_ab = h_ab W_ka W_lb + q_ab W_kb W_la.
#pragma once

#include "../materials/tangent.hpp"

namespace continua {

// A symmetric matrix over the vertices of one element, d x d blocks.
template <class V, int d>
struct VertexBlocks {
    Mat<V, d> block[d + 1][d + 1];  // (k, l) for k <= l

    // Those of vertex 0 from the others. Moving all vertices together changes nothing: every row of blocks has the sum
    // zero.
    void close() {
        block[0][0] = Mat<V, d>::zero();
        for (int l = 1; l <= d; ++l) {
            block[0][l] = Mat<V, d>::zero();
            for (int k = 1; k <= d; ++k) block[0][l] = block[0][l] - (k <= l ? block[k][l] : transpose(block[l][k]));
            block[0][0] = block[0][0] - block[0][l];
        }
    }
};

template <class V, int d>
class ElementBlocks : public VertexBlocks<V, d> {
  public:
    using VertexBlocks<V, d>::block;

    // tangent: kTangent numbers; inverse: B, the inverse of the undeformed edges.
    ElementBlocks(const V* tangent, const Mat<V, d>& inverse, const V& volume) {
        using At = TangentLayout<d>;
        Mat<V, d> U, W;
        for (int e = 0; e < d * d; ++e) U.a[e] = tangent[At::U + e], W.a[e] = tangent[At::V + e];
        W = inverse * W;
        split(tangent, volume);
        for (int k = 0; k < d; ++k)
            for (int l = k; l < d; ++l) block[k + 1][l + 1] = times_transpose(Mat<V, d>(U * inner(W, k, l)), U);
        this->close();
    }

  private:
    Mat<V, d> h_, p_, q_;

    void split(const V* tangent, const V& volume) {
        using At = TangentLayout<d>;
        const V half = V(0.5f) * volume;
        for (int i = 0, entry = At::h, pair = 0; i < d; ++i)
            for (int j = i; j < d; ++j) {
                h_(i, j) = h_(j, i) = volume * tangent[entry++];
                if (i == j) continue;
                const V even = tangent[At::a + pair], odd = tangent[At::b + pair];
                p_(i, j) = p_(j, i) = half * (even + odd);
                q_(i, j) = q_(j, i) = half * (even - odd);
                ++pair;
            }
    }
    Mat<V, d> inner(const Mat<V, d>& W, int k, int l) const {
        Mat<V, d> T;
        for (int i = 0; i < d; ++i) {
            T(i, i) = h_(i, i) * W(k, i) * W(l, i);
            for (int j = 0; j < d; ++j) {
                if (i == j) continue;
                T(i, i) += p_(i, j) * W(k, j) * W(l, j);
                T(i, j) = h_(i, j) * W(k, i) * W(l, j) + q_(i, j) * W(k, j) * W(l, i);
            }
        }
        return T;
    }
};

}  // namespace continua
