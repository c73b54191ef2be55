// Linear finite elements on triangles (d = 2) and tetrahedra (d = 3): energy, nodal forces and their derivative for any
// isotropic material. J15 section 3.1, mesh-based forces of section 3.3.
//
// Dm, Ds: matrices whose columns are the edges from vertex 0, undeformed and deformed; B = Dm^-1 and F = Ds B. The
// energy of an element is Ve Psi(F), its derivative with respect to vertices 1 to d the columns of Ve P B^T; vertex 0
// takes minus their sum. Plastic flow changes what an element remembers as undeformed: F = Ds B is then its elastic
// part, and flow updates B.
#pragma once

#include <memory>

#include "../materials/batch.hpp"
#include "damping_blocks.hpp"
#include "matrix.hpp"

namespace continua {

template <int d>
class Elements {
  public:
    static constexpr int kMatrix = d * d;
    using Material = BatchFunctions<double, d>;
    using V = Lanes<double>;

    // Undeformed points (nodes, d), cells (count, d + 1). Parameters and state must be set before anything else.
    Elements(const double* points, int64_t nodes, const int32_t* cells, int64_t count, const Material& material)
        : cells_(cells, count, nodes, "cell"), material_(material),
          inverse_(size_t(cells_.batches() * kMatrix * kBatch)), volume_(size_t(cells_.batches() * kBatch)) {
        check(points, cells, count);
        measure(points);
    }
    const Cells<d, d + 1>& cells() const { return cells_; }
    // Pattern of the Hessian; explicit steps never need one.
    BlockMatrix<d, d + 1>& matrix() {
        if (!matrix_) matrix_ = std::make_unique<BlockMatrix<d, d + 1>>(cells_);
        return *matrix_;
    }
    // Per cell, component-major: (number, count).
    void set_parameters(const double* rows, int number) {
        parameters_ = cells_.pack(rows, number);
        parameter_count_ = number;
        moduli_.clear();
    }
    void set_state(const double* rows, int number) {
        state_ = cells_.pack(rows, number);
        state_count_ = number;
        moduli_.clear();
    }
    void state(double* rows) const { cells_.unpack(state_.data(), state_count_, rows); }
    void set_inverse_edges(const double* rows) { inverse_ = cells_.pack(rows, kMatrix); }
    void inverse_edges(double* rows) const { cells_.unpack(inverse_.data(), kMatrix, rows); }
    void volumes(double* out) const { cells_.unpack(volume_.data(), 1, out); }
    void deformation(const double* x, double* rows) const {
        std::vector<double> F(inverse_.size());
        cells_.for_batches(
            x, [&](int64_t b, const double* Ds) { deformation_of(Ds, b, F.data() + b * kMatrix * kBatch); });
        cells_.unpack(F.data(), kMatrix, rows);
    }

    // Elastic energy [J]; +inf where an element is not admissible.
    double energy(const double* x) const {
        return cells_.sum(x, [&](int64_t b, const double* Ds) {
            alignas(64) double F[kMatrix * kBatch], psi[kBatch];
            deformation_of(Ds, b, F);
            material_.energy(F, parameters_of(b), state_of(b), psi);
            double sum = 0;
            for (int j = 0; j < cells_.count_of(b); ++j) sum += volume_of(b)[j] * psi[j];
            return sum;
        });
    }
    // Its derivative with respect to the nodes, (nodes, d): minus the forces.
    void gradient(const double* x, double* out) {
        cells_.accumulate(x, out, [&](int64_t b, const double* Ds, double* given) {
            alignas(64) double F[kMatrix * kBatch], P[kMatrix * kBatch];
            deformation_of(Ds, b, F);
            material_.piola(F, parameters_of(b), state_of(b), P);
            for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
                const Mat<V, d> scaled = load<V>(volume_of(b) + lane) * load_matrix(P, lane);
                put_edges(times_transpose(scaled, load_matrix(inverse_of(b), lane)), lane, given);
            }
        });
    }
    // Values of the Hessian at x, optionally without the negative eigenvalues of every element.
    void hessian(const double* x, bool positive, double* values) {
        matrix().assemble(cells_, x, values, [&](int64_t b, const double* Ds, double* given) {
            alignas(64) double F[kMatrix * kBatch], tangent[kTangent<d> * kBatch];
            deformation_of(Ds, b, F);
            material_.tangent(F, parameters_of(b), state_of(b), positive, tangent);
            for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) put_tangent(tangent, b, lane, given);
        });
    }
    // Values of the damping matrix at x in the pattern of the Hessian, equal to it at rest, see DampingBlocks: with
    // A = F if `green`, else with its rotation. Where material has flowed, F is the elastic part.
    void damping(const double* x, bool green, double* values) {
        if (moduli_.empty()) find_moduli();
        matrix().assemble(cells_, x, values, [&](int64_t b, const double* Ds, double* given) {
            const double* moduli = moduli_.data() + b * 2 * kBatch;
            for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
                const Mat<V, d> B = load_matrix(inverse_of(b), lane), F = edge_matrix(Ds, lane) * B;
                const V mu = load<V>(moduli + lane), lam = load<V>(moduli + kBatch + lane);
                put_blocks(DampingBlocks<V, d>(green ? F : Mat<V, d>(rotation_of(F)), B, mu, lam), lane, given);
            }
        });
    }
    // Plastic and viscous flow over the step dt [s] that ended in the positions x with the velocities v, (nodes, d).
    // J15 section 3.2
    void flow(const double* x, const double* v, double dt) {
        if (!material_.flow) return;
        if (state_count_) moduli_.clear();
        std::vector<double> rates(inverse_.size());
        cells_.for_batches(v, [&](int64_t b, const double* Dv) {
            std::copy(Dv, Dv + kMatrix * kBatch, rates.data() + b * kMatrix * kBatch);
        });
        cells_.for_batches(x, [&](int64_t b, const double* Ds) {
            alignas(64) double trial[kMatrix * kBatch], F[kMatrix * kBatch];
            deformation_of(Ds, b, trial);
            std::copy(trial, trial + kMatrix * kBatch, F);
            double* rate = rates.data() + b * kMatrix * kBatch;
            velocity_gradient(Ds, dt, rate);
            double* z = state_of(b);
            const std::vector<double> before(z, z + state_count_ * kBatch);
            material_.flow(F, dt, rate, parameters_of(b), z);
            double* B = inverse_.data() + b * kMatrix * kBatch;
            for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
                const Mat<V, d> old = load_matrix(B, lane), from = load_matrix(trial, lane), to = load_matrix(F, lane);
                const Mat<V, d> moved = old * inverse(from) * to;  // so that F = Ds B becomes the projected one
                // Elastic elements keep their bits; flat ones do not flow, no B could undo their deformation.
                const auto flat = !finite(moved) || !finite(to);
                const auto keep = flat || equal(from, to);
                for (int k = 0; k < kMatrix; ++k) store(V(select(keep, old.a[k], moved.a[k])), B + k * kBatch + lane);
                for (int k = 0; k < state_count_; ++k) {
                    double* entry = z + k * kBatch + lane;
                    store(V(select(flat, load<V>(before.data() + k * kBatch + lane), load<V>(entry))), entry);
                }
            }
        });
    }

  private:
    Cells<d, d + 1> cells_;
    std::unique_ptr<BlockMatrix<d, d + 1>> matrix_;
    Material material_;
    std::vector<double> inverse_;  // B, (batches, d * d, kBatch)
    std::vector<double> volume_;   // undeformed, (batches, kBatch)
    std::vector<double> parameters_, state_;
    std::vector<double> moduli_;  // Ve mu, Ve lam of small strains, (batches, 2, kBatch); empty: not known yet
    int parameter_count_ = 0, state_count_ = 0;

    const double* inverse_of(int64_t b) const { return inverse_.data() + b * kMatrix * kBatch; }
    const double* volume_of(int64_t b) const { return volume_.data() + b * kBatch; }
    const double* parameters_of(int64_t b) const { return parameters_.data() + b * parameter_count_ * kBatch; }
    const double* state_of(int64_t b) const { return state_.data() + b * state_count_ * kBatch; }
    double* state_of(int64_t b) { return state_.data() + b * state_count_ * kBatch; }

    static Mat<V, d> load_matrix(const double* from, int lane) {
        Mat<V, d> m;
        for (int k = 0; k < kMatrix; ++k) m.a[k] = load<V>(from + k * kBatch + lane);
        return m;
    }
    static void put_matrix(const Mat<V, d>& m, int lane, double* to) {
        for (int k = 0; k < kMatrix; ++k) store(m.a[k], to + k * kBatch + lane);
    }
    // Edges are kept one after the other; as columns they are the transpose.
    static Mat<V, d> edge_matrix(const double* edges, int lane) { return transpose(load_matrix(edges, lane)); }
    static void put_edges(const Mat<V, d>& columns, int lane, double* to) { put_matrix(transpose(columns), lane, to); }
    static Mat<V, d> inverse(const Mat<V, d>& m) {
        const Mat<V, d> cof = cofactor(m);
        return V(V(1) / determinant(m, cof)) * transpose(cof);
    }
    static auto equal(const Mat<V, d>& m, const Mat<V, d>& n) {
        auto same = m.a[0] == n.a[0];
        for (int k = 1; k < kMatrix; ++k) same = same && m.a[k] == n.a[k];
        return same;
    }
    static auto finite(const Mat<V, d>& m) {
        V sum = V(0);
        for (const V& e : m.a) sum += V(0) * e;
        return sum == V(0);
    }
    void deformation_of(const double* Ds, int64_t b, double* F) const {
        for (int lane = 0; lane < kBatch; lane += lanes_of<V>())
            put_matrix(edge_matrix(Ds, lane) * load_matrix(inverse_of(b), lane), lane, F);
    }
    void put_tangent(const double* tangents, int64_t b, int lane, double* given) const {
        V tangent[kTangent<d>];
        for (int k = 0; k < kTangent<d>; ++k) tangent[k] = load<V>(tangents + k * kBatch + lane);
        const V volume = load<V>(volume_of(b) + lane);
        put_blocks(ElementBlocks<V, d>(tangent, load_matrix(inverse_of(b), lane), volume), lane, given);
    }
    static void put_blocks(const VertexBlocks<V, d>& blocks, int lane, double* given) {
        for (int k = 0, pair = 0; k <= d; ++k)
            for (int l = k; l <= d; ++l, ++pair) put_matrix(blocks.block[k][l], lane, given + pair * kMatrix * kBatch);
    }
    // From the tangent of F = I, so that materials need not tell. It counts what history has made of them, such as the
    // hardening of snow.
    void find_moduli() {
        using At = TangentLayout<d>;
        alignas(64) double identity[kMatrix * kBatch], tangent[kTangent<d> * kBatch];
        for (int k = 0; k < kMatrix * kBatch; ++k) identity[k] = k / kBatch % (d + 1) == 0 ? 1.0 : 0.0;
        moduli_.resize(size_t(cells_.batches() * 2 * kBatch));
        for (int64_t b = 0; b < cells_.batches(); ++b) {
            material_.tangent(identity, parameters_of(b), state_of(b), false, tangent);
            double* moduli = moduli_.data() + b * 2 * kBatch;
            for (int j = 0; j < kBatch; ++j) {
                moduli[j] = 0.5 * volume_of(b)[j] * tangent[At::a * kBatch + j];             // h_01 is lam, a is 2 mu
                moduli[kBatch + j] = volume_of(b)[j] * tangent[(At::h + 1) * kBatch + j];
            }
        }
    }
    // From the edges Dv of the velocities to grad v [1/s] with respect to where the step began, in place.
    static void velocity_gradient(const double* Ds, double dt, double* Dv) {
        for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
            const Mat<V, d> change = edge_matrix(Dv, lane), began = edge_matrix(Ds, lane) - V(dt) * change;
            put_matrix(change * inverse(began), lane, Dv);
        }
    }
    // Volumes and B. Vertices are sorted here, which F does not notice; orientation is checked before.
    void measure(const double* points) {
        cells_.for_batches(points, [&](int64_t b, const double* Dm) {
            for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
                const Mat<V, d> edges = edge_matrix(Dm, lane);
                store(V(abs(V(determinant(edges))) / V(d == 2 ? 2 : 6)), volume_.data() + b * kBatch + lane);
                put_matrix(inverse(edges), lane, inverse_.data() + b * kMatrix * kBatch);
            }
        });
    }
    // Refuses flat elements and those that are inside out.
    static void check(const double* points, const int32_t* cells, int64_t count) {
        for (int64_t e = 0; e < count; ++e) {
            const int32_t* vertex = cells + e * (d + 1);
            auto coordinate = [&](int k, int axis) { return points[int64_t(vertex[k]) * d + axis]; };
            Mat<double, d> Dm;
            for (int i = 0; i < d; ++i)
                for (int k = 0; k < d; ++k) Dm(i, k) = coordinate(k + 1, i) - coordinate(0, i);
            const double volume = determinant(Dm) / (d == 2 ? 2 : 6);
            const double smallest = 1e-12 * std::pow(dot(Dm, Dm), 0.5 * d);
            if (!(volume > smallest)) refuse(e, volume < -smallest);
        }
    }
    [[noreturn]] static void refuse(int64_t element, bool inverted) {
        const std::string which = "cell " + std::to_string(element);
        throw std::invalid_argument(
            which + (inverted ? " is inside out in the undeformed mesh; swap two of its vertices"
                              : " has no volume in the undeformed mesh; remove it or move its vertices apart"));
    }
};

}  // namespace continua
