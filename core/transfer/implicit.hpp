// The potential of an implicit step as a function of node velocities v, and its first two derivatives. J15 A.6.1
//     Phi(v) = sum_p V0 [ Psi(Fhat) + dt eta J |sym grad v|^2 ],   Fhat = (I + dt grad v) F
// eta is the Newtonian viscosity of the material, J = det F before the step; without it Phi is the elastic energy.
#pragma once

#include "slopes.hpp"

namespace continua {

// Elastic bodies need the numbers of a tangent, viscous ones another one, V0 dt eta J.
template <class T, int d>
inline int tangent_rows(const BatchFunctions<T, d>& material) {
    return kTangent<d> + (material.viscosity ? 1 : 0);
}

template <class T>
struct Tangents {  // batch after batch in block order, (rows, particles of the batch): one stream for the memory
    T* at;
    int rows;

    T* batch(int64_t begin) const { return at + begin * rows; }
};

namespace detail {

// The material of one batch before the step and at Fhat.
template <class T, int d>
struct ImplicitPoint {
    using V = Lanes<T>;
    alignas(64) T F[d * d * kBatch], moved[d * d * kBatch], volume[kBatch], drag[kBatch];
    alignas(64) T p[kMaxParameters * kBatch], z[kMaxStates * kBatch];

    static Mat<V, d> matrix(const T* from, int lane, int stride = kBatch) {
        Mat<V, d> m;
        for (int k = 0; k < d * d; ++k) m.a[k] = load<V>(from + k * stride + lane);
        return m;
    }
    static void put(const Mat<V, d>& m, T* to, int lane) {
        for (int k = 0; k < d * d; ++k) store(m.a[k], to + k * kBatch + lane);
    }
    static Mat<V, d> viscous(const V& drag, const Mat<V, d>& gradient) {
        return drag * (gradient + transpose(gradient));
    }
    void fetch(const BatchIndices& indices, const Particles<T>& particles, const Parameters<T>& parameters) {
        indices.fetch(particles.F, particles.stride, d * d, F);
        indices.fetch(particles.volume, particles.stride, 1, volume);
        indices.fetch(particles.state, particles.stride, particles.states, z);
        indices.fetch(parameters, p);
    }
    // Fhat, and drag = eta J.
    void move(const BatchFunctions<T, d>& material, const T* gradient, T dt) {
        if (material.viscosity) material.viscosity(p, drag);
        for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
            const Mat<V, d> f = matrix(F, lane);
            put(f + V(dt) * (matrix(gradient, lane, kRow) * f), moved, lane);
            if (material.viscosity) store(V(load<V>(drag + lane) * determinant(f)), drag + lane);
        }
    }
};

// What energy, forces and tangents have in common.
template <class T, int d>
struct ImplicitWork {
    const Particles<T>& particles;
    const Parameters<T>& parameters;
    const BatchFunctions<T, d>& material;
    T dt;

    using V = Lanes<T>;
    using Point = ImplicitPoint<T, d>;

    void prefetch(int64_t particle, int64_t) const {
        continua::prefetch(particles.F, particles.stride, d * d, particle);
        continua::prefetch(particles.volume, 0, 1, particle);
        continua::prefetch(particles.state, particles.stride, particles.states, particle);
    }
    Point point(const BatchIndices& indices, const T* gradient) const {
        Point at;
        at.fetch(indices, particles, parameters);
        at.move(material, gradient, dt);
        return at;
    }
};

template <class T, int d>
struct EnergyWork : ImplicitWork<T, d> {
    double* sums;  // one per block

    template <class Batch>
    void operator()(Batch& batch, const BatchIndices& indices, int64_t, int64_t block) const {
        const auto at = this->point(indices, batch.gradient);
        alignas(64) T psi[kBatch];
        this->material.energy(at.moved, at.p, at.z, psi);
        double sum = 0;
        for (int j = 0; j < indices.count; ++j) {
            double value = psi[j];
            if (this->material.viscosity) value += double(this->dt) * at.drag[j] * strain_rate2(batch.gradient + j);
            sum += double(at.volume[j]) * value;
        }
        sums[block] += sum;
    }
    static double strain_rate2(const T* gradient) {
        double sum = 0;
        for (int i = 0; i < d; ++i)
            for (int k = 0; k < d; ++k) {
                const double rate = 0.5 * (double(gradient[(i * d + k) * kRow]) + gradient[(k * d + i) * kRow]);
                sum += rate * rate;
            }
        return sum;
    }
};

template <class T, int d>
struct ForceWork : ImplicitWork<T, d> {
    template <class Batch>
    void operator()(Batch& batch, const BatchIndices& indices, int64_t, int64_t) const {
        using V = Lanes<T>;
        const auto at = this->point(indices, batch.gradient);
        alignas(64) T P[d * d * kBatch];
        this->material.piola(at.moved, at.p, at.z, P);
        for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
            Mat<V, d> stress = times_transpose(at.matrix(P, lane), at.matrix(at.F, lane));
            if (this->material.viscosity)
                stress = stress + at.viscous(load<V>(at.drag + lane), at.matrix(batch.gradient, lane, kRow));
            at.put(V(this->dt) * load<V>(at.volume + lane) * stress, batch.stress, lane);
        }
    }
};

// The direction of a product is dF = G F, G the gradient of the node field. Then U^T dF V = U^T G (F V), and the stress
// to scatter is dP F^T = U Q (F V)^T: with F V in place of V the tangent takes G straight to it, and with h, a, b times
// dt^2 V0 the product needs nothing else of the particle.
template <class T, int d>
struct PrepareWork : ImplicitWork<T, d> {
    bool positive;
    Tangents<T> tangents;

    template <class Batch>
    void operator()(Batch& batch, const BatchIndices& indices, int64_t begin, int64_t) const {
        using V = Lanes<T>;
        using At = TangentLayout<d>;
        const auto at = this->point(indices, batch.gradient);
        alignas(64) T numbers[(kTangent<d> + 1) * kBatch];
        this->material.tangent(at.moved, at.p, at.z, positive, numbers);
        for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
            T* frame = numbers + At::V * kBatch;
            at.put(at.matrix(at.F, lane) * at.matrix(frame, lane), frame, lane);
            const V scale = V(this->dt) * load<V>(at.volume + lane);
            for (int k = At::h; k < kTangent<d>; ++k)
                store(V(V(this->dt) * scale * load<V>(numbers + k * kBatch + lane)), numbers + k * kBatch + lane);
            if (this->material.viscosity)
                store(V(scale * load<V>(at.drag + lane)), numbers + kTangent<d> * kBatch + lane);
        }
        T* to = tangents.batch(begin);
        const bool past_cache = this->particles.count * int64_t(sizeof(T)) * tangents.rows > kLargerThanCaches;
        if (past_cache && indices.count == kBatch && reinterpret_cast<uintptr_t>(to) % 64 == 0)
            for (int k = 0; k < tangents.rows; ++k) stream_batch(numbers + k * kBatch, to + k * kBatch);
        else
            for (int k = 0; k < tangents.rows; ++k) std::copy_n(numbers + k * kBatch, indices.count, to + k * indices.count);
    }
};

template <class T, int d>
struct ProductWork {
    Tangents<T> tangents;

    void prefetch(int64_t, int64_t place) const {
        const T* from = tangents.batch(place);
        for (int k = 0; k < tangents.rows * kBatch; k += 64 / int(sizeof(T))) prefetch_line(from + k);
    }
    template <class Batch>
    void operator()(Batch& batch, const BatchIndices& indices, int64_t begin, int64_t) const {
        using V = Lanes<T>;
        using Point = ImplicitPoint<T, d>;
        const T* from = tangents.batch(begin);
        alignas(64) T copy[(kTangent<d> + 1) * kBatch];
        if (indices.count < kBatch) {
            std::fill(std::begin(copy), std::end(copy), T(0));
            for (int k = 0; k < tangents.rows; ++k) std::copy_n(from + k * indices.count, indices.count, copy + k * kBatch);
            from = copy;
        }
        for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
            V numbers[kTangent<d>];
            for (int k = 0; k < kTangent<d>; ++k) numbers[k] = load<V>(from + k * kBatch + lane);
            const Mat<V, d> gradient = Point::matrix(batch.gradient, lane, kRow);
            Mat<V, d> stress = apply_tangent((const V*)numbers, gradient);
            if (tangents.rows > kTangent<d>)
                stress = stress + Point::viscous(load<V>(from + kTangent<d> * kBatch + lane), gradient);
            Point::put(stress, batch.stress, lane);
        }
    }
};

// At F = I the tangent has one stiffness along the direction of motion and one across it, so that the diagonal of
// component a is dt^2 V0 [along (d_a w)^2 + across sum_{b != a} (d_b w)^2]; for elastic solids along = lam + 2 mu and
// across = mu. J15 A.6.1
template <class T, int d>
struct DiagonalWork : ImplicitWork<T, d> {
    using At = TangentLayout<d>;
    // dt along and dt across per volume of the last batch: the same again while parameters and state are.
    alignas(64) T p[kMaxParameters * kBatch], z[kMaxStates * kBatch], along[kBatch], across[kBatch];
    bool known = false;

    DiagonalWork(const ImplicitWork<T, d>& shared) : ImplicitWork<T, d>(shared) {}

    void prefetch(int64_t particle, int64_t) const {
        continua::prefetch(this->particles.volume, 0, 1, particle);
        continua::prefetch(this->particles.state, this->particles.stride, this->particles.states, particle);
    }
    template <class Batch>
    void operator()(Batch& batch, const BatchIndices& indices, int64_t, int64_t) {
        using V = Lanes<T>;
        alignas(64) T volume[kBatch], p_[kMaxParameters * kBatch], z_[kMaxStates * kBatch];
        indices.fetch(this->particles.volume, this->particles.stride, 1, volume);
        indices.fetch(this->particles.state, this->particles.stride, this->particles.states, z_);
        indices.fetch(this->parameters, p_);
        const int rows = this->parameters.count, states = this->particles.states;
        if (!known || !std::equal(p_, p_ + rows * kBatch, p) || !std::equal(z_, z_ + states * kBatch, z)) {
            std::copy_n(p_, rows * kBatch, p), std::copy_n(z_, states * kBatch, z);
            stiffness();
        }
        for (int lane = 0; lane < kBatch; lane += lanes_of<V>()) {
            const V scale = V(this->dt) * load<V>(volume + lane);
            for (int i = 0; i < d; ++i)
                for (int a = 0; a < d; ++a)
                    store(V(scale * load<V>((i == a ? along : across) + lane)), batch.stress + (i * d + a) * kBatch + lane);
        }
    }
    void stiffness() {
        alignas(64) T identity[d * d * kBatch] = {}, numbers[kTangent<d> * kBatch], eta[kBatch] = {};
        for (int i = 0; i < d; ++i) std::fill_n(identity + i * (d + 1) * kBatch, kBatch, T(1));
        this->material.tangent(identity, p, z, false, numbers);
        if (this->material.viscosity) this->material.viscosity(p, eta);
        for (int j = 0; j < kBatch; ++j) {
            const T pair = T(0.5) * (numbers[At::a * kBatch + j] + numbers[At::b * kBatch + j]);
            along[j] = this->dt * std::max(numbers[At::h * kBatch + j], T(0)) + T(2) * eta[j];
            across[j] = this->dt * std::max(pair, T(0)) + eta[j];
        }
        known = true;
    }
};

}  // namespace detail

// Phi(v) [J]; +inf where some Fhat is not admissible.
template <int degree, class T, int d>
double implicit_energy(const SortedParticles<T, d>& on, const Tiles& tiles, const detail::ImplicitWork<T, d>& shared,
                       const T* velocity) {
    std::vector<double> sums(on.blocks.count, 0.0);
    sweep<T, d, degree>(on, tiles, velocity, (T*)nullptr, detail::EnergyWork<T, d>{shared, sums.data()});
    double total = 0;
    for (const double sum : sums) total += sum;
    return total == total ? total : std::numeric_limits<double>::infinity();
}

}  // namespace continua
