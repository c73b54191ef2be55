#include "../mesh/on_grid.hpp"

#include <memory>
#include <variant>

#include "arrays.hpp"

namespace continua {
namespace {

class Coupling {
  public:
    Coupling(nb::object at_, nb::object weight, nb::object first, nb::object column, nb::object values, nb::object x,
             nb::object inverse, nb::object mass) {
        const int64_t points = length(x, "x"), d = length(x, "x", 1), reach = length(at_, "at", 1);
        nodes_ = length(inverse, "inverse");
        const GridWeights on{checked<int64_t>(at_, "at", {points, reach}),
                             checked<double>(weight, "weight", {points, reach}), points, reach, nodes_};
        for (int64_t k = 0; k < points * reach; ++k)
            if (on.at[k] >= nodes_) throw std::invalid_argument("at: there is no such node");
        const double *inv = checked<double>(inverse, "inverse", {nodes_, 3}), *m = checked<double>(mass, "mass", {points});
        auto make = [&]<int dim>() {
            const PointStiffness<dim> k = stiffness<dim>(first, column, values, points);
            kernel_ = std::make_unique<MeshOnGrid<dim>>(on, k, checked<double>(x, "x", {points, dim}), inv, m);
        };
        if (d == 2)
            make.template operator()<2>();
        else if (d == 3)
            make.template operator()<3>();
        else
            throw std::invalid_argument("x: must have 2 or 3 columns");
        points_ = points;
    }
    double work() const {
        return std::visit([](auto& kernel) { return kernel->work(); }, kernel_);
    }
    void factorise(nb::object first, nb::object column, nb::object values) {
        std::visit([&]<int d>(std::unique_ptr<MeshOnGrid<d>>& kernel) {
            kernel->factorise(stiffness<d>(first, column, values, points_));
        }, kernel_);
    }
    void apply(nb::object r, nb::object out) {
        const double* from = checked<double>(r, "r", {nodes_, 3});
        double* to = checked<double>(out, "out", {nodes_, 3});
        if (from == to) throw std::invalid_argument("out: must not be r");
        std::visit([&](auto& kernel) { kernel->apply(from, to); }, kernel_);
    }

  private:
    std::variant<std::unique_ptr<MeshOnGrid<2>>, std::unique_ptr<MeshOnGrid<3>>> kernel_;
    int64_t points_ = 0, nodes_ = 0;

    template <int d>
    static PointStiffness<d> stiffness(nb::handle first, nb::handle column, nb::handle values, int64_t points) {
        const int64_t blocks = length(column, "column");
        const PointStiffness<d> k{checked<int64_t>(first, "first", {points + 1}),
                                  checked<int32_t>(column, "column", {blocks}),
                                  checked<double>(values, "values", {blocks, d, d})};
        if (k.first[0] != 0 || k.first[points] != blocks || !std::is_sorted(k.first, k.first + points + 1))
            throw std::invalid_argument("first: must count the blocks of the rows");
        for (int64_t i = 0; i < blocks; ++i)
            if (k.column[i] < 0 || k.column[i] >= points) throw std::invalid_argument("column: there is no such point");
        return k;
    }
};

}  // namespace

void bind_mesh_on_grid(nb::module_& m) {
    using nb::arg;
    nb::class_<Coupling>(m, "MeshOnGrid", "Inverse of D + W^T K W, for meshes whose points move with nodes of a grid.")
        .def(nb::init<nb::object, nb::object, nb::object, nb::object, nb::object, nb::object, nb::object, nb::object>(),
             arg("at"), arg("weight"), arg("first"), arg("column"), arg("values"), arg("x"), arg("inverse"), arg("mass"))
        .def("work", &Coupling::work, "Multiplications that factorise takes.")
        .def("factorise", &Coupling::factorise, arg("first"), arg("column"), arg("values"))
        .def("apply", &Coupling::apply, arg("r"), arg("out"));
}

}  // namespace continua
