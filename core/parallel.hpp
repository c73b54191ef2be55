// How many threads a loop is worth. Results never depend on it.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace continua {

inline constexpr int64_t kParticlesPerThread = 8192;
inline constexpr int64_t kBlocksPerThread = 64;

// One thread per `share` items, at most as many as the user allows.
inline int team(int64_t items, int64_t share = kParticlesPerThread) {
    return int(std::clamp<int64_t>(items / share, 1, omp_get_max_threads()));
}

}  // namespace continua
