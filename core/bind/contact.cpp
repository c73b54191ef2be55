#include "../contact/push_out.hpp"
#include "colliders.hpp"

namespace continua {
namespace {

int64_t particles_contact(nb::object particles_, const Order& order_, nb::object lattice_, int dimension, double depth,
                          double travel, nb::object table, std::vector<nb::object> samples, nb::object impulses_) {
    return dispatch(particles_.attr("x"), "particles.x", dimension, [&]<class T, int d>() {
        const Particles<T> particles = particles_of<T, d>(particles_, "particles");
        const Blocks blocks = blocks_of(order_, particles.count);
        const std::vector<Collider> colliders = colliders_of(table, samples);
        double* impulses = checked<double>(impulses_, "impulses", {int64_t(colliders.size()), 3});
        const Lattice<T, d> lattice = lattice_of<T, d>(lattice_);
        nb::gil_scoped_release release;
        return push_out<T, d>(particles, blocks, lattice, depth, travel, colliders, impulses);
    });
}

// Signed distance and outward normal of one collider at points (n, 3).
void collider_surface(nb::object table, std::vector<nb::object> samples, nb::object points_, nb::object phi_, nb::object normal_) {
    const int64_t n = length(points_, "points");
    const double* points = checked<double>(points_, "points", {n, 3});
    double *phi = checked<double>(phi_, "phi", {n}), *normal = checked<double>(normal_, "normal", {n, 3});
    const std::vector<Collider> colliders = colliders_of(table, samples);
    if (colliders.size() != 1) throw std::invalid_argument("table: exactly one collider expected");
    for (int64_t i = 0; i < n; ++i) {
        const SurfaceDistance s = colliders[0].evaluate({points[3 * i], points[3 * i + 1], points[3 * i + 2]});
        phi[i] = s.phi;
        for (int a = 0; a < 3; ++a) normal[3 * i + a] = s.normal[a];
    }
}

}  // namespace

void bind_contact(nb::module_& m) {
    m.attr("collider_columns") = Collider::kColumns;
    m.def("push_out", &particles_contact, nb::arg("particles"), nb::arg("order"), nb::arg("lattice"), nb::arg("dimension"),
          nb::arg("depth"), nb::arg("travel"), nb::arg("table"), nb::arg("samples"), nb::arg("impulses"));
    m.def("collider_surface", &collider_surface, nb::arg("table"), nb::arg("samples"), nb::arg("points"), nb::arg("phi"),
          nb::arg("normal"));
}

}  // namespace continua
