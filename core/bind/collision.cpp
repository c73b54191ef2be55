#include <cmath>
#include <memory>
#include <variant>

#include "../mesh/collision.hpp"
#include "../mesh/collision_pairs.hpp"

#include "arrays.hpp"

namespace continua {
namespace {

// Kernel<2> or Kernel<3>, after the number of columns of the positions.
template <template <int> class Kernel>
class ByDimension {
  protected:
    std::variant<std::unique_ptr<Kernel<2>>, std::unique_ptr<Kernel<3>>> kernel_;

    template <class Make>
    void choose(nb::handle points, const char* name, Make&& make) {
        switch (length(points, name, 1)) {
            case 2: kernel_ = make.template operator()<2>(); break;
            case 3: kernel_ = make.template operator()<3>(); break;
            default: throw std::invalid_argument(std::string(name) + ": must have 2 or 3 columns");
        }
    }
    template <class Function>
    auto visit(Function&& f) const {
        return std::visit([&](auto& kernel) { return f(*kernel); }, kernel_);
    }
    template <int d>
    static double* nodes(const Kernel<d>& kernel, nb::handle object, const char* name) {
        return checked<double>(object, name, {kernel.nodes(), d});
    }
};

// Rows of vertices that exist.
const int32_t* vertex_rows(nb::handle object, const char* name, int64_t columns, int64_t nodes) {
    const int64_t count = length(object, name);
    const int32_t* rows = checked<int32_t>(object, name, {count, columns});
    for (int64_t i = 0; i < count * columns; ++i)
        if (rows[i] < 0 || rows[i] >= nodes)
            throw std::invalid_argument(std::string(name) + ": row " + std::to_string(i / columns) + " names point " +
                                        std::to_string(rows[i]) + ", but points are numbered from 0 to " +
                                        std::to_string(nodes - 1));
    return rows;
}

class Detector : ByDimension<CollisionDetector> {
  public:
    Detector(nb::object rest, nb::object cells, nb::object facets, bool own_body) {
        choose(rest, "rest", [&]<int d>() {
            const int64_t nodes = length(rest, "rest");
            const double* x = checked<double>(rest, "rest", {nodes, d});
            const int64_t cell_count = length(cells, "cells"), facet_count = length(facets, "facets");
            const int32_t *c = vertex_rows(cells, "cells", d + 1, nodes), *f = vertex_rows(facets, "facets", d, nodes);
            if (cell_count < 1 || facet_count < 1) throw std::invalid_argument("a mesh needs cells and facets");
            if (nodes > INT32_MAX || cell_count > INT32_MAX || facet_count > INT32_MAX)
                throw std::invalid_argument("the mesh is too large for 32-bit indices");
            return std::make_unique<CollisionDetector<d>>(x, nodes, c, cell_count, f, facet_count, own_body);
        });
    }
    nb::object find(nb::object x) {
        return visit([&]<int d>(CollisionDetector<d>& kernel) {
            std::vector<int32_t> pairs = kernel.find(nodes(kernel, x, "x"));
            const size_t count = pairs.size() / (d + 1);
            return owned_array(std::move(pairs), {count, d + 1});
        });
    }
};

class Pairs : ByDimension<CollisionPairs> {
  public:
    Pairs(nb::object x, nb::object pairs, double stiffness, double epsilon) {
        if (!(stiffness >= 0 && std::isfinite(stiffness)))
            throw std::invalid_argument("stiffness: must be finite and not negative");
        if (!(epsilon > 0 && std::isfinite(epsilon))) throw std::invalid_argument("epsilon: must be positive");
        choose(x, "x", [&]<int d>() {
            const int64_t nodes = length(x, "x"), count = length(pairs, "pairs");
            return std::make_unique<CollisionPairs<d>>(checked<double>(x, "x", {nodes, d}), nodes,
                                                       vertex_rows(pairs, "pairs", d + 1, nodes), count, stiffness,
                                                       epsilon);
        });
    }
    double energy() const {
        return visit([](auto& kernel) { return kernel.energy(); });
    }
    void gradient(nb::object out) {
        visit([&](auto& kernel) { kernel.gradient(nodes(kernel, out, "out")); });
    }
    void product(nb::object dx, nb::object out) {
        visit([&](auto& kernel) {
            const double* from = nodes(kernel, dx, "dx");
            double* to = nodes(kernel, out, "out");
            if (from == to) throw std::invalid_argument("out: must not be dx");
            kernel.product(from, to);
        });
    }
    void diagonal(nb::object out) {
        visit([&](auto& kernel) { kernel.diagonal(nodes(kernel, out, "out")); });
    }
    // Weights (pairs, d + 1) and vectors to the closest point (pairs, d).
    nb::tuple geometry() const {
        return visit([]<int d>(CollisionPairs<d>& kernel) {
            std::vector<double> weights, ways;
            const size_t count = kernel.all().size();
            for (const auto& pair : kernel.all()) {
                weights.insert(weights.end(), pair.w, pair.w + d + 1);
                ways.insert(ways.end(), pair.r.begin(), pair.r.end());
            }
            return nb::make_tuple(owned_array(std::move(weights), {count, d + 1}),
                                  owned_array(std::move(ways), {count, d}));
        });
    }
};

}  // namespace

void bind_collision(nb::module_& m) {
    nb::class_<Detector>(m, "CollisionDetector", "Finds nodes inside a mesh, see continua.mesh.collision.")
        .def(nb::init<nb::object, nb::object, nb::object, bool>(), nb::arg("rest"), nb::arg("cells"), nb::arg("facets"),
             nb::arg("own_body"))
        .def("find", &Detector::find, nb::arg("x"));
    nb::class_<Pairs>(m, "CollisionPairs", "Points below facets, see continua.mesh.collision.")
        .def(nb::init<nb::object, nb::object, double, double>(), nb::arg("x"), nb::arg("pairs"), nb::arg("stiffness"),
             nb::arg("epsilon"))
        .def("energy", &Pairs::energy)
        .def("gradient", &Pairs::gradient, nb::arg("out"))
        .def("product", &Pairs::product, nb::arg("dx"), nb::arg("out"))
        .def("diagonal", &Pairs::diagonal, nb::arg("out"))
        .def("geometry", &Pairs::geometry);
}

}  // namespace continua
