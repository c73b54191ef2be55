// Second derivatives of rods: how they are put together, their products and diagonal. Part of rods.hpp.
#pragma once

namespace continua {

inline void Rods::find_hessian(const RodLayout::Chunk& chunk, RodTable& work, bool positive, double* rows, int64_t stride) const {
    using R = RodRows;
    for_lanes(chunk, [&](int64_t j) {
        V energy;
        const auto real = over_l(chunk, j) > V(0);
        vertex(chunk, work, j, energy).hessian(positive, [&](int row, const V& number) {
            store(V(select(real, number, V(0))), work.row(kWorkRows + row) + j);
        });
    });
    for (int row = 0; row < R::count; ++row) work.row(kWorkRows + row)[chunk.places()] = 0;  // what another chunk left
    for_lanes(chunk, [&](int64_t j) {
        auto part = [&](int row, int64_t i) { return load<V>(work.row(kWorkRows + row) + i); };
        auto put = [&](int row, const V& number) { store(number, rows + row * stride + j); };
        const auto real = length(chunk, j) > V(0);
        const V3 t = get3(work, kTangent, j);
        const V along = select(real, V(V(section_.stretching) / length(chunk, j)), V(0));
        V across = select(real, V(stretch_force(chunk, work, j) * load<V>(work.row(kOver) + j)), V(0));
        if (positive) across = max(across, V(0));  // compressed edges do not push sideways
        for (int r = 0; r < 3; ++r)
            for (int c = r; c < 3; ++c) {
                const int k = upper(r, c);
                const V stretch = (along - across) * t[r] * t[c] + (r == c ? across : V(0));
                put(kOwn + k, V(stretch + part(R::ff + k, j) + part(R::ee + k, j + 1)));
            }
        for (int k = 0; k < 9; ++k) put(kBefore + k, part(R::ef + k, j));
        for (int a = 0; a < 3; ++a) {
            put(kCoupling + a, part(R::e_f + a, j));
            put(kCoupling + 3 + a, V(part(R::f_f + a, j) + part(R::e_e + a, j + 1)));
            put(kCoupling + 6 + a, part(R::f_e + a, j + 1));
        }
    });
}

inline void Rods::factor_angles(const RodLayout::Chunk& chunk, const RodTable& work, double* values) const {
    using R = RodRows;
    auto part = [&](int row, int64_t j) { return work.row(kWorkRows + row)[j]; };
    Tridiagonal factors;
    for (int64_t j = 0; j < chunk.places(); ++j) {
        const int64_t place = chunk.place + j;
        const bool held = !(rest_.row(kLength)[place] > 0) || state_.row(kHeld)[place] != 0;
        factors.row(held ? 0.0 : part(R::af, j) + part(R::ae, j + 1), held ? 0.0 : part(R::aef, j), held, value(values, kFactor)[place],
                    value(values, kOverPivot)[place]);
    }
}

// Forces by edges with all angles held, and what the displacements do to the angles.
inline void Rods::multiply(const RodLayout::Chunk& chunk, RodTable& work, const double* values, int64_t j) const {
    auto at = [&](int row, int64_t i) { return load<V>(value(values, row) + chunk.place + i); };
    const V3 before = get3(work, 3, j - 1), own = get3(work, 3, j), after = get3(work, 3, j + 1);
    V3 force;
    V turn = V(0);
    for (int r = 0; r < 3; ++r) {
        force[r] = V(0);
        for (int c = 0; c < 3; ++c) {
            force[r] += at(kOwn + upper(r, c), j) * own[c] + at(kBefore + 3 * c + r, j) * before[c];
            force[r] += at(kBefore + 3 * r + c, j + 1) * after[c];
        }
        turn += at(kCoupling + r, j) * before[r] + at(kCoupling + 3 + r, j) * own[r] + at(kCoupling + 6 + r, j) * after[r];
    }
    put3(force, work, 6, j);
    store(turn, work.row(9) + j);
}

inline void Rods::solve_angles(const RodLayout::Chunk& chunk, const double* values, double* z) const {
    const double *factor = value(values, kFactor) + chunk.place, *over = value(values, kOverPivot) + chunk.place;
    const int64_t count = chunk.places();
    z[-1] = 0;
    for (int64_t j = 1; j < count; ++j) z[j] -= factor[j] * z[j - 1];
    z[count - 1] *= over[count - 1];
    z[count] = 0;
    for (int64_t j = count - 1; j-- > 0;) z[j] = z[j] * over[j] - factor[j + 1] * z[j + 1];
}

// Of the angles on edge j.
inline Rods::V3 Rods::angle_force(const RodLayout::Chunk& chunk, const RodTable& work, const double* values, int64_t j) const {
    auto at = [&](int row, int64_t i) { return load<V>(value(values, row) + chunk.place + i); };
    const double* z = work.row(9) + j;
    V3 force;
    for (int a = 0; a < 3; ++a)
        force[a] = at(kCoupling + 6 + a, j - 1) * load<V>(z - 1) + at(kCoupling + 3 + a, j) * load<V>(z) + at(kCoupling + a, j + 1) * load<V>(z + 1);
    return force;
}

// A point moves the edge before it and, the other way, the edge after it; these act on four angles, of whose inverse matrix
// three diagonals beside the main one are needed: Z_jj = 1/D_j + L_(j+1)^2 Z_(j+1)(j+1), Z_jk = -L_(j+1) Z_(j+1)k for k > j.
inline void Rods::diagonal(const double* values, double* out) const {
    layout_.for_chunks(4, [&](int64_t, const RodLayout::Chunk& chunk, RodTable& work) {
        const int64_t count = chunk.last - chunk.first;
        auto at = [&](int row, int64_t j) { return j < 0 ? 0.0 : value(values, row)[chunk.place + j]; };
        for (int64_t j = chunk.places() - 1; j >= 0; --j) {  // work.row(k)[j] = Z_j(j + k)
            const bool last = j + 1 == chunk.places();
            const double factor = last ? 0.0 : at(kFactor, j + 1);
            for (int k = 3; k > 0; --k) work.row(k)[j] = last ? 0.0 : -factor * work.row(k - 1)[j + 1];
            work.row(0)[j] = at(kOverPivot, j) - factor * work.row(1)[j];
        }
        for (int64_t i = 0; i < count; ++i)
            for (int a = 0; a < 3; ++a) {
                double sum = at(kOwn + upper(a, a), i - 1) + at(kOwn + upper(a, a), i) - 2 * at(kBefore + 4 * a, i);
                double coupling[4];  // of the angles i - 2 to i + 1
                for (int k = 0; k < 4; ++k) {
                    const int64_t j = i - 2 + k;
                    auto with = [&](int64_t edge) { return edge < j - 1 || edge > j + 1 ? 0.0 : at(kCoupling + 3 * int(edge - j + 1) + a, j); };
                    coupling[k] = with(i - 1) - with(i);
                }
                for (int k = 0; k < 4; ++k)
                    for (int m = k; m < 4; ++m)
                        if (i - 2 + k >= 0) sum -= (m > k ? 2 : 1) * coupling[k] * coupling[m] * work.row(m - k)[i - 2 + k];
                out[(chunk.first + i) * 3 + a] = sum;
            }
    });
}

}  // namespace continua
