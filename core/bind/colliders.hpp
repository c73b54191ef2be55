// Obstacles as Python hands them over.
#pragma once

#include "../contact/collider.hpp"
#include "arrays.hpp"

namespace continua {

// table (n, Collider::kColumns); samples: per collider None or (values (nx, ny, nz), origin (3,), spacing).
inline std::vector<Collider> colliders_of(nb::handle table_, const std::vector<nb::object>& samples,
                                          const std::string& name = "table") {
    const int64_t n = length(table_, name);
    const double* table = checked<double>(table_, name, {n, Collider::kColumns});
    if (int64_t(samples.size()) != n) throw std::invalid_argument("samples: one entry per collider is needed");
    std::vector<Collider> colliders;
    for (int64_t i = 0; i < n; ++i) {
        const double* row = table + i * Collider::kColumns;
        if (!(row[0] >= 0 && row[0] <= double(ColliderKind::region)) ||
            !(row[1] >= 0 && row[1] <= double(ContactMode::sticky)))
            throw std::invalid_argument(name + ": unknown collider kind or contact mode");
        Collider& c = colliders.emplace_back(row);
        if (c.kind != ColliderKind::sampled) continue;
        if (samples[i].is_none()) throw std::invalid_argument("samples: missing for a sampled collider");
        const nb::object values = samples[i][0], origin = samples[i][1];
        c.sampled.values = checked<double>(values, "samples.values", {-1, -1, -1});
        const double* o = checked<double>(origin, "samples.origin", {3});
        c.sampled.spacing = nb::cast<double>(nb::object(samples[i][2]));
        if (!(c.sampled.spacing > 0)) throw std::invalid_argument("samples.spacing: must be positive");
        for (int a = 0; a < 3; ++a) {
            c.sampled.origin[a] = o[a];
            c.sampled.count[a] = length(values, "samples.values", a);
            if (c.sampled.count[a] < 2) throw std::invalid_argument("samples.values: at least two points per axis");
        }
    }
    return colliders;
}

}  // namespace continua
