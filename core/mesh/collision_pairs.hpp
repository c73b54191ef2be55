// Points that have sunk below facets (edges in 2D, triangles in 3D), and the penalty that drives them out. J15 A.5.3.
//
// A point x_0 and its facet x_1 .. x_d have the squared distance s = r.r, r = sum_i w_i x_i with w_0 = -1 and the
// barycentric coordinates w_1 .. w_d of the closest point, zero for corners that are not part of the closest primitive
// (facet, edge or corner). Energy Phi = k s sqrt(s + eps), about k depth^3.
#pragma once

#include <cmath>
#include <vector>

#include "../geometry/closest_primitive.hpp"
#include "../parallel.hpp"

namespace continua {

template <int d>
class CollisionPair {
  public:
    static constexpr int kNodes = d + 1;
    int32_t node[kNodes];  // the point, then the facet
    double w[kNodes];
    Vector<d> r;
    double energy;

    CollisionPair() = default;
    CollisionPair(const double* x, const int32_t* nodes, double stiffness, double epsilon) {
        std::copy(nodes, nodes + kNodes, node);
        const Closest<d> closest = closest_primitive<d>(x, vector_at<d>(x, node[0]), node + 1);
        w[0] = -1;
        std::copy(closest.weight, closest.weight + d, w + 1);
        r = closest.r;
        edges_ = closest.edges;
        for (int k = 0; k < d; ++k) corner_[k] = closest.corner[k] + 1;
        for (int k = 0; k < edges_; ++k)
            edge_[k] = add_scaled<d>(vector_at<d>(x, node[corner_[k + 1]]), -1, vector_at<d>(x, node[corner_[0]]));
        invert_edge_products();
        const double s = closest.squared, root = std::sqrt(s + epsilon);
        energy = stiffness * s * root;
        first_ = stiffness * (root + s / (2 * root));
        second_ = stiffness * (3 * s + 4 * epsilon) / (4 * root * root * root);
    }

    // out (kNodes, d) = dPhi/dx_i = 2 Phi' w_i r
    void gradient(double* out) const {
        for (int i = 0; i < kNodes; ++i)
            for (int a = 0; a < d; ++a) out[i * d + a] = 2 * first_ * w[i] * r[a];
    }
    // out (kNodes, d) = second derivatives of Phi times dx (nodes, d):
    // Phi' 2 [w_i w_j I - K_i (A^T A)^-1 K_j^T] + Phi'' 4 w_i w_j r r^T, K_i = w_i A + r gamma_i^T, where A holds the
    // edges of the primitive and gamma_i the derivatives of w_i along them.
    void product(const double* dx, double* out) const {
        Vector<d> change{};  // of r with fixed weights
        for (int i = 0; i < kNodes; ++i) change = add_scaled<d>(change, w[i], vector_at<d>(dx, node[i]));
        double q[d - 1] = {}, y[d - 1] = {}, sum = 0;
        for (int k = 0; k < edges_; ++k) {
            const Vector<d> edge_change =
                add_scaled<d>(vector_at<d>(dx, node[corner_[k + 1]]), -1, vector_at<d>(dx, node[corner_[0]]));
            q[k] = dot(edge_[k], change) + dot(r, edge_change);
        }
        solve(q, y);
        Vector<d> common = add_scaled<d>({}, 2 * first_, change);
        for (int k = 0; k < edges_; ++k) common = add_scaled<d>(common, -2 * first_ * y[k], edge_[k]);
        common = add_scaled<d>(common, 4 * second_ * dot(r, change), r);
        double along_r[kNodes] = {};
        for (int k = 0; k < edges_; ++k) along_r[corner_[k + 1]] = -2 * first_ * y[k], sum += y[k];
        along_r[corner_[0]] = 2 * first_ * sum;
        for (int i = 0; i < kNodes; ++i)
            for (int a = 0; a < d; ++a) out[i * d + a] = w[i] * common[a] + along_r[i] * r[a];
    }
    void diagonal(double* out) const {
        for (int i = 0; i < kNodes; ++i)
            for (int a = 0; a < d; ++a) {
                double K[d - 1] = {}, y[d - 1] = {}, sum = w[i] * w[i];
                for (int k = 0; k < edges_; ++k) {
                    const double gamma = i == corner_[0] ? -1 : i == corner_[k + 1] ? 1 : 0;
                    K[k] = w[i] * edge_[k][a] + r[a] * gamma;
                }
                solve(K, y);
                for (int k = 0; k < edges_; ++k) sum -= K[k] * y[k];
                out[i * d + a] = 2 * first_ * sum + 4 * second_ * w[i] * w[i] * r[a] * r[a];
            }
    }

  private:
    int edges_, corner_[d];  // of the closest primitive; corners as places in `node`
    Vector<d> edge_[d - 1];
    double inverse_[3];      // of A^T A: entries 00, 01, 11
    double first_, second_;  // derivatives of Phi by the squared distance

    void invert_edge_products() {
        if (edges_ == 1) inverse_[0] = 1 / dot(edge_[0], edge_[0]);
        if constexpr (d == 3)
            if (edges_ == 2) {
                const Vector<3> n = cross(edge_[0], edge_[1]);
                const double det = dot(n, n);
                inverse_[0] = dot(edge_[1], edge_[1]) / det;
                inverse_[1] = -dot(edge_[0], edge_[1]) / det;
                inverse_[2] = dot(edge_[0], edge_[0]) / det;
            }
    }
    // y = (A^T A)^-1 q
    void solve(const double* q, double* y) const {
        if (edges_ == 1) y[0] = inverse_[0] * q[0];
        if (edges_ == 2) y[0] = inverse_[0] * q[0] + inverse_[1] * q[1], y[1] = inverse_[1] * q[0] + inverse_[2] * q[1];
    }
};

// Many pairs at fixed positions. Arrays over nodes are (nodes, d); sums run over the pairs in their order.
template <int d>
class CollisionPairs {
  public:
    using Pair = CollisionPair<d>;

    // list (count, d + 1)
    CollisionPairs(const double* x, int64_t nodes, const int32_t* list, int64_t count, double stiffness, double epsilon)
        : nodes_(nodes), pairs_(static_cast<size_t>(count)), given_(static_cast<size_t>(count * kGiven)) {
#pragma omp parallel for schedule(static) num_threads(team(count, kShare))
        for (int64_t p = 0; p < count; ++p)
            pairs_[size_t(p)] = Pair(x, list + p * Pair::kNodes, stiffness, epsilon);
    }
    int64_t nodes() const { return nodes_; }
    const std::vector<Pair>& all() const { return pairs_; }

    double energy() const {
        double sum = 0;
        for (const Pair& pair : pairs_) sum += pair.energy;
        return sum;
    }
    void gradient(double* out) {
        sum_over_pairs(out, [](const Pair& pair, double* given) { pair.gradient(given); });
    }
    void product(const double* dx, double* out) {
        sum_over_pairs(out, [&](const Pair& pair, double* given) { pair.product(dx, given); });
    }
    void diagonal(double* out) {
        sum_over_pairs(out, [](const Pair& pair, double* given) { pair.diagonal(given); });
    }

  private:
    static constexpr int64_t kShare = 512;  // pairs worth a thread
    static constexpr int64_t kGiven = Pair::kNodes * d;
    int64_t nodes_;
    std::vector<Pair> pairs_;
    std::vector<double> given_;  // (pairs, kNodes, d): what every pair adds to its nodes

    template <class Function>
    void sum_over_pairs(double* out, Function&& function) {
        const int64_t count = int64_t(pairs_.size());
#pragma omp parallel for schedule(static) num_threads(team(count, kShare))
        for (int64_t p = 0; p < count; ++p) function(pairs_[size_t(p)], given_.data() + p * kGiven);
        std::fill(out, out + nodes_ * d, 0.0);
        for (int64_t p = 0; p < count; ++p)
            for (int i = 0; i < Pair::kNodes; ++i)
                for (int a = 0; a < d; ++a)
                    out[int64_t(pairs_[size_t(p)].node[i]) * d + a] += given_[size_t(p * kGiven + i * d + a)];
    }
};

}  // namespace continua
