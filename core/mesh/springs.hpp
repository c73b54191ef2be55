// Springs between two nodes: energy c/2 (L - l)^2 with stiffness c [N/m] and rest length l. J15 section 3.1.1.
//
// With D = x_1 - x_0, n = D/L and k = 1 - l/L: gradient c k D at node 1 and minus that at node 0, Hessian
// c [n n^T + k (I - n n^T)]. A spring of no length is at a peak of its energy, where no direction is better than
// another: gradient and Hessian are taken as zero there. Springs with l = 0 have no such peak, k = 1 everywhere.
#pragma once

#include <memory>

#include "../math/mat.hpp"
#include "matrix.hpp"

namespace continua {

template <int d>
class Springs {
  public:
    using V = Lanes<double>;

    // ends (count, 2), stiffness (count,) [N/m], length (count,) [m]
    Springs(int64_t nodes, const int32_t* ends, int64_t count, const double* stiffness, const double* length)
        : cells_(ends, count, nodes, "spring"), stiffness_(cells_.pack(stiffness, 1)), length_(cells_.pack(length, 1)) {
        for (int64_t e = 0; e < count; ++e) {
            const std::string which = "spring " + std::to_string(e);
            if (!(stiffness[e] >= 0 && stiffness[e] < std::numeric_limits<double>::infinity()))
                throw std::invalid_argument(which + " must have a finite stiffness of at least 0");
            if (!(length[e] >= 0 && length[e] < std::numeric_limits<double>::infinity()))
                throw std::invalid_argument(which + " must have a finite rest length of at least 0");
        }
    }
    const Cells<d, 2>& cells() const { return cells_; }
    BlockMatrix<d, 2>& matrix() {
        if (!matrix_) matrix_ = std::make_unique<BlockMatrix<d, 2>>(cells_);
        return *matrix_;
    }

    double energy(const double* x) const {
        return cells_.sum(x, [&](int64_t b, const double* D) {
            alignas(64) double psi[kBatch];
            for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
                const Spring s = spring(D, b, lane);
                const V stretch = s.L - load<V>(length_.data() + b * kBatch + lane);
                store(V(V(0.5f) * s.c * stretch * stretch), psi + lane);
            }
            double sum = 0;
            for (int j = 0; j < cells_.count_of(b); ++j) sum += psi[j];
            return sum;
        });
    }
    void gradient(const double* x, double* out) {
        cells_.accumulate(x, out, [&](int64_t b, const double* D, double* given) {
            for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
                const Spring s = spring(D, b, lane);
                for (int a = 0; a < d; ++a) store(V(s.c * s.k * s.D[a]), given + a * kBatch + lane);
            }
        });
    }
    // `positive` leaves out the negative stiffness across compressed springs.
    void hessian(const double* x, bool positive, double* values) {
        matrix().assemble(cells_, x, values, [&](int64_t b, const double* D, double* given) {
            for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
                const Spring s = spring(D, b, lane);
                const V across = s.c * (positive ? V(max(s.k, V(0))) : s.k), more = s.c - across;
                for (int i = 0; i < d; ++i)
                    for (int j = 0; j < d; ++j) {
                        const V entry = more * s.n[i] * s.n[j] + (i == j ? across : V(0));
                        double* at = given + (i * d + j) * kBatch + lane;
                        store(entry, at);
                        store(V(-entry), at + d * d * kBatch);
                        store(entry, at + 2 * d * d * kBatch);
                    }
            }
        });
    }

  private:
    Cells<d, 2> cells_;
    std::unique_ptr<BlockMatrix<d, 2>> matrix_;
    std::vector<double> stiffness_, length_;  // (batches, kBatch)

    struct Spring {
        V c, L, k;
        Vec<V, d> D, n;
    };
    Spring spring(const double* edge, int64_t b, int lane) const {
        Spring s;
        s.c = load<V>(stiffness_.data() + b * kBatch + lane);
        const V l = load<V>(length_.data() + b * kBatch + lane);
        V L2 = V(0);
        for (int a = 0; a < d; ++a) {
            s.D[a] = load<V>(edge + a * kBatch + lane);
            L2 += s.D[a] * s.D[a];
        }
        s.L = sqrt(L2);
        const auto visible = s.L > V(1e-12) * l;
        const V inverse = select(visible, V(V(1) / select(visible, s.L, V(1))), V(0));
        for (int a = 0; a < d; ++a) s.n[a] = s.D[a] * inverse;
        s.k = select(visible || l == V(0), V(V(1) - l * inverse), V(0));
        return s;
    }
};

}  // namespace continua
