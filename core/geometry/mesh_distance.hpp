// Signed distance to a closed triangle mesh: exact distance and a robust sign, both through one bounding-volume tree.
//
// Distance: branch and bound over the tree with the exact point-triangle distance.
// Sign: number of surfaces wrapped round the point, counted along a ray (+1 where the ray leaves, -1 where it enters).
// Rays have generic directions; two of them must agree, otherwise a third decides. Edge tests are evaluated once per
// edge in a fixed vertex order, so that two triangles never both claim, or both miss, a ray through their common edge.
#pragma once

#include "box_tree.hpp"
#include "closest_primitive.hpp"

namespace continua::geometry {

class MeshDistance {
public:
    /// vertices: V x 3, faces: F x 3 with F >= 1; both are only read, and must outlive this object.
    MeshDistance(const double* vertices, const int32_t* faces, int64_t face_count)
        : vertices_(vertices), faces_(faces), tree_(vertices, faces, face_count) {
        double diagonal2 = 0;
        for (int k = 0; k < 3; ++k) diagonal2 += std::pow(tree_.all().high[k] - tree_.all().low[k], 2);
        room_ = 1e-9 * std::sqrt(diagonal2);
    }

    /// Distance from p to the surface, without sign; a known upper bound makes the search shorter, not different.
    double distance(const Vec3& p, double upper_bound) const {
        double least = std::numeric_limits<double>::infinity();
        tree_.visit_near(p.data(), upper_bound * upper_bound, [&](int32_t f) {
            return least = std::min(least, closest_primitive<3>(vertices_, p, faces_ + 3 * int64_t(f)).squared);
        });
        return std::sqrt(least);
    }

    bool inside(const Vec3& p) const {
        if (!tree_.all().contains(p.data())) return false;
        const bool first = winding(p, 0) > 0, second = winding(p, 1) > 0;
        return first == second ? first : winding(p, 2) > 0;
    }

private:
    using Tree = BoxTree<3, 3>;

    int32_t vertex_of(int64_t f, int k) const { return faces_[3 * f + k]; }

    // Ray number r runs along axis r with a slope in the other two. Subtracting the slope turns it into a straight line
    // of constant (u, v) and increasing w, and a triangle is hit where (u, v) lies in its projection.
    static constexpr double slope_u = 0.31783724519578, slope_v = 0.20710678118655;

    struct Sheared {
        double u, v, w;
    };
    static Sheared shear(const Vec3& x, const Vec3& origin, int axis) {
        const Vec3 d = add_scaled<3>(x, -1, origin);
        const double w = d[axis];
        return {d[(axis + 1) % 3] - slope_u * w, d[(axis + 2) % 3] - slope_v * w, w};
    }

    /// Boxes get a hair of room, so that rounding cannot lose a triangle.
    bool ray_meets_box(const Vec3& p, int axis, const Tree::Box& box) const {
        double near = 0, far = std::numeric_limits<double>::infinity();
        const Vec3 direction{1, slope_u, slope_v};
        for (int k = 0; k < 3; ++k) {
            const int j = (axis + k) % 3;
            near = std::max(near, (box.low[j] - room_ - p[j]) / direction[k]);
            far = std::min(far, (box.high[j] + room_ - p[j]) / direction[k]);
        }
        return near <= far;
    }

    /// Twice the signed area spanned by the ray and the edge i -> j, with a definite sign and the same size either way.
    static double edge_area(int32_t i, const Sheared& a, int32_t j, const Sheared& b, bool& positive) {
        const bool forward = i < j;
        const double area = forward ? a.u * b.v - a.v * b.u : b.u * a.v - b.v * a.u;
        positive = (area >= 0) == forward;
        return forward ? area : -area;
    }

    /// +1 where the ray from p leaves through triangle f, -1 where it enters, 0 where it misses.
    int crossing(const Vec3& p, int axis, int64_t f) const {
        std::array<Sheared, 3> s;
        for (int k = 0; k < 3; ++k) s[k] = shear(vector_at<3>(vertices_, vertex_of(f, k)), p, axis);
        Vec3 area;
        std::array<bool, 3> positive;
        for (int k = 0; k < 3; ++k) {
            const int i = (k + 1) % 3, j = (k + 2) % 3;
            area[k] = edge_area(vertex_of(f, i), s[i], vertex_of(f, j), s[j], positive[k]);
        }
        if (positive[0] != positive[1] || positive[1] != positive[2]) return 0;
        const double sum = area[0] + area[1] + area[2];
        const double ahead = area[0] * s[0].w + area[1] * s[1].w + area[2] * s[2].w;
        const bool hit = sum != 0 ? (ahead > 0) == (sum > 0) && ahead != 0 : s[0].w + s[1].w + s[2].w > 0;
        return hit ? (positive[0] ? 1 : -1) : 0;
    }

    int winding(const Vec3& p, int axis) const {
        int sum = 0;
        tree_.visit_boxes([&](const Tree::Box& box) { return ray_meets_box(p, axis, box); },
                          [&](int32_t f) { sum += crossing(p, axis, f); });
        return sum;
    }

    const double* vertices_;
    const int32_t* faces_;
    Tree tree_;
    double room_;
};

/// distances[n] = signed distance from points[n] (N x 3) to the mesh, negative inside. Within a chunk, the triangle
/// inequality with the point before bounds the search; results do not depend on it, nor on the number of threads.
inline void mesh_signed_distance(const MeshDistance& mesh, const double* points, int64_t count, double* distances) {
    constexpr int64_t chunk = 256;
#pragma omp parallel for schedule(dynamic)
    for (int64_t first = 0; first < count; first += chunk) {
        double bound = std::numeric_limits<double>::infinity();
        Vec3 previous{};
        for (int64_t n = first; n < std::min(first + chunk, count); ++n) {
            const Vec3 p = vector_at<3>(points, n);
            if (n > first) bound = (bound + norm(add_scaled<3>(p, -1, previous))) * (1 + 1e-9);
            bound = mesh.distance(p, bound);
            previous = p;
            distances[n] = mesh.inside(p) ? -bound : bound;
        }
    }
}

}  // namespace continua::geometry
