// Pairs of facets that go through each other where they are: in 3D an edge of one through the inside of the other.
//
// What only touches does not cross. Where an edge goes through a side or a corner of a facet, up to rounding, it may be either:
// then both surfaces are made a little smaller, one of them more than the other, and asked again. What touches comes apart,
// and what still goes through a side then does cross: facets that are cut alike hide such edges from each other.
#pragma once

#include "surface_pairs.hpp"

namespace continua {

template <int d>
class FacetsCross {
  public:
    FacetsCross(const double* x, const std::vector<double>& normals, const int32_t* first, const int32_t* second) {
        for (int side = 0; side < 2; ++side)
            for (int k = 0; k < d; ++k) {
                const int32_t vertex = (side ? second : first)[k];
                p_[side][k] = add_scaled<d>(vector_at<d>(x, vertex), -1, vector_at<d>(x, first[0]));
                n_[side][k] = vector_at<d>(normals.data(), vertex);
                for (const double component : p_[side][k]) size_ = std::max(size_, std::abs(component));
            }
    }
    bool operator()() {
        const Answer now = ask(false);
        if (now != Answer::touch) return now == Answer::cross;
        for (int side = 0; side < 2; ++side)
            for (int k = 0; k < d; ++k)
                if (const double length = norm(n_[side][k]); length > 0)
                    p_[side][k] = add_scaled<d>(p_[side][k], -(side + 1) * kSmaller * size_ / length, n_[side][k]);
        return ask(true) == Answer::cross;
    }

  private:
    enum class Answer { apart, touch, cross };
    static constexpr double kSmaller = 1e-9;  // of the size of the pair
    Vector<d> p_[2][d], n_[2][d];
    double size_ = 0;

    // sides: whether to go through the side of a facet is to cross it.
    Answer ask(bool sides) const {
        if constexpr (d == 2) {
            const int a = sign(p_[0][0], p_[0][1], p_[1][0]) * sign(p_[0][0], p_[0][1], p_[1][1]);
            const int b = sign(p_[1][0], p_[1][1], p_[0][0]) * sign(p_[1][0], p_[1][1], p_[0][1]);
            if (a < 0 && b < 0) return Answer::cross;
            if (sides && a <= 0 && b <= 0 && a + b < 0) return Answer::cross;
            return a > 0 || b > 0 ? Answer::apart : Answer::touch;
        } else {
            Answer all = Answer::apart;
            for (int side = 0; side < 2; ++side)
                for (int k = 0; k < 3; ++k) all = std::max(all, through(p_[side][k], p_[side][(k + 1) % 3], p_[1 - side], sides));
            return all;
        }
    }
    // Of a volume; 0 where it is rounding.
    int sign_of(double volume) const {
        const double nothing = 1e-14 * (d == 2 ? size_ * size_ : size_ * size_ * size_);
        return volume > nothing ? 1 : volume < -nothing ? -1 : 0;
    }
    int sign(const Vector<2>& a, const Vector<2>& b, const Vector<2>& p) const {
        return sign_of((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]));
    }
    int sign(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& p) const {
        return sign_of(dot(cross(minus(b, a), minus(c, a)), minus(p, a)));
    }
    Answer through(const Vec3& p, const Vec3& q, const Vector<d> (&f)[d], bool sides) const {
        const int ends = sign(f[0], f[1], f[2], p) * sign(f[0], f[1], f[2], q);
        if (ends > 0) return Answer::apart;
        int least = 1, most = -1;
        for (int k = 0; k < 3; ++k) {
            const int side = sign(p, q, f[k], f[(k + 1) % 3]);
            least = std::min(least, side), most = std::max(most, side);
        }
        if (least < 0 && most > 0) return Answer::apart;
        if (sides && ends < 0) return Answer::cross;
        return ends < 0 && (least > 0 || most < 0) ? Answer::cross : Answer::touch;
    }
};

// Pairs (any, 2) of facets, ascending, the smaller number first. Left out: those that share a vertex, and two that are held.
template <int d>
inline std::vector<int32_t> crossing_facets(const Surfaces<d>& surfaces, const double* x) {
    const SurfaceParts<d> parts(Meeting::point_facet, surfaces);
    const std::vector<Box3> all = boxes_on_the_way<d>(parts, surfaces, x, nullptr, 0, 0);
    const std::vector<Box3> boxes(all.begin() + surfaces.point_count, all.end());
    const std::vector<double> normals = vertex_normals(surfaces, x);
    const auto number = [&](int32_t i) { return int64_t(i) + surfaces.point_count; };
    return box_pairs(boxes, [&](int32_t i, int32_t j) {
        if (parts.neighbours(number(i), number(j)) || (parts.held(number(i)) && parts.held(number(j)))) return false;
        return FacetsCross<d>(x, normals, surfaces.facets + d * int64_t(i), surfaces.facets + d * int64_t(j))();
    });
}

}  // namespace continua
