// Which stencils may meet: vertices with facets, in 3D edges with edges, whose boxes overlap on the way.
//
// Left out: what shares a vertex, and stencils of which every vertex is held.
#pragma once

#include "box_pairs.hpp"
#include "ccd.hpp"

namespace continua {

template <int d>
struct Surfaces {
    const int32_t* facets;  // (facet_count, d)
    int64_t facet_count;
    const int32_t* edges;   // (edge_count, 2) each once; none in 2D
    int64_t edge_count;
    const int32_t* points;  // (point_count,) vertices of facets, each once
    int64_t point_count;
    const uint8_t* held;    // (vertices,) moved by others
    int64_t vertices;
};

// The vertices, facets or edges that one search is about.
template <int d>
class SurfaceParts {
  public:
    SurfaceParts(Meeting kind, const Surfaces<d>& surfaces) : s_(surfaces), edges_(kind == Meeting::edge_edge) {}
    int64_t count() const { return edges_ ? s_.edge_count : s_.point_count + s_.facet_count; }
    bool is_point(int64_t i) const { return !edges_ && i < s_.point_count; }
    std::span<const int32_t> corners(int64_t i) const {
        if (edges_) return {s_.edges + 2 * i, 2};
        if (is_point(i)) return {s_.points + i, 1};
        return {s_.facets + d * (i - s_.point_count), size_t(d)};
    }
    bool held(int64_t i) const { return all(i, s_.held); }
    bool any(int64_t i, const uint8_t* mask) const {
        for (const int32_t k : corners(i))
            if (mask[k]) return true;
        return false;
    }
    bool neighbours(int64_t i, int64_t j) const {
        for (const int32_t k : corners(i))
            for (const int32_t l : corners(j))
                if (k == l) return true;
        return false;
    }

  private:
    const Surfaces<d>& s_;
    bool edges_;

    bool all(int64_t i, const uint8_t* mask) const {
        for (const int32_t k : corners(i))
            if (!mask[k]) return false;
        return true;
    }
};

// Boxes of parts on their way from x to x + dt v, seen from a place among them, wider by half of `distance` and by what
// counts as touching. v: none stands for no motion.
template <int d>
inline std::vector<Box3> boxes_on_the_way(const SurfaceParts<d>& parts, const Surfaces<d>& surfaces, const double* x, const double* v,
                                          double dt, double distance) {
    Box3 whole = Box3::empty();
    const auto place = [&](int32_t vertex, bool after, const double* origin, double* out) {
        for (int a = 0; a < d; ++a)
            out[a] = x[int64_t(vertex) * d + a] - origin[a] + (after ? dt * v[int64_t(vertex) * d + a] : 0);
    };
    const double nowhere[3] = {0, 0, 0};
    double point[3] = {0, 0, 0};
    for (int64_t i = 0; i < surfaces.point_count; ++i)
        for (int after = 0; after < (v ? 2 : 1); ++after) place(surfaces.points[i], after, nowhere, point), whole.include(point, 0);
    const bool any = surfaces.point_count > 0;
    const double origin[3] = {any ? whole.low[0] : 0, any ? whole.low[1] : 0, any && d == 3 ? whole.low[2] : 0};
    const double extent = any ? whole.extent() : 0;
    const double least = 0.5 * distance + (extent > 0 ? 64 * std::numeric_limits<double>::epsilon() * extent : 1);
    std::vector<Box3> boxes(size_t(parts.count()), Box3::empty());
#pragma omp parallel for schedule(static) num_threads(team(parts.count()))
    for (int64_t i = 0; i < parts.count(); ++i) {
        Box3& box = boxes[size_t(i)];
        double here[3] = {0, 0, 0};
        for (const int32_t k : parts.corners(i))
            for (int after = 0; after < (v ? 2 : 1); ++after) place(k, after, origin, here), box.include(here, 0);
        const double pad = least + 4 * kTouch * box.extent();
        for (int a = 0; a < 3; ++a) box.low[a] -= pad, box.high[a] += pad;
    }
    return boxes;
}

// As box_pairs, for boxes of two kinds of which only different ones meet: those before number `first` and the others. Boxes of
// one kind in one place, as facets of one surface are, cost nothing then.
template <class Wanted>
inline std::vector<int32_t> unlike_pairs(const std::vector<Box3>& boxes, int32_t first, Wanted&& wanted) {
    if (boxes.empty()) return {};
    const BoxGrids grids(boxes);
    const Buckets homes = grids.homes(), visitors = grids.visitors(homes);
    constexpr int64_t kChunk = 4096;  // buckets
    const int64_t chunks = (grids.buckets() + kChunk - 1) / kChunk;
    std::vector<std::vector<int32_t>> found(static_cast<size_t>(chunks));
#pragma omp parallel for schedule(dynamic) num_threads(team(int64_t(boxes.size()), 1024))
    for (int64_t chunk = 0; chunk < chunks; ++chunk)
        for (int64_t bucket = chunk * kChunk; bucket < std::min((chunk + 1) * kChunk, grids.buckets()); ++bucket) {
            // Numbers ascend: the first kind comes first.
            const auto at_home = homes.at(bucket), guests = visitors.at(bucket);
            const auto others_at_home = std::lower_bound(at_home.begin(), at_home.end(), first);
            const auto other_guests = std::lower_bound(guests.begin(), guests.end(), first);
            const auto meet = [&](int32_t i, int32_t j, bool level_fits, int32_t host) {
                const Box3 &p = boxes[size_t(i)], &q = boxes[size_t(j)];
                if (!level_fits || !p.overlaps(q) || grids.meeting_bucket(p, q, grids.level_of(host)) != uint32_t(bucket)) return;
                if (wanted(i, j)) found[size_t(chunk)].push_back(i), found[size_t(chunk)].push_back(j);
            };
            for (auto i = at_home.begin(); i != others_at_home; ++i) {
                for (auto j = others_at_home; j != at_home.end(); ++j) meet(*i, *j, grids.level_of(*i) == grids.level_of(*j), *i);
                for (auto j = other_guests; j != guests.end(); ++j) meet(*i, *j, grids.level_of(*j) < grids.level_of(*i), *i);
            }
            for (auto i = guests.begin(); i != other_guests; ++i)
                for (auto j = others_at_home; j != at_home.end(); ++j) meet(*i, *j, grids.level_of(*i) < grids.level_of(*j), *j);
        }
    return sorted_pairs(found, int64_t(boxes.size()));
}

// Stencils (any, d + 1) in ascending order that come closer than `distance`, or to touching, on the way, by their boxes.
// changed: only those with one of these vertices; none stands for all.
template <int d>
inline std::vector<int32_t> stencils_on_the_way(Meeting kind, const Surfaces<d>& surfaces, const double* x, const double* v, double dt,
                                                double distance, const uint8_t* changed = nullptr) {
    const SurfaceParts<d> parts(kind, surfaces);
    if (parts.count() > INT32_MAX / 8) throw std::invalid_argument("facets: too many");
    std::vector<Box3> boxes = boxes_on_the_way(parts, surfaces, x, v, dt, distance);
    // What is far from all that has changed takes no part in the search.
    std::vector<int32_t> chosen;
    enum : uint8_t { kHeld = 1, kNew = 2 };
    std::vector<uint8_t> state;
    Box3 active = Box3::empty();
    for (int64_t i = 0; changed && i < parts.count(); ++i)
        if (parts.any(i, changed)) active.include(boxes[size_t(i)].low, 0), active.include(boxes[size_t(i)].high, 0);
    for (int64_t i = 0; i < parts.count(); ++i) {
        if (changed && !boxes[size_t(i)].overlaps(active)) continue;
        boxes[chosen.size()] = boxes[size_t(i)];
        chosen.push_back(int32_t(i));
        state.push_back(uint8_t((parts.held(i) ? kHeld : 0) | (!changed || parts.any(i, changed) ? kNew : 0)));
    }
    boxes.resize(chosen.size());
    const auto wanted = [&](int32_t i, int32_t j) {
        if ((state[size_t(i)] & state[size_t(j)] & kHeld) || !((state[size_t(i)] | state[size_t(j)]) & kNew)) return false;
        return !parts.neighbours(chosen[size_t(i)], chosen[size_t(j)]);
    };
    const auto facets = std::lower_bound(chosen.begin(), chosen.end(), int32_t(surfaces.point_count));
    const std::vector<int32_t> pairs =
        kind == Meeting::edge_edge ? box_pairs(boxes, wanted) : unlike_pairs(boxes, int32_t(facets - chosen.begin()), wanted);
    std::vector<int32_t> stencils(pairs.size() / 2 * (d + 1));
    auto next = stencils.begin();
    for (size_t k = 0; k < pairs.size(); k += 2) {
        const auto first = parts.corners(chosen[size_t(pairs[k])]), second = parts.corners(chosen[size_t(pairs[k + 1])]);
        const bool swap = kind == Meeting::point_facet;  // the facet comes first
        next = std::copy((swap ? second : first).begin(), (swap ? second : first).end(), next);
        next = std::copy((swap ? first : second).begin(), (swap ? first : second).end(), next);
    }
    return stencils;
}

// Sums of the outward normals of facets at x, times twice their areas, for every vertex (vertices, d).
template <int d>
inline std::vector<double> vertex_normals(const Surfaces<d>& surfaces, const double* x) {
    std::vector<double> sums(size_t(surfaces.vertices * d), 0.0);
    for (int64_t f = 0; f < surfaces.facet_count; ++f) {
        const int32_t* corners = surfaces.facets + d * f;
        Vector<d> p[d + 1];
        for (int k = 0; k < d; ++k) p[k] = vector_at<d>(x, corners[k]);
        p[d] = p[0];
        const Vector<d> n = stencil_normal<d>(Meeting::point_facet, p);
        for (int k = 0; k < d; ++k)
            for (int a = 0; a < d; ++a) sums[size_t(int64_t(corners[k]) * d + a)] += n[a];
    }
    return sums;
}

// From the facet (first edge) of a stencil to the side where its point (second edge) belongs, from normals of vertices.
template <int d>
inline Vector<d> outward_side(Meeting kind, const int32_t* nodes, const std::vector<double>& normals) {
    Vector<d> side{};
    if (normals.empty()) return side;
    const int first = kind == Meeting::point_facet ? d : 2;
    for (int k = 0; k <= d; ++k) {
        const double share = k < first ? 1.0 / first : -1.0 / (d + 1 - first);
        side = add_scaled<d>(side, share, vector_at<d>(normals.data(), nodes[k]));
    }
    return side;
}

}  // namespace continua
