#include <memory>
#include <variant>

#include "../mesh/elements.hpp"
#include "../mesh/springs.hpp"

#include "arrays.hpp"

namespace continua {
namespace {

// An energy of the node positions of a mesh, Kernel<2> or Kernel<3>. Arrays over nodes are (nodes, d) float64.
template <template <int> class Kernel>
class MeshEnergy {
  public:
    double energy(nb::object x) {
        return visit([&]<int d>(Kernel<d>& kernel) { return kernel.energy(nodes(kernel, x, "x")); });
    }
    void gradient(nb::object x, nb::object out) {
        visit([&]<int d>(Kernel<d>& kernel) { kernel.gradient(nodes(kernel, x, "x"), nodes(kernel, out, "out")); });
    }
    void hessian(nb::object x, bool positive, nb::object out) {
        visit([&]<int d>(Kernel<d>& kernel) {
            kernel.hessian(nodes(kernel, x, "x"), positive, values(kernel, out, "out"));
        });
    }
    void product(nb::object hessian, nb::object dx, nb::object out) {
        visit([&]<int d>(Kernel<d>& kernel) {
            const double *from = nodes(kernel, dx, "dx"), *matrix = values(kernel, hessian, "hessian");
            double* to = nodes(kernel, out, "out");
            if (from == to) throw std::invalid_argument("out: must not be dx");
            kernel.matrix().product(matrix, from, to);
        });
    }
    void diagonal(nb::object hessian, nb::object out) {
        visit([&]<int d>(Kernel<d>& kernel) {
            kernel.matrix().diagonal(values(kernel, hessian, "hessian"), nodes(kernel, out, "out"));
        });
    }
    // Numbers of a Hessian, and its pattern: first block of every row, column of every block.
    int64_t hessian_size() {
        return visit([&]<int d>(Kernel<d>& kernel) { return kernel.matrix().size(); });
    }
    nb::tuple pattern() {
        return visit([&]<int d>(Kernel<d>& kernel) {
            std::vector<int64_t> rows = kernel.matrix().rows();
            std::vector<int32_t> columns = kernel.matrix().columns();
            const size_t n = rows.size(), m = columns.size();
            return nb::make_tuple(owned_array(std::move(rows), {n}), owned_array(std::move(columns), {m}));
        });
    }

  protected:
    template <class Function>
    auto visit(Function&& f) {
        return std::visit([&](auto& kernel) { return f(*kernel); }, kernel_);
    }
    template <int d>
    static double* nodes(const Kernel<d>& kernel, nb::handle object, const char* name) {
        return checked<double>(object, name, {kernel.cells().nodes(), d});
    }
    template <int d>
    static double* values(Kernel<d>& kernel, nb::handle object, const char* name) {
        return checked<double>(object, name, {kernel.matrix().size()});
    }
    template <int d>
    static double* rows(const Kernel<d>& kernel, nb::handle object, const char* name, int64_t number) {
        return checked<double>(object, name, {number, kernel.cells().count()});
    }
    std::variant<std::unique_ptr<Kernel<2>>, std::unique_ptr<Kernel<3>>> kernel_;
};

template <class Function>
void with_dimension(int64_t dimension, const char* name, Function&& f) {
    if (dimension == 2)
        f.template operator()<2>();
    else if (dimension == 3)
        f.template operator()<3>();
    else
        throw std::invalid_argument(std::string(name) + ": must have 2 or 3 columns");
}

class MeshElements : public MeshEnergy<Elements> {
  public:
    MeshElements(nb::object points, nb::object cells, const std::string& material, nb::object parameters,
                 nb::object state) {
        with_dimension(length(points, "points", 1), "points", [&]<int d>() {
            const int64_t nodes = length(points, "points"), count = length(cells, "cells");
            parameters_ = int(length(parameters, "parameters"));
            states_ = int(length(state, "state"));
            kernel_ = std::make_unique<Elements<d>>(checked<double>(points, "points", {nodes, d}), nodes,
                                                    checked<int32_t>(cells, "cells", {count, d + 1}), count,
                                                    functions<d>(material));
        });
        set_parameters(parameters);
        set_state(state);
    }
    void set_parameters(nb::object values) {
        visit([&]<int d>(Elements<d>& kernel) {
            kernel.set_parameters(rows(kernel, values, "parameters", parameters_), parameters_);
        });
    }
    void set_state(nb::object values) {
        visit([&]<int d>(Elements<d>& kernel) { kernel.set_state(rows(kernel, values, "state", states_), states_); });
    }
    void state(nb::object out) {
        visit([&]<int d>(Elements<d>& kernel) { kernel.state(rows(kernel, out, "out", states_)); });
    }
    void set_inverse_edges(nb::object values) {
        visit([&]<int d>(Elements<d>& kernel) {
            kernel.set_inverse_edges(rows(kernel, values, "inverse_edges", d * d));
        });
    }
    void inverse_edges(nb::object out) {
        visit([&]<int d>(Elements<d>& kernel) { kernel.inverse_edges(rows(kernel, out, "out", d * d)); });
    }
    void volumes(nb::object out) {
        visit([&]<int d>(Elements<d>& kernel) { kernel.volumes(rows(kernel, out, "out", 1)); });
    }
    void deformation(nb::object x, nb::object out) {
        visit([&]<int d>(Elements<d>& kernel) {
            kernel.deformation(nodes(kernel, x, "x"), rows(kernel, out, "out", d * d));
        });
    }
    void damping(nb::object x, bool green, nb::object out) {
        visit([&]<int d>(Elements<d>& kernel) {
            kernel.damping(nodes(kernel, x, "x"), green, values(kernel, out, "out"));
        });
    }
    void flow(nb::object x, nb::object v, double dt) {
        if (!(dt >= 0)) throw std::invalid_argument("dt: must not be negative");
        visit([&]<int d>(Elements<d>& kernel) { kernel.flow(nodes(kernel, x, "x"), nodes(kernel, v, "v"), dt); });
    }

  private:
    int parameters_ = 0, states_ = 0;

    template <int d>
    BatchFunctions<double, d> functions(const std::string& material) const {
        Particles<double> counts{};
        Parameters<double> parameters{};
        counts.states = states_;
        parameters.count = parameters_;
        BatchFunctions<double, d> found;
        if (!batch_functions<double, d>(material, counts, parameters, found))
            throw std::invalid_argument("material: a name is needed");
        return found;
    }
};

class MeshSprings : public MeshEnergy<Springs> {
  public:
    MeshSprings(int64_t nodes, int dimension, nb::object ends, nb::object stiffness, nb::object length_) {
        if (nodes < 1) throw std::invalid_argument("nodes: there are none");
        with_dimension(dimension, "dimension", [&]<int d>() {
            const int64_t count = length(ends, "ends");
            kernel_ = std::make_unique<Springs<d>>(nodes, checked<int32_t>(ends, "ends", {count, 2}), count,
                                                   checked<double>(stiffness, "stiffness", {count}),
                                                   checked<double>(length_, "length", {count}));
        });
    }
};

template <class Kernel>
void bind_energy(nb::class_<Kernel>& bound) {
    bound.def("energy", &Kernel::energy, nb::arg("x"))
        .def("gradient", &Kernel::gradient, nb::arg("x"), nb::arg("out"))
        .def("hessian", &Kernel::hessian, nb::arg("x"), nb::arg("positive"), nb::arg("out"))
        .def("product", &Kernel::product, nb::arg("hessian"), nb::arg("dx"), nb::arg("out"))
        .def("diagonal", &Kernel::diagonal, nb::arg("hessian"), nb::arg("out"))
        .def("hessian_size", &Kernel::hessian_size)
        .def("pattern", &Kernel::pattern);
}

}  // namespace

void bind_mesh(nb::module_& m) {
    nb::class_<MeshElements> elements(m, "MeshElements", "Linear finite elements, see continua.mesh.elements.");
    elements.def(nb::init<nb::object, nb::object, const std::string&, nb::object, nb::object>(), nb::arg("points"),
                 nb::arg("cells"), nb::arg("material"), nb::arg("parameters"), nb::arg("state"));
    bind_energy(elements);
    elements.def("set_parameters", &MeshElements::set_parameters, nb::arg("values"))
        .def("set_state", &MeshElements::set_state, nb::arg("values"))
        .def("state", &MeshElements::state, nb::arg("out"))
        .def("set_inverse_edges", &MeshElements::set_inverse_edges, nb::arg("values"))
        .def("inverse_edges", &MeshElements::inverse_edges, nb::arg("out"))
        .def("volumes", &MeshElements::volumes, nb::arg("out"))
        .def("deformation", &MeshElements::deformation, nb::arg("x"), nb::arg("out"))
        .def("damping", &MeshElements::damping, nb::arg("x"), nb::arg("green"), nb::arg("out"))
        .def("flow", &MeshElements::flow, nb::arg("x"), nb::arg("v"), nb::arg("dt"));
    nb::class_<MeshSprings> springs(m, "MeshSprings", "Springs between nodes, see continua.mesh.springs.");
    springs.def(nb::init<int64_t, int, nb::object, nb::object, nb::object>(), nb::arg("nodes"), nb::arg("dimension"),
                nb::arg("ends"), nb::arg("stiffness"), nb::arg("length"));
    bind_energy(springs);
}

}  // namespace continua
