// Polar singular value decomposition F = U diag(s) V^T with det U = det V = +1 and |s_1| >= |s_2| >= |s_3|;
// only the last s may be negative (sign of det F). J15 section 3.1.3.
// One-sided Jacobi on the columns: accurate to round-off also for rank 0-2 and inverted F.
#pragma once

#include <utility>

#include "mat.hpp"

namespace continua {

template <class V, int d>
struct Svd {
    Mat<V, d> U;
    Vec<V, d> s;
    Mat<V, d> V_;
};

namespace detail {

template <class V, int d>
inline V column_dot(const Mat<V, d>& m, int i, int j) {
    V sum = m(0, i) * m(0, j);
    for (int k = 1; k < d; ++k) sum += m(k, i) * m(k, j);
    return sum;
}

// Rotate columns i, j of m by (c, s): the Jacobi rotation from the right.
template <class V, int d>
inline void rotate_columns(Mat<V, d>& m, int i, int j, const V& c, const V& s) {
    for (int k = 0; k < d; ++k) {
        const V a = m(k, i), b = m(k, j);
        m(k, i) = c * a - s * b;
        m(k, j) = s * a + c * b;
    }
}

// Make columns i and j of B orthogonal; returns true while some lane still had work to do.
template <class V, int d>
inline bool orthogonalise(Mat<V, d>& B, Mat<V, d>& W, int i, int j) {
    using T = Scalar<V>;
    const V alpha = column_dot(B, i, i), beta = column_dot(B, j, j), gamma = column_dot(B, i, j);
    const T eps = std::numeric_limits<T>::epsilon();
    const auto busy = gamma * gamma > V(eps * eps) * alpha * beta;
    if (!any(busy)) return false;
    const V delta = beta - alpha;
    const V root = abs(delta) + sqrt(delta * delta + V(4) * gamma * gamma);
    V t = V(2) * gamma / select(root > V(0), root, V(1));
    t = select(delta < V(0), V(-t), t);
    t = select(busy, t, V(0));
    const V c = V(1) / sqrt(V(1) + t * t);
    rotate_columns(B, i, j, c, V(c * t));
    rotate_columns(W, i, j, c, V(c * t));
    return true;
}

// Swap columns i < j (one negated, so that det stays) where column j is the longer one.
template <class V, int d>
inline void order_columns(Mat<V, d>& B, Mat<V, d>& W, V* norm2, int i, int j) {
    const auto swap = norm2[i] < norm2[j];
    for (Mat<V, d>* m : {&B, &W})
        for (int k = 0; k < d; ++k) {
            const V a = (*m)(k, i), b = (*m)(k, j);
            (*m)(k, i) = select(swap, b, a);
            (*m)(k, j) = select(swap, V(-a), b);
        }
    const V a = norm2[i], b = norm2[j];
    norm2[i] = select(swap, b, a);
    norm2[j] = select(swap, a, b);
}

template <class V>
inline Vec<V, 3> cross(const Vec<V, 3>& a, const Vec<V, 3>& b) {
    return {{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}};
}

// Some unit vector perpendicular to the unit vector u, without branches.
template <class V>
inline Vec<V, 3> perpendicular(const Vec<V, 3>& u) {
    const auto flat = abs(u[0]) > abs(u[2]);
    Vec<V, 3> p = {{select(flat, V(-u[1]), V(0)), select(flat, u[0], V(-u[2])), select(flat, V(0), u[1])}};
    const V norm = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    for (auto& e : p.a) e = e / norm;
    return p;
}

// U and s from the orthogonal columns B = U diag(s), with det U = +1.
template <class V>
inline void split_columns(const Mat<V, 2>& B, Svd<V, 2>& out) {
    const V n = sqrt(column_dot(B, 0, 0));
    const auto ok = n > V(0);
    const V inv = V(1) / select(ok, n, V(1));
    const V c = select(ok, V(B(0, 0) * inv), V(1)), s = select(ok, V(B(1, 0) * inv), V(0));
    out.U = {{c, -s, s, c}};
    out.s = {{n, c * B(1, 1) - s * B(0, 1)}};
}
template <class V>
inline void split_columns(const Mat<V, 3>& B, Svd<V, 3>& out) {
    using T = Scalar<V>;
    const V n1 = sqrt(column_dot(B, 0, 0));
    const auto ok1 = n1 > V(0);
    const V inv1 = V(1) / select(ok1, n1, V(1));
    const Vec<V, 3> u1 = {{select(ok1, V(B(0, 0) * inv1), V(1)), select(ok1, V(B(1, 0) * inv1), V(0)),
                           select(ok1, V(B(2, 0) * inv1), V(0))}};
    // The second column is already orthogonal relative to its own length; clean the last digits before normalising.
    const V along = u1[0] * B(0, 1) + u1[1] * B(1, 1) + u1[2] * B(2, 1);
    Vec<V, 3> b2 = {{B(0, 1) - along * u1[0], B(1, 1) - along * u1[1], B(2, 1) - along * u1[2]}};
    const V n2 = sqrt(b2[0] * b2[0] + b2[1] * b2[1] + b2[2] * b2[2]);
    const auto ok2 = n2 > V(8 * std::numeric_limits<T>::epsilon()) * n1;
    const V inv2 = V(1) / select(ok2, n2, V(1));
    Vec<V, 3> u2 = {{b2[0] * inv2, b2[1] * inv2, b2[2] * inv2}};
    if (!all(ok2)) {
        const Vec<V, 3> any_direction = perpendicular(u1);
        for (int k = 0; k < 3; ++k) u2[k] = select(ok2, u2[k], any_direction[k]);
    }
    const Vec<V, 3> u3 = cross(u1, u2);
    for (int k = 0; k < 3; ++k) {
        out.U(k, 0) = u1[k];
        out.U(k, 1) = u2[k];
        out.U(k, 2) = u3[k];
    }
    out.s[0] = n1;
    out.s[1] = u2[0] * B(0, 1) + u2[1] * B(1, 1) + u2[2] * B(2, 1);
    out.s[2] = u3[0] * B(0, 2) + u3[1] * B(1, 2) + u3[2] * B(2, 2);
}

}  // namespace detail

template <class V, int d>
inline Svd<V, d> polar_svd(const Mat<V, d>& F) {
    // Work on F / max|F| so that squares neither overflow nor vanish.
    V scale = abs(F.a[0]);
    for (int k = 1; k < d * d; ++k) scale = max(scale, V(abs(F.a[k])));
    const V inv = V(1) / select(scale > V(0), scale, V(1));
    Svd<V, d> out;
    Mat<V, d> B = inv * F;
    out.V_ = Mat<V, d>::identity();
    for (int sweep = 0; sweep < 16; ++sweep) {
        bool busy = detail::orthogonalise(B, out.V_, 0, 1);
        if constexpr (d == 3) {
            busy |= detail::orthogonalise(B, out.V_, 0, 2);
            busy |= detail::orthogonalise(B, out.V_, 1, 2);
        }
        if (!busy) break;
    }
    V norm2[d];
    for (int i = 0; i < d; ++i) norm2[i] = detail::column_dot(B, i, i);
    detail::order_columns(B, out.V_, norm2, 0, 1);
    if constexpr (d == 3) {
        detail::order_columns(B, out.V_, norm2, 1, 2);
        detail::order_columns(B, out.V_, norm2, 0, 1);
    }
    detail::split_columns(B, out);
    for (int i = 0; i < d; ++i) out.s[i] *= scale;
    return out;
}

}  // namespace continua
