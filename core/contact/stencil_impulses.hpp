// Impulses on the vertices of stencils that meet on the way, in sweeps, with the momentum of the step kept (M23 section 7).
//
// An impulse has a pattern q on the vertices of a stencil, and lam of it changes v_i by lam q_i / m_i. Patterns c n, with the
// weights c and the normal n of the meeting, keep linear momentum. The angular momentum of a step is sum x^n x m v^{n+1}, and
// about x^n the pattern has the torque g^n x n: that of the way g^n = sum c x^n, which is not along n unless n is that of the
// start of the step. Exact patterns are without their rigid part: the one of the motions of the free stencil, in the metric of
// its masses. They have no force and no torque about x^n, leave rigid motion of the stencil alone and never add energy. From
// iteration `stick_after` on, patterns are along g^n, which a meeting at constant speed has along its relative velocity: that
// removes all of it. The pattern c n itself is what Bridson et al. (2002) have; it is kept as `naive`.
// Stencils with held vertices exchange momentum with those who hold them: they have the plain pattern.
#pragma once

#include <utility>

#include "surface_pairs.hpp"

namespace continua {

template <int d>
struct ImpulseScene {
    const double* x;             // (vertices, d) at the start of the step [m]
    double dt;                   // [s]
    const double* inverse_mass;  // (vertices,) 0 where held [1/kg]
    const int32_t* part;         // (vertices,) body or obstacle
    const double* friction;      // (parts, parts) Coulomb coefficients
    int64_t parts;
    double gap;                  // to leave along the normal [m]
    bool exact;                  // patterns without rigid part
};

template <int d>
class Pattern {
  public:
    static constexpr int kSize = d + 1;
    Vector<d> q[kSize];
    double compliance = 0;  // sum |q|^2 / m
    double share = 1;       // of the compliance of the pattern with its rigid part

    // c n; x: seen from some place nearby; w: inverse masses. without_rigid: all w are positive.
    Pattern(const Vector<d + 1>& c, const Vector<d>& n, const Vector<d> (&x)[kSize], const double (&w)[kSize], bool without_rigid) {
        double most = 0;
        bool held = false;
        for (int k = 0; k < kSize; ++k) {
            q[k] = add_scaled<d>({}, c[size_t(k)], n);
            compliance += w[k] * dot(q[k], q[k]);
            most = std::max(most, w[k]), held |= w[k] == 0;
        }
        // The meeting is next to what is held: a vertex far from it must not be thrown away to move it a little.
        if (held) compliance = std::max(compliance, kLeastGrip * most);
        if (without_rigid) remove_rigid_part(x, w);
    }
    double speed(const Vector<d> (&v)[kSize]) const {
        double sum = 0;
        for (int k = 0; k < kSize; ++k) sum += dot(q[k], v[k]);
        return sum;
    }

  private:
    static constexpr double kLeastGrip = 0.01;
    static constexpr int kTurns = d == 2 ? 1 : 3;
    using Flat = std::array<double, size_t(d * (d + 1))>;

    // In y = q / sqrt(m) it is orthogonal to the rigid motions sqrt(m) (a + w x r). Orthonormal motions twice taken off leave
    // nothing but rounding, however thin the stencil is; one on a line has one turn less.
    void remove_rigid_part(const Vector<d> (&x)[kSize], const double (&w)[kSize]) {
        Vector<d> centre{};
        double whole = 0, root[kSize];
        for (int k = 0; k < kSize; ++k) centre = add_scaled<d>(centre, 1 / w[k], x[k]), whole += 1 / w[k], root[k] = std::sqrt(1 / w[k]);
        for (double& component : centre) component /= whole;
        Flat motions[d + kTurns] = {}, y;
        for (int k = 0; k < kSize; ++k) {
            const Vector<d> r = add_scaled<d>(x[k], -1, centre);
            for (int a = 0; a < d; ++a) y[size_t(k * d + a)] = q[k][a] / root[k], motions[a][size_t(k * d + a)] = root[k];
            for (int t = 0; t < kTurns; ++t) {
                const int i = d == 2 ? 0 : (t + 1) % 3, j = d == 2 ? 1 : (t + 2) % 3;
                motions[d + t][size_t(k * d + i)] = -root[k] * r[j], motions[d + t][size_t(k * d + j)] = root[k] * r[i];
            }
        }
        for (int t = 0; t < d + kTurns; ++t) {
            const double before = norm(motions[t]);
            for (int again = 0; again < 2; ++again)
                for (int s = 0; s < t; ++s) take_off(motions[t], motions[s]);
            const double size = norm(motions[t]);
            for (double& component : motions[t]) component = size > 1e-14 * before ? component / size : 0;
            if (t < d) continue;
            for (int s = 0; s < t; ++s) take_off(motions[t], motions[s]);  // rounding of a thin one has become large
        }
        for (int again = 0; again < 2; ++again)
            for (const Flat& motion : motions) take_off(y, motion);
        const double left = dot(y, y);
        share = compliance > 0 ? left / compliance : 0;
        compliance = left;
        for (int k = 0; k < kSize; ++k)
            for (int a = 0; a < d; ++a) q[k][a] = y[size_t(k * d + a)] * root[k];
    }
    static void take_off(Flat& y, const Flat& unit) {
        const double part = dot(y, unit);
        for (size_t k = 0; k < y.size(); ++k) y[k] -= part * unit[k];
    }
};

// The vertices of one stencil while an impulse acts on it.
template <int d>
class StencilImpulse {
  public:
    static constexpr int kSize = d + 1;

    StencilImpulse(const ImpulseScene<d>& scene, const int32_t* nodes, double* v, double* impulse)
        : scene_(scene), nodes_(nodes), v_(v), impulse_(impulse) {
        for (int k = 0; k < kSize; ++k) {
            x_[k] = add_scaled<d>(vector_at<d>(scene.x, nodes[k]), -1, vector_at<d>(scene.x, nodes[0]));
            w_[k] = scene.inverse_mass[nodes[k]];
            free_ &= w_[k] > 0;
        }
        read();
    }
    // At a meeting with weights c and normal n. Whether it acted.
    bool meet(const Vector<d + 1>& c, Vector<d> n, bool stick) {
        const Vector<d> way = Stencil<d>::weighted(c, x_), u = Stencil<d>::weighted(c, now_);
        if (stick && !(norm(u) > 0)) return false;
        if (stick) n = dot(way, u) < 0 ? unit(way) : add_scaled<d>({}, -1, unit(u));
        const Pattern<d> pattern(c, n, x_, w_, scene_.exact && free_);
        if (!(pattern.compliance > 0) || pattern.share < 1e-20) return false;
        // To make room it parts a little more slowly than it came, so that energy never grows; what is nearly rigid does not.
        const double speed = pattern.speed(now_), room = std::max(0.0, (scene_.gap - dot(n, way)) / scene_.dt);
        const double target = pattern.share < 0.01 ? 0 : std::min(room, -kBounce * speed);
        const double lam = (target - speed) / pattern.compliance;
        if (!(lam > 0)) return false;
        apply(pattern, lam);
        if (!stick) rub(c, n, lam);
        return true;
    }
    // Pairs closer than `thickness` at the start are pushed apart by a spring, as long as they do not part at a tenth of
    // their overlap per step (Bridson et al. 2002, 7.2). Along the way itself there is no torque.
    bool push(const Vector<d + 1>& c, double thickness, double stiffness) {
        const Vector<d> way = Stencil<d>::weighted(c, x_);
        const double distance = norm(way), overlap = thickness - distance;
        if (!(distance > 0) || !(overlap > 0)) return false;
        const Vector<d> n = unit(way);
        const Pattern<d> pattern(c, n, x_, w_, false);
        const double wanted = 0.1 * overlap / scene_.dt - pattern.speed(now_);
        if (!(wanted > 0) || !(pattern.compliance > 0)) return false;
        const double lam = std::min(scene_.dt * stiffness * overlap, wanted / pattern.compliance);
        apply(pattern, lam);
        rub(c, n, lam);
        return true;
    }

  private:
    static constexpr double kBounce = 0.2;  // of the approach, at most
    const ImpulseScene<d>& scene_;
    const int32_t* nodes_;
    double *v_, *impulse_;
    Vector<d> x_[kSize], now_[kSize];  // seen from the first vertex
    double w_[kSize];
    bool free_ = true;

    static Vector<d> unit(const Vector<d>& vector) { return add_scaled<d>({}, 1 / norm(vector), vector); }
    void read() {
        for (int k = 0; k < kSize; ++k) now_[k] = add_scaled<d>(vector_at<d>(v_, nodes_[k]), -1, vector_at<d>(v_, nodes_[0]));
    }
    void apply(const Pattern<d>& pattern, double lam) {
        for (int k = 0; k < kSize; ++k)
            for (int a = 0; a < d; ++a) {
                impulse_[int64_t(nodes_[k]) * d + a] += lam * pattern.q[k][a];
                v_[int64_t(nodes_[k]) * d + a] += lam * w_[k] * pattern.q[k][a];
            }
        read();
    }
    // Coulomb friction of the impulse lam along n: at most what stops the slip, seen by the pattern and as it is.
    void rub(const Vector<d + 1>& c, const Vector<d>& n, double lam) {
        const double mu = scene_.friction[int64_t(scene_.part[nodes_[0]]) * scene_.parts + scene_.part[nodes_[d]]];
        const Vector<d> u = Stencil<d>::weighted(c, now_), slip = add_scaled<d>(u, -dot(u, n), n);
        const double speed = norm(slip);
        if (!(mu > 0) || !(speed > 0)) return;
        const Pattern<d> pattern(c, add_scaled<d>({}, -1 / speed, slip), x_, w_, scene_.exact && free_);
        if (!(pattern.compliance > 0) || pattern.share < 1e-20) return;
        const double most = std::min(speed, -pattern.speed(now_)) / pattern.compliance;
        if (most > 0) apply(pattern, std::min(mu * lam, most));
    }
};

// Over stencils (any, d + 1): those that meet on the way to x + dt v when the sweep begins are taken by their times, each with
// the latest velocities. What stops first often lets the rest pass: a corner that slides is carried by the facet below it before
// the next vertex of that surface could catch it. Their vertices are marked as changed. The number of these stencils.
template <int d>
inline int64_t impulse_sweep(const ImpulseScene<d>& scene, Meeting kind, const std::vector<int32_t>& stencils,
                             const std::vector<double>& normals, bool stick, double* v, double* impulse, uint8_t* changed) {
    constexpr int kSize = d + 1;
    const int64_t count = int64_t(stencils.size()) / kSize;
    const auto meeting = [&](int64_t i) {
        const int32_t* nodes = stencils.data() + i * kSize;
        return FirstMeeting<d>(Stencil<d>(kind, scene.x, v, scene.dt, nodes), outward_side<d>(kind, nodes, normals));
    };
    constexpr double kNever = 2;
    std::vector<double> times(static_cast<size_t>(count), kNever);
#pragma omp parallel for schedule(static) num_threads(team(count, 512))
    for (int64_t i = 0; i < count; ++i)
        if (const auto first = meeting(i); first.found) times[size_t(i)] = first.t;
    std::vector<std::pair<double, int64_t>> struck;
    for (int64_t i = 0; i < count; ++i)
        if (times[size_t(i)] < kNever) struck.emplace_back(times[size_t(i)], i);
    std::sort(struck.begin(), struck.end());
    for (const auto& [time, i] : struck) {
        const int32_t* nodes = stencils.data() + i * kSize;
        for (int k = 0; k < kSize; ++k) changed[nodes[k]] = 1;
        if (const auto now = meeting(i); now.found) StencilImpulse<d>(scene, nodes, v, impulse).meet(now.weights, now.normal, stick);
    }
    return int64_t(struck.size());
}

struct CollisionCount {
    int64_t hits = 0, iterations = 0;
    bool clean = false;  // the last look found no stencil that meets
};

// Iterations of two sweeps, points with facets and then edges with edges, until nothing meets on the way. Only stencils with a
// vertex that has changed since the last search are searched for and tested again.
template <int d>
inline CollisionCount resolve_collisions(const ImpulseScene<d>& scene, const Surfaces<d>& surfaces, int64_t most, int64_t stick_after,
                                         double* v, double* impulse) {
    CollisionCount done;
    const std::vector<double> normals = vertex_normals(surfaces, scene.x);
    std::vector<uint8_t> changed(size_t(surfaces.vertices), 1);
    for (; done.iterations < most; ++done.iterations) {
        const uint8_t* only = done.iterations ? changed.data() : nullptr;
        constexpr Meeting kinds[2] = {Meeting::point_facet, Meeting::edge_edge};
        std::vector<int32_t> stencils[2];
        for (int k = 0; k < d - 1; ++k) stencils[k] = stencils_on_the_way(kinds[k], surfaces, scene.x, v, scene.dt, 0, only);
        std::fill(changed.begin(), changed.end(), uint8_t(0));
        const bool stick = scene.exact && done.iterations >= stick_after;
        int64_t hits = 0;
        for (int k = 0; k < d - 1; ++k)
            hits += impulse_sweep(scene, kinds[k], stencils[k], normals, stick, v, impulse, changed.data());
        done.hits += hits;
        if (hits == 0) {
            done.clean = true;
            break;
        }
    }
    return done;
}

}  // namespace continua
