// What a Krylov solver does with its vectors, and how they become fields on the nodes of a grid.
//
// A sum runs over chunks of fixed length, each added up in kLanes interleaved sums, so that it has the same bits for
// any number of threads and any width of registers.
#pragma once

#include <cstdint>
#include <vector>

#include "../parallel.hpp"

namespace continua {

inline constexpr int64_t kChunk = 4096, kLanes = 8;
inline constexpr int64_t kNumbersPerThread = 65536;

// sum a_i b_i
inline double dot(const double* a, const double* b, int64_t n) {
    const int64_t chunks = (n + kChunk - 1) / kChunk;
    std::vector<double> part(static_cast<size_t>(chunks));
#pragma omp parallel for schedule(static) num_threads(team(n, kNumbersPerThread))
    for (int64_t c = 0; c < chunks; ++c) {
        const int64_t end = std::min(n, (c + 1) * kChunk);
        double sum[kLanes] = {};
        int64_t i = c * kChunk;
        for (; i + kLanes <= end; i += kLanes)
            for (int64_t l = 0; l < kLanes; ++l) sum[l] += a[i + l] * b[i + l];
        for (int64_t l = 0; i < end; ++i, ++l) sum[l] += a[i] * b[i];
        part[size_t(c)] = ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
    }
    double total = 0;
    for (const double p : part) total += p;
    return total;
}
// y += factor x
inline void add_multiple(double* y, double factor, const double* x, int64_t n) {
#pragma omp parallel for simd schedule(static) num_threads(team(n, kNumbersPerThread))
    for (int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
}
// y = factor y + x
inline void scale_and_add(double* y, double factor, const double* x, int64_t n) {
#pragma omp parallel for simd schedule(static) num_threads(team(n, kNumbersPerThread))
    for (int64_t i = 0; i < n; ++i) y[i] = factor * y[i] + x[i];
}

// Vectors (count, 3) at some nodes `at` (count,) of a node array (.., 4) of the grid's own number type.
template <class T>
void to_nodes(const double* x, const int64_t* at, int64_t count, T* nodes) {
#pragma omp parallel for schedule(static) num_threads(team(3 * count, kNumbersPerThread))
    for (int64_t k = 0; k < count; ++k)
        for (int a = 0; a < 3; ++a) nodes[4 * at[k] + a] = T(x[3 * k + a]);
}
// out = mass x + factor nodes, there; mass (count,)
template <class T>
void from_nodes(const T* nodes, const int64_t* at, int64_t count, double factor, const double* mass, const double* x,
                double* out) {
#pragma omp parallel for schedule(static) num_threads(team(3 * count, kNumbersPerThread))
    for (int64_t k = 0; k < count; ++k)
        for (int a = 0; a < 3; ++a)
            out[3 * k + a] = mass[k] * x[3 * k + a] + factor * double(nodes[4 * at[k] + a]);
}

}  // namespace continua
