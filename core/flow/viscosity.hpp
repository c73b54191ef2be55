// Implicit viscosity on the MAC grid: one backward Euler step of the whole symmetric stress, so that rotating liquid
// feels nothing and free surfaces carry no traction. In the spirit of Batty and Bridson 2008: the new velocities are
// the minimum of
//     1/2 sum_faces (u - u*)^2 + dt sum_samples w nu |D(u)|^2,   D = (grad u + grad u^T) / 2,
// with D_aa sampled in cells and D_ab on edges (corners in 2D). Its gradient is u - u* + L u, L = G^T K G, with the
// differences G of the samples and their stiffness K = 2 w nu dt / dx^2 in cells, w nu dt / dx^2 on edges.
//
// Faces next to liquid are unknowns (free) if they are open at all, else they move with the wall. A closed face
// (open == 0) without liquid next to it lies inside a solid. Weights w:
//   cell  1 if it is liquid;
//   edge  0 if one of its four faces is neither free nor closed: air, no traction;
//         0 if one of its closed faces belongs to a slippery solid: no shear stress;
//         2 if one of its faces lies inside a solid: the wall runs through the edge, half a cell from the liquid's
//           faces, so half the volume and twice the slope. Slopes are taken to the wall's velocity at the face inside,
//           so liquid that turns with its container is free of stress;
//         1 otherwise.
// Missing blocks are air: a sticky wall needs the blocks of the first layer of faces inside it.
#pragma once

#include <cmath>
#include <initializer_list>

#include "../grid/halo.hpp"
#include "../grid/nodes.hpp"
#include "../math/conjugate_gradients.hpp"
#include "../math/simd.hpp"

namespace continua {

template <int d>
inline constexpr int kEdges = d == 2 ? 1 : 3;  // per cell, in 3D one along every axis

// Cell arrays (blocks, 4^d) and (blocks, 4^d, 4) as in all of flow/.
template <class T>
struct ViscousFlow {
    int64_t blocks;
    const int32_t* neighbours;  // (blocks, 3^d)
    T* velocity;
    const uint8_t* fluid;
    const T *open, *wall;
    const uint8_t* noslip;
    const T* nu;         // (blocks, 4^d) or null
    double uniform_nu;   // where nu is null [m^2/s]
    double dt_over_dx2;  // [s/m^2]
};

template <class T, int d>
class ViscousSystem {
  public:
    explicit ViscousSystem(const ViscousFlow<T>& flow) : flow_(flow) {
        find_blocks();
        find_faces();
        find_stiffness();
        find_diagonal();
    }
    // Residuals are |u - u* + L u| over the largest speed, as the tolerance is.
    SolveReport solve(double tolerance, int max_iterations);

    // What conjugate_gradients needs, with u for x.
    double residual();
    double turn(double alpha, double rz);
    double multiply();
    double advance(double alpha);

  private:
    static constexpr int kNodes = kBlockNodes<d>;
    static constexpr int kFaces = d * kNodes;       // per block, axis by axis
    static constexpr int kSamples = 1 + kEdges<d>;  // per cell: itself, then its lower edges
    static constexpr int edge_of(int a, int b) { return d == 2 ? 1 : 4 - a - b; }
    using Field = std::vector<double>;  // (blocks, d, 4^d), on lower faces

    // What a face is; none of these is air.
    static constexpr uint8_t kFree = 1, kWall = 2, kInside = 4, kSlippery = 8;
    static double edge_weight(std::initializer_list<uint8_t> faces) {
        uint8_t any = 0;
        for (uint8_t face : faces) {
            if (!face) return 0;
            any |= face;
        }
        return any & kSlippery ? 0 : any & kInside ? 2 : 1;
    }

    const int32_t* around(int64_t b) const { return flow_.neighbours + b * kNeighbours<d>; }
    Field field() const { return Field(size_t(flow_.blocks) * kFaces, 0.0); }
    // Halos of arrays (blocks, rows, 4^d), one per row.
    template <class V, size_t rows>
    void read(int64_t b, const std::vector<V>& cells, std::array<Halo<V, d>, rows>& halos) const {
        int32_t first[kNeighbours<d>];
        for (int n = 0; n < kNeighbours<d>; ++n) first[n] = around(b)[n] * int32_t(rows);
        for (size_t row = 0; row < rows; ++row) halos[row].read(cells.data() + row * kNodes, first);
    }

    // function(block, its part of the result) over some blocks; the parts are put together in block order.
    struct Part {
        double sum = 0, most = 0;
    };
    template <class Function>
    Part each(const std::vector<int32_t>& blocks, Function&& function) const {
        const int64_t count = int64_t(blocks.size());
        std::vector<Part> parts(count);
#pragma omp parallel for schedule(static) num_threads(team(count, kBlocksPerThread))
        for (int64_t n = 0; n < count; ++n) function(int64_t(blocks[n]), parts[n]);
        Part all;
        for (const Part& part : parts) all.sum += part.sum, all.most = std::max(all.most, part.most);
        return all;
    }

    void find_blocks();
    void find_faces();
    void find_stiffness();
    void find_diagonal();
    double start();
    void viscous(int64_t b, const Field& u, double* out) const;
    void finish();

    ViscousFlow<T> flow_;
    std::vector<int32_t> near_, busy_;  // blocks with liquid in or next to them; blocks with a free face
    std::vector<uint8_t> faces_;        // (blocks, 4^d, 4) what kind of face
    std::vector<T> stiffness_;          // (blocks, samples, 4^d) K
    Field inverse_;                     // 1 / diagonal of 1 + L on free faces, else 0
    Field u_, r_, p_, q_;               // of conjugate gradients; r, p, q are 0 on all but free faces
    double rz_ = 0;                     // r.z with z = r / diagonal
};

template <class T, int d>
void ViscousSystem<T, d>::find_blocks() {
    std::vector<uint8_t> wet(flow_.blocks);
    for (int64_t b = 0; b < flow_.blocks; ++b) {
        const uint8_t* cells = flow_.fluid + b * kNodes;
        wet[b] = std::any_of(cells, cells + kNodes, [](uint8_t cell) { return cell != 0; });
    }
    for (int64_t b = 0; b < flow_.blocks; ++b)
        if (std::any_of(around(b), around(b + 1), [&](int32_t n) { return n >= 0 && wet[n]; }))
            near_.push_back(int32_t(b));
}

template <class T, int d>
void ViscousSystem<T, d>::find_faces() {
    faces_.assign(size_t(flow_.blocks) * kNodes * 4, 0);
    std::vector<uint8_t> busy(flow_.blocks, 0);
    each(near_, [&](int64_t b, Part&) {
        Halo<uint8_t, d> fluid;
        fluid.read(flow_.fluid, around(b));
        for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
            for (int a = 0; a < d; ++a) {
                const int64_t face = (b * kNodes + i) * 4 + a;
                const uint8_t* here = fluid.at(l);
                const bool wet = *here || here[-fluid.stride(a)];
                const bool closed = !(flow_.open[face] > T(0));
                const uint8_t solid = uint8_t((wet ? kWall : kInside) | (flow_.noslip[face] ? 0 : kSlippery));
                faces_[face] = closed ? solid : wet ? kFree : 0;
                busy[b] |= faces_[face] & kFree;
            }
        });
    });
    std::copy_if(near_.begin(), near_.end(), std::back_inserter(busy_), [&](int32_t b) { return busy[b] != 0; });
}

template <class T, int d>
void ViscousSystem<T, d>::find_stiffness() {
    stiffness_.assign(size_t(flow_.blocks) * kSamples * kNodes, T(0));
    each(near_, [&](int64_t b, Part&) {
        Halo<uint8_t, d> fluid;
        Halo<uint8_t, d, 4> faces;
        Halo<T, d> nu;
        fluid.read(flow_.fluid, around(b));
        faces.read(faces_.data(), around(b));
        if (flow_.nu)
            nu.read(flow_.nu, around(b));
        else
            std::fill(std::begin(nu.value), std::end(nu.value), T(flow_.uniform_nu));
        T* K = stiffness_.data() + b * kSamples * kNodes;
        for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
            const int c = fluid.offset(l);
            const uint8_t* face = faces.at(l);
            bool whole = fluid.value[c];
            for (int a = 0; a < d; ++a) whole &= face[a] && face[faces.stride(a) + a];
            if (whole) K[i] = T(2 * flow_.dt_over_dx2 * nu.value[c]);
            for (int a = 0; a < d; ++a)
                for (int e = a + 1; e < d; ++e) {
                    const int sa = fluid.stride(a), se = fluid.stride(e);
                    double total = 0;  // nu of the liquid cells around the edge
                    int wet = 0;
                    for (int cell : {c, c - sa, c - se, c - sa - se})
                        if (fluid.value[cell]) total += nu.value[cell], ++wet;
                    const double weight = edge_weight({face[a], face[a - 4 * se], face[e], face[e - 4 * sa]});
                    if (wet) K[edge_of(a, e) * kNodes + i] = T(weight * flow_.dt_over_dx2 * total / wet);
                }
        });
    });
}

template <class T, int d>
void ViscousSystem<T, d>::find_diagonal() {
    inverse_ = field();
    each(busy_, [&](int64_t b, Part&) {
        std::array<Halo<T, d>, kSamples> K;
        read(b, stiffness_, K);
        for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
            const int c = K[0].offset(l);
            for (int a = 0; a < d; ++a) {
                if (!(faces_[(b * kNodes + i) * 4 + a] & kFree)) continue;
                double diagonal = 1 + double(K[0].value[c]) + K[0].value[c - K[0].stride(a)];
                for (int e = 0; e < d; ++e) {
                    if (e == a) continue;
                    const T* edge = K[edge_of(a, e)].value + c;
                    diagonal += double(edge[0]) + edge[K[0].stride(e)];
                }
                inverse_[b * kFaces + a * kNodes + i] = 1 / diagonal;
            }
        });
    });
}

// u = the given velocities of free faces and those of the walls. Returns the largest, or what is not finite.
template <class T, int d>
double ViscousSystem<T, d>::start() {
    for (Field* f : {&u_, &r_, &p_, &q_}) *f = field();
    const Part part = each(near_, [&](int64_t b, Part& part) {
        for (int a = 0; a < d; ++a)
            for (int i = 0; i < kNodes; ++i) {
                const int64_t at = (b * kNodes + i) * 4 + a;
                double& u = u_[b * kFaces + a * kNodes + i];
                if (faces_[at]) u = faces_[at] & kFree ? flow_.velocity[at] : flow_.wall[at];
                part.most = std::max(part.most, std::abs(u));
                part.sum += u;
            }
    });
    return std::isfinite(part.sum) ? part.most : part.sum;
}

// out (d, 4^d) = L u on the faces of block b, a row of cells along the last axis at a time.
template <class T, int d>
void ViscousSystem<T, d>::viscous(int64_t b, const Field& u, double* out) const {
    using H = Halo<double, d>;
    using Row = Quad<double>;
    static_assert(kSide == Row::size());
    std::array<H, d> velocity;
    std::array<Halo<T, d>, kSamples> K;
    read(b, u, velocity);
    read(b, stiffness_, K);
    auto row = [](const auto* first) { return Row(first, stdx::element_aligned); };
    for (int first = 0; first < kNodes; first += kSide) {
        const int at = d == 2 ? H::offset({first / kSide, 0}) : H::offset({first / 16, first / kSide % kSide, 0});
        for (int a = 0; a < d; ++a) {
            const int sa = H::stride(a);
            const double* v = velocity[a].value + at;
            const T* cell = K[0].value + at;
            Row force = row(cell - sa) * (row(v) - row(v - sa)) - row(cell) * (row(v + sa) - row(v));
            for (int e = 0; e < d; ++e) {
                if (e == a) continue;
                const int se = H::stride(e);
                const double* w = velocity[e].value + at;
                const T* edge = K[edge_of(a, e)].value + at;
                force += row(edge) * (row(v) - row(v - se) + row(w) - row(w - sa)) -
                         row(edge + se) * (row(v + se) - row(v) + row(w + se) - row(w + se - sa));
            }
            force.copy_to(out + a * kNodes + first, stdx::element_aligned);
        }
    }
}

template <class T, int d>
double ViscousSystem<T, d>::residual() {
    const Part part = each(busy_, [&](int64_t b, Part& part) {
        double L[kFaces];
        viscous(b, u_, L);
        for (int i = 0; i < kFaces; ++i) {
            const int64_t at = b * kFaces + i;
            const double given = flow_.velocity[(b * kNodes + i % kNodes) * 4 + i / kNodes];
            r_[at] = inverse_[at] > 0 ? given - u_[at] - L[i] : 0;
            part.sum += r_[at] * (inverse_[at] * r_[at]);
            part.most = std::max(part.most, std::abs(r_[at]));
        }
    });
    rz_ = part.sum;
    return part.most;
}

template <class T, int d>
double ViscousSystem<T, d>::turn(double, double rz) {
    const double beta = rz != 0 ? rz_ / rz : 0;
    each(busy_, [&](int64_t b, Part&) {
        const double *r = &r_[b * kFaces], *inverse = &inverse_[b * kFaces];
        double* p = &p_[b * kFaces];
#pragma omp simd
        for (int i = 0; i < kFaces; ++i) p[i] = inverse[i] * r[i] + beta * p[i];
    });
    return rz_;
}

template <class T, int d>
double ViscousSystem<T, d>::multiply() {
    return each(busy_, [&](int64_t b, Part& part) {
               double L[kFaces], sum = 0;
               viscous(b, p_, L);
               const double *p = &p_[b * kFaces], *inverse = &inverse_[b * kFaces];
               double* q = &q_[b * kFaces];
#pragma omp simd reduction(+ : sum)
               for (int i = 0; i < kFaces; ++i) {
                   q[i] = inverse[i] > 0 ? p[i] + L[i] : 0;
                   sum += p[i] * q[i];
               }
               part.sum = sum;
           }).sum;
}

template <class T, int d>
double ViscousSystem<T, d>::advance(double alpha) {
    const Part part = each(busy_, [&](int64_t b, Part& part) {
        const double *p = &p_[b * kFaces], *q = &q_[b * kFaces], *inverse = &inverse_[b * kFaces];
        double *u = &u_[b * kFaces], *r = &r_[b * kFaces], sum = 0, most = 0;
#pragma omp simd reduction(+ : sum) reduction(max : most)
        for (int i = 0; i < kFaces; ++i) {
            u[i] += alpha * p[i];
            r[i] -= alpha * q[i];
            sum += r[i] * r[i] * inverse[i];
            most = std::max(most, std::abs(r[i]));
        }
        part = {sum, most};
    });
    rz_ = part.sum;
    return part.most;
}

// velocity = u + r = u* - L u.
template <class T, int d>
void ViscousSystem<T, d>::finish() {
    each(busy_, [&](int64_t b, Part&) {
        for (int i = 0; i < kFaces; ++i) {
            const int64_t at = b * kFaces + i;
            if (inverse_[at] > 0) flow_.velocity[(b * kNodes + i % kNodes) * 4 + i / kNodes] = T(u_[at] + r_[at]);
        }
    });
}

// From u*, preconditioned by the diagonal. The result is u* - L u of the last iterate u: the stress of u acts once on
// u*, so linear and angular momentum are kept to round-off at any tolerance.
template <class T, int d>
SolveReport ViscousSystem<T, d>::solve(double tolerance, int max_iterations) {
    const double speed = start();
    if (!std::isfinite(speed)) return {0, speed, speed};
    SolveReport report = conjugate_gradients(*this, tolerance * speed, max_iterations);
    finish();
    if (speed > 0) report.residual /= speed, report.first_residual /= speed;
    return report;
}

}  // namespace continua
