#include "../transfer/modes.hpp"
#include "arrays.hpp"
#include "transfer.hpp"

namespace continua {

template <class T>
void scatter_faces_arrays(nb::handle, nb::handle, const Order&, nb::handle, const Links&, int, int, bool, nb::handle, nb::handle);
template <class T>
nb::dict gather_faces_arrays(nb::handle, nb::handle, nb::handle, const Order&, nb::handle, const Links&, nb::handle, nb::handle,
                             nb::handle, int, int, double, double, uint64_t);

void bind_faces(nb::module_& m) {
    m.def(
        "scatter_faces",
        [](nb::object particles, nb::object lattice, const Order& order, nb::object plan, const Links& links, int dimension,
           int degree, bool add, nb::object momentum, nb::object mass) {
            auto* call = is_single(particles) ? &scatter_faces_arrays<float> : &scatter_faces_arrays<double>;
            call(particles, lattice, order, plan, links, dimension, degree, add, momentum, mass);
        },
        nb::arg("particles"), nb::arg("lattice"), nb::arg("order"), nb::arg("plan"), nb::arg("links"),
        nb::arg("dimension"), nb::arg("degree"), nb::arg("add"), nb::arg("momentum"), nb::arg("mass"));
    m.def(
        "gather_faces",
        [](nb::object particles, nb::object out, nb::object lattice, const Order& order, nb::object plan, const Links& links,
           nb::object velocity, nb::object change, nb::object shift, int dimension, int degree, double dt, double crowded,
           uint64_t seed) {
            auto* call = is_single(particles) ? &gather_faces_arrays<float> : &gather_faces_arrays<double>;
            return call(particles, out, lattice, order, plan, links, velocity, change, shift, dimension, degree, dt, crowded,
                        seed);
        },
        nb::arg("particles"), nb::arg("out"), nb::arg("lattice"), nb::arg("order"), nb::arg("plan"), nb::arg("links"),
        nb::arg("velocity"), nb::arg("change").none(), nb::arg("shift").none(), nb::arg("dimension"), nb::arg("degree"),
        nb::arg("dt"), nb::arg("crowded") = 0.0, nb::arg("seed") = 0);
}

}  // namespace continua
