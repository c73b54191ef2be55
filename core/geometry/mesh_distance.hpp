// Signed distance to a closed triangle mesh: exact distance and a robust sign, both through one bounding-volume tree.
//
// Distance: branch and bound over the tree with the exact point-triangle distance.
// Sign: number of surfaces wrapped round the point, counted along a ray (+1 where the ray leaves, -1 where it enters).
// Rays have generic directions; two of them must agree, otherwise a third decides. Edge tests are evaluated once per
// edge in a fixed vertex order, so that two triangles never both claim, or both miss, a ray through their common edge.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace continua::geometry {

using Point = std::array<double, 3>;

inline Point operator-(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
inline double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// Squared distance from p to the segment a-b; a == b is allowed.
inline double squared_distance_to_segment(const Point& p, const Point& a, const Point& b) {
    const Point ab = b - a, ap = p - a;
    const double length2 = dot(ab, ab);
    const double t = length2 > 0 ? std::clamp(dot(ap, ab) / length2, 0.0, 1.0) : 0.0;
    const Point d{ap[0] - t * ab[0], ap[1] - t * ab[1], ap[2] - t * ab[2]};
    return dot(d, d);
}

/// Squared distance from p to the triangle a-b-c. The foot of the perpendicular is found in barycentric coordinates;
/// where it falls outside (or the triangle has no area) the nearest of the three sides counts.
inline double squared_distance_to_triangle(const Point& p, const Point& a, const Point& b, const Point& c) {
    const Point ab = b - a, ac = c - a, ap = p - a;
    const double bb = dot(ab, ab), bc = dot(ab, ac), cc = dot(ac, ac), pb = dot(ap, ab), pc = dot(ap, ac);
    const double det = bb * cc - bc * bc;
    if (det > 1e-14 * bb * cc) {
        const double v = (cc * pb - bc * pc) / det, w = (bb * pc - bc * pb) / det;
        if (v >= 0 && w >= 0 && v + w <= 1) {
            const Point d{ap[0] - v * ab[0] - w * ac[0], ap[1] - v * ab[1] - w * ac[1], ap[2] - v * ab[2] - w * ac[2]};
            return dot(d, d);
        }
    }
    return std::min({squared_distance_to_segment(p, a, b), squared_distance_to_segment(p, b, c),
                     squared_distance_to_segment(p, c, a)});
}

class MeshDistance {
public:
    /// vertices: V x 3, faces: F x 3 with F >= 1; both are only read, and must outlive this object.
    MeshDistance(const double* vertices, const int32_t* faces, size_t face_count) : vertices_(vertices), faces_(faces) {
        order_.resize(face_count);
        std::vector<Point> centroids(face_count);
        for (size_t f = 0; f < face_count; ++f) {
            order_[f] = static_cast<int32_t>(f);
            const Point a = corner(f, 0), b = corner(f, 1), c = corner(f, 2);
            for (int k = 0; k < 3; ++k) centroids[f][k] = (a[k] + b[k] + c[k]) / 3;
        }
        nodes_.reserve(2 * face_count / leaf_size + 2);
        build(0, static_cast<int32_t>(face_count), centroids);
        inflate_boxes();
    }

    /// Distance from p to the surface, without sign; a known upper bound makes the search shorter, not different.
    double distance(const Point& p, double upper_bound) const {
        double best = upper_bound * upper_bound;
        std::array<int32_t, stack_size> stack;
        int top = 0;
        stack[top++] = 0;
        while (top > 0) {
            const int32_t index = stack[--top];
            const Node& node = nodes_[index];
            if (squared_distance_to_box(p, node) >= best) continue;
            if (node.count > 0) {
                for (int32_t i = node.first; i < node.first + node.count; ++i) {
                    const int32_t f = order_[i];
                    best = std::min(best, squared_distance_to_triangle(p, corner(f, 0), corner(f, 1), corner(f, 2)));
                }
                continue;
            }
            const int32_t left = index + 1, right = node.right;
            const bool left_first = squared_distance_to_box(p, nodes_[left]) <= squared_distance_to_box(p, nodes_[right]);
            stack[top++] = left_first ? right : left;
            stack[top++] = left_first ? left : right;
        }
        return std::sqrt(best);
    }

    bool inside(const Point& p) const {
        for (int k = 0; k < 3; ++k)
            if (p[k] < nodes_[0].lower[k] || p[k] > nodes_[0].upper[k]) return false;
        const bool first = winding(p, 0) > 0, second = winding(p, 1) > 0;
        return first == second ? first : winding(p, 2) > 0;
    }

private:
    static constexpr int leaf_size = 4;
    static constexpr int stack_size = 128;  // the tree is balanced: its depth is at most log2(F) + 1

    struct Node {
        Point lower, upper;
        int32_t first = 0, count = 0;  // triangles of a leaf; count is 0 for inner nodes
        int32_t right = 0;             // second child; the first child follows its parent
    };

    Point vertex(size_t v) const { return {vertices_[3 * v], vertices_[3 * v + 1], vertices_[3 * v + 2]}; }
    int32_t vertex_of(size_t f, int k) const { return faces_[3 * f + k]; }
    Point corner(size_t f, int k) const { return vertex(vertex_of(f, k)); }

    /// Median split along the longest side of the box of centroids.
    int32_t build(int32_t first, int32_t count, const std::vector<Point>& centroids) {
        const int32_t index = static_cast<int32_t>(nodes_.size());
        nodes_.emplace_back();
        Node node;
        Point low, high;
        node.lower.fill(std::numeric_limits<double>::infinity());
        node.upper.fill(-std::numeric_limits<double>::infinity());
        low = node.lower, high = node.upper;
        for (int32_t i = first; i < first + count; ++i) {
            for (int k = 0; k < 3; ++k) {
                const double c = centroids[order_[i]][k];
                low[k] = std::min(low[k], c), high[k] = std::max(high[k], c);
                for (int j = 0; j < 3; ++j) {
                    const double x = corner(order_[i], j)[k];
                    node.lower[k] = std::min(node.lower[k], x), node.upper[k] = std::max(node.upper[k], x);
                }
            }
        }
        if (count <= leaf_size) {
            node.first = first, node.count = count;
        } else {
            const Point side = high - low;
            const int axis = static_cast<int>(std::max_element(side.begin(), side.end()) - side.begin());
            const int32_t half = count / 2;
            const auto begin = order_.begin() + first;
            std::nth_element(begin, begin + half, begin + count, [&](int32_t a, int32_t b) {
                const double ca = centroids[a][axis], cb = centroids[b][axis];
                return ca < cb || (ca == cb && a < b);  // ties by index: the same tree on every machine
            });
            build(first, half, centroids);
            node.right = build(first + half, count - half, centroids);
        }
        nodes_[index] = node;
        return index;
    }

    /// A hair of room, so that rounding in the ray-box test cannot lose a triangle.
    void inflate_boxes() {
        const Point side = nodes_[0].upper - nodes_[0].lower;
        const double room = 1e-9 * std::sqrt(dot(side, side));
        for (Node& node : nodes_)
            for (int k = 0; k < 3; ++k) node.lower[k] -= room, node.upper[k] += room;
    }

    static double squared_distance_to_box(const Point& p, const Node& node) {
        double sum = 0;
        for (int k = 0; k < 3; ++k) {
            const double d = std::max({node.lower[k] - p[k], 0.0, p[k] - node.upper[k]});
            sum += d * d;
        }
        return sum;
    }

    // Ray number r runs along axis r with a slope in the other two. Subtracting the slope turns it into a straight line
    // of constant (u, v) and increasing w, and a triangle is hit where (u, v) lies in its projection.
    static constexpr double slope_u = 0.31783724519578, slope_v = 0.20710678118655;

    struct Sheared {
        double u, v, w;
    };
    static Sheared shear(const Point& x, const Point& origin, int axis) {
        const Point d = x - origin;
        const double w = d[axis];
        return {d[(axis + 1) % 3] - slope_u * w, d[(axis + 2) % 3] - slope_v * w, w};
    }

    static bool ray_meets_box(const Point& p, int axis, const Node& node) {
        double near = 0, far = std::numeric_limits<double>::infinity();
        const std::array<double, 3> direction{1, slope_u, slope_v};
        for (int k = 0; k < 3; ++k) {
            const int j = (axis + k) % 3;
            near = std::max(near, (node.lower[j] - p[j]) / direction[k]);
            far = std::min(far, (node.upper[j] - p[j]) / direction[k]);
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
    int crossing(const Point& p, int axis, size_t f) const {
        std::array<Sheared, 3> s;
        for (int k = 0; k < 3; ++k) s[k] = shear(corner(f, k), p, axis);
        std::array<double, 3> area;
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

    int winding(const Point& p, int axis) const {
        int sum = 0, top = 0;
        std::array<int32_t, stack_size> stack;
        stack[top++] = 0;
        while (top > 0) {
            const int32_t index = stack[--top];
            const Node& node = nodes_[index];
            if (!ray_meets_box(p, axis, node)) continue;
            if (node.count > 0) {
                for (int32_t i = node.first; i < node.first + node.count; ++i) sum += crossing(p, axis, order_[i]);
            } else {
                stack[top++] = node.right;
                stack[top++] = index + 1;
            }
        }
        return sum;
    }

    const double* vertices_;
    const int32_t* faces_;
    std::vector<int32_t> order_;
    std::vector<Node> nodes_;
};

/// distances[n] = signed distance from points[n] (N x 3) to the mesh, negative inside. Within a chunk, the triangle
/// inequality with the point before bounds the search; results do not depend on it, nor on the number of threads.
inline void mesh_signed_distance(const MeshDistance& mesh, const double* points, int64_t count, double* distances) {
    constexpr int64_t chunk = 256;
#pragma omp parallel for schedule(dynamic)
    for (int64_t first = 0; first < count; first += chunk) {
        double bound = std::numeric_limits<double>::infinity();
        Point previous{};
        for (int64_t n = first; n < std::min(first + chunk, count); ++n) {
            const Point p{points[3 * n], points[3 * n + 1], points[3 * n + 2]};
            if (n > first) bound = (bound + std::sqrt(dot(p - previous, p - previous))) * (1 + 1e-9);
            bound = mesh.distance(p, bound);
            previous = p;
            distances[n] = mesh.inside(p) ? -bound : bound;
        }
    }
}

}  // namespace continua::geometry
