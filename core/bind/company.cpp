#include "../contact/company.hpp"

#include "arrays.hpp"

namespace continua {
namespace {

void collision_company(nb::object x_, nb::object normals_, nb::object bodies_, nb::object lattice, int degree,
                       double facing, nb::object out_) {
    if (degree < 1 || degree > 3) throw std::invalid_argument("degree: must be 1, 2 or 3");
    if (!(facing >= -1 && facing <= 1)) throw std::invalid_argument("facing: must lie between -1 and 1");
    const int64_t count = length(x_, "x"), dimension = length(x_, "x", 1);
    if (dimension != 2 && dimension != 3) throw std::invalid_argument("x: must have 2 or 3 columns");
    const double *x = checked<double>(x_, "x", {count, dimension}),
                 *normals = checked<double>(normals_, "normals", {count, dimension});
    const int32_t* bodies = checked<int32_t>(bodies_, "bodies", {count});
    uint8_t* out = checked<uint8_t>(out_, "out", {count});
    const double dx = nb::cast<double>(lattice.attr("dx"));
    if (!(dx > 0)) throw std::invalid_argument("lattice.dx: must be positive");
    const double* origin = checked<double>(lattice.attr("origin"), "lattice.origin", {dimension});
    const int32_t* blocks = checked<int32_t>(lattice.attr("period"), "lattice.period", {dimension});
    int64_t period[3] = {};
    for (int64_t a = 0; a < dimension; ++a) period[a] = int64_t(kSide) * blocks[a];
    for (int64_t i = 0; i < count * dimension; ++i)
        if (!(std::fabs((x[i] - origin[i % dimension]) / dx) < 1e15))
            throw std::invalid_argument("x: must be finite and within reach of the lattice");
    nb::gil_scoped_release release;
    if (dimension == 2)
        Company<2>(x, normals, bodies, count, dx, origin, period, degree, facing).find(out);
    else
        Company<3>(x, normals, bodies, count, dx, origin, period, degree, facing).find(out);
}

}  // namespace

void bind_company(nb::module_& m) {
    using nb::arg;
    m.def("collision_company", &collision_company, arg("x"), arg("normals"), arg("bodies"), arg("lattice"), arg("degree"),
          arg("facing"), arg("out"), "Which points share nodes with those of other bodies, or with such that face them.");
}

}  // namespace continua
