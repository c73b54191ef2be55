// Blocks of the damping matrix of one element for all pairs of its vertices k <= l, M23 section 8. With the gradients
// G_k of the shape functions at rest (row k of B; G_0 is minus the sum of the others) and h_k = A G_k,
//   K_kl = Ve [mu (G_k . G_l) A A^T + mu h_l h_k^T + lam h_k h_l^T],
// which is Hooke's law for the strain rate sym(A^T dF): v^T K v = Ve (2 mu |sym(A^T dF)|^2 + lam tr(A^T dF)^2), never
// negative where mu >= 0 and lam + 2 mu / d >= 0, and no eigenvalue has to be cut off for that.
//   A = F: sym(F^T dF) is the rate of Green's strain, zero for every rigid motion of any state: no torque.
//   A = R, the rotation of F: M23 section 8 as printed, Hooke's law in the turned rest frame. A deformed element then
//   resists rigid rotation as well.
#pragma once

#include "element_blocks.hpp"

namespace continua {

template <class V, int d>
class DampingBlocks : public VertexBlocks<V, d> {
  public:
    using VertexBlocks<V, d>::block;

    // frame: A; inverse: B, the inverse of the undeformed edges; mu, lam: of small strains, times the volume.
    DampingBlocks(const Mat<V, d>& frame, const Mat<V, d>& inverse, const V& mu, const V& lam) {
        const Mat<V, d> square = mu * times_transpose(frame, frame);  // mu A A^T
        const Mat<V, d> near = times_transpose(inverse, inverse);     // G_k . G_l
        const Mat<V, d> h = times_transpose(inverse, frame);          // row k is h_k
        for (int k = 0; k < d; ++k)
            for (int l = k; l < d; ++l)
                for (int i = 0; i < d; ++i)
                    for (int j = 0; j < d; ++j)
                        block[k + 1][l + 1](i, j) =
                            near(k, l) * square(i, j) + mu * (h(l, i) * h(k, j)) + lam * (h(k, i) * h(l, j));
        this->close();
    }
};

}  // namespace continua
