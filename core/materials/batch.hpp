// One batch of kBatch particles, component-major: what the transfer kernels call, through a table per model.
#pragma once

#include "model.hpp"

namespace continua {

template <class T, int d>
struct BatchFunctions {
    static constexpr int kSym = d * (d + 1) / 2;  // symmetric matrices: 00 01 (02) 11 (12 22)
    void (*energy)(const T* F, const T* p, const T* z, T* out) = nullptr;
    void (*piola)(const T* F, const T* p, const T* z, T* P) = nullptr;
    void (*tangent)(const T* F, const T* p, const T* z, bool positive, T* out) = nullptr;  // see TangentLayout
    void (*kirchhoff)(const T* F, const T* p, const T* z, T* tau) = nullptr;
    // Trial F to admissible F; null: elastic. `advance` also gives the stress; null: the stress follows from F.
    void (*flow)(T* F, T dt, const T* grad_v, const T* p, T* z) = nullptr;
    void (*advance)(T* F, T dt, const T* grad_v, const T* p, T* z, T* tau) = nullptr;
    void (*modulus)(const T* F, const T* p, const T* z, T* out) = nullptr;
    void (*viscosity)(const T* p, T* out) = nullptr;  // null: none
};

template <class Model, class T, int d>
struct Batch {
    using V = Lanes<T>;
    using Functions = BatchFunctions<T, d>;
    static constexpr int kParameters = int(Model::parameters.size());
    static constexpr int kStates = int(Model::states.size());
    static constexpr int kWidth = lanes_of<V>();
    static_assert(kBatch % kWidth == 0);

    template <int n>
    static void read(const T* from, int lane, V* to) {
        for (int k = 0; k < n; ++k) to[k] = load<V>(from + k * kBatch + lane);
    }
    template <int n>
    static void write(const V* from, int lane, T* to) {
        for (int k = 0; k < n; ++k) store(from[k], to + k * kBatch + lane);
    }
    static void write_symmetric(const Mat<V, d>& tau, int lane, T* to) {
        int k = 0;
        for (int i = 0; i < d; ++i)
            for (int j = i; j < d; ++j) store(tau(i, j), to + (k++) * kBatch + lane);
    }
    struct Point {
        Mat<V, d> F;
        V p[kParameters], z[kStates + 1];

        Point(int lane, const T* F_, const T* p_, const T* z_) {
            read<d * d>(F_, lane, F.a);
            read<kParameters>(p_, lane, p);
            read<kStates>(z_, lane, z);
        }
    };
    static TrialStep<V, d> step_of(int lane, T dt, const T* grad_v) {
        TrialStep<V, d> step;
        step.dt = V(dt);
        read<d * d>(grad_v, lane, step.grad_v.a);
        return step;
    }

    static void energy(const T* F, const T* p, const T* z, T* out) {
        for (int lane = 0; lane < kBatch; lane += kWidth) {
            const Point at(lane, F, p, z);
            store(V(Model::energy(at.F, at.p, at.z)), out + lane);
        }
    }
    static void piola(const T* F, const T* p, const T* z, T* P) {
        for (int lane = 0; lane < kBatch; lane += kWidth) {
            const Point at(lane, F, p, z);
            write<d * d>(Mat<V, d>(Model::piola(at.F, at.p, at.z)).a, lane, P);
        }
    }
    static void tangent(const T* F, const T* p, const T* z, bool positive, T* out) {
        for (int lane = 0; lane < kBatch; lane += kWidth) {
            const Point at(lane, F, p, z);
            V numbers[kTangent<d>];
            tangent_at<Model>(at.F, at.p, at.z, positive, numbers);
            write<kTangent<d>>(numbers, lane, out);
        }
    }
    static void kirchhoff(const T* F, const T* p, const T* z, T* tau) {
        for (int lane = 0; lane < kBatch; lane += kWidth) {
            const Point at(lane, F, p, z);
            write_symmetric(elastic_stress<Model>(at.F, (const V*)at.p, (const V*)at.z), lane, tau);
        }
    }
    static void flow(T* F, T dt, const T* grad_v, const T* p, T* z) {
        if constexpr (Flowing<Model>) {
            for (int lane = 0; lane < kBatch; lane += kWidth) {
                Point at(lane, F, p, z);
                Model::flow(at.F, step_of(lane, dt, grad_v), at.p, at.z);
                write<d * d>(at.F.a, lane, F);
                write<kStates>(at.z, lane, z);
            }
        }
    }
    static void advance(T* F, T dt, const T* grad_v, const T* p, T* z, T* tau) {
        if constexpr (KeepsStress<Model>) {
            for (int lane = 0; lane < kBatch; lane += kWidth) {
                Point at(lane, F, p, z);
                Mat<V, d> stress;
                advance_model<Model>(at.F, step_of(lane, dt, grad_v), at.p, at.z, stress);
                write<d * d>(at.F.a, lane, F);
                write<kStates>(at.z, lane, z);
                write_symmetric(stress, lane, tau);
            }
        }
    }
    static void modulus(const T* F, const T* p, const T* z, T* out) {
        for (int lane = 0; lane < kBatch; lane += kWidth) {
            const Point at(lane, F, p, z);
            store(V(Model::modulus(at.F, at.p, at.z)), out + lane);
        }
    }
    static void viscosity(const T* p_, T* out) {
        if constexpr (Viscous<Model>) {
            for (int lane = 0; lane < kBatch; lane += kWidth) {
                V p[kParameters];
                read<kParameters>(p_, lane, p);
                store(V(Model::viscosity((const V*)p)), out + lane);
            }
        }
    }
    static constexpr Functions table() {
        return {&energy, &piola, &tangent, &kirchhoff, Flowing<Model> ? &flow : nullptr,
                KeepsStress<Model> ? &advance : nullptr, &modulus, Viscous<Model> ? &viscosity : nullptr};
    }
};

}  // namespace continua
