// Rigid bodies: impulses at their points.
#include "../contact/rigid.hpp"

#include "arrays.hpp"

namespace continua {
namespace {

int64_t rigid_impulses(nb::object mobility_, nb::object twist_, nb::object arms_, nb::object normals_, nb::object velocities_,
                       nb::object targets_, nb::object frictions_, nb::object held_, nb::object impulses_, double tolerance,
                       int64_t sweeps) {
    const int64_t n = length(arms_, "arms");
    const double* W = checked<double>(mobility_, "mobility", {6, 6});
    double* twist = checked<double>(twist_, "twist", {6});
    const double *arms = checked<double>(arms_, "arms", {n, 3}), *normals = checked<double>(normals_, "normals", {n, 3});
    const double *velocities = checked<double>(velocities_, "velocities", {n, 3}), *targets = checked<double>(targets_, "targets", {n});
    const double* frictions = checked<double>(frictions_, "frictions", {n});
    const bool* held = checked<bool>(held_, "held", {n});
    double* impulses = checked<double>(impulses_, "impulses", {n, 3});
    if (!(tolerance >= 0)) throw std::invalid_argument("tolerance: must not be negative");
    if (sweeps < 0) throw std::invalid_argument("sweeps: must not be negative");
    std::vector<RigidPoint> points(static_cast<size_t>(n));
    for (int64_t k = 0; k < n; ++k) {
        RigidPoint& p = points[size_t(k)];
        p.arm = vector_at<3>(arms, k), p.normal = vector_at<3>(normals, k), p.velocity = vector_at<3>(velocities, k);
        p.target = targets[k], p.friction = frictions[k], p.held = held[k];
        prepare_point(p, W);
    }
    Twist q;
    std::copy_n(twist, 6, q.begin());
    const int64_t used = solve_points(points, q, impulses, tolerance, sweeps);
    std::copy_n(q.begin(), 6, twist);
    return used;
}

}  // namespace

void bind_rigid(nb::module_& m) {
    m.def("rigid_impulses", &rigid_impulses, nb::arg("mobility"), nb::arg("twist"), nb::arg("arms"), nb::arg("normals"),
          nb::arg("velocities"), nb::arg("targets"), nb::arg("frictions"), nb::arg("held"), nb::arg("impulses"),
          nb::arg("tolerance"), nb::arg("sweeps"));
}

}  // namespace continua
