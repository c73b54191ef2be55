// Symmetric d x d matrices: clamp negative eigenvalues to zero by two-sided Jacobi rotations.
#pragma once

#include "mat.hpp"

namespace continua {

template <class V, int d>
inline void jacobi_rotate(Mat<V, d>& A, Mat<V, d>& Q, int p, int q) {
    const V apq = A(p, q);
    const V delta = A(q, q) - A(p, p);
    const V root = abs(delta) + sqrt(delta * delta + V(4) * apq * apq);
    V t = V(2) * apq / select(root > V(0), root, V(1));
    t = select(delta < V(0), V(-t), t);
    const V c = V(1) / sqrt(V(1) + t * t), s = c * t;
    for (int k = 0; k < d; ++k) {  // A <- A G
        const V a = A(k, p), b = A(k, q);
        A(k, p) = c * a - s * b;
        A(k, q) = s * a + c * b;
        const V e = Q(k, p), f = Q(k, q);
        Q(k, p) = c * e - s * f;
        Q(k, q) = s * e + c * f;
    }
    for (int k = 0; k < d; ++k) {  // A <- G^T A
        const V a = A(p, k), b = A(q, k);
        A(p, k) = c * a - s * b;
        A(q, k) = s * a + c * b;
    }
}

template <class V, int d>
inline Mat<V, d> positive_part(Mat<V, d> A) {
    Mat<V, d> Q = Mat<V, d>::identity();
    for (int sweep = 0; sweep < 8; ++sweep) {
        jacobi_rotate(A, Q, 0, 1);
        if constexpr (d == 3) {
            jacobi_rotate(A, Q, 0, 2);
            jacobi_rotate(A, Q, 1, 2);
        }
    }
    Vec<V, d> clamped;
    for (int i = 0; i < d; ++i) clamped[i] = max(A(i, i), V(0));
    return compose(Q, clamped, Q);
}

}  // namespace continua
