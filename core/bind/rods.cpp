#include "../mesh/rods.hpp"

#include "arrays.hpp"

namespace continua {
namespace {

// Strands of discrete elastic rods. Arrays over points are (nodes, d) float64, d = 3.
class MeshRods {
  public:
    MeshRods(nb::object points, nb::object offsets, nb::object directors, double stretching, std::tuple<double, double> bending, double twisting)
        : nodes_(length(points, "points")), rods_(make(points, offsets, directors, {stretching, {std::get<0>(bending), std::get<1>(bending)}, twisting})) {}

    double energy(nb::object x) { return rods_.energy(nodes(x, "x")); }
    void gradient(nb::object x, nb::object out) { rods_.gradient(nodes(x, "x"), nodes(out, "out")); }
    void hessian(nb::object x, bool positive, nb::object out) { rods_.hessian(nodes(x, "x"), positive, values(out, "out")); }
    void product(nb::object hessian, nb::object dx, nb::object out) {
        const double *from = nodes(dx, "dx"), *matrix = values(hessian, "hessian");
        double* to = nodes(out, "out");
        if (from == to) throw std::invalid_argument("out: must not be dx");
        rods_.product(matrix, from, to);
    }
    void diagonal(nb::object hessian, nb::object out) { rods_.diagonal(values(hessian, "hessian"), nodes(out, "out")); }
    int64_t hessian_size() { return rods_.hessian_size(); }
    // Of the matrix of sections that cannot turn: first block of every row, and the column of every block.
    nb::tuple pattern() {
        std::vector<int64_t> first;
        std::vector<int32_t> columns;
        rods_.pattern(first, columns);
        const size_t n = first.size(), m = columns.size();
        return nb::make_tuple(owned_array(std::move(first), {n}), owned_array(std::move(columns), {m}));
    }
    void edge_blocks(nb::object hessian, nb::object own, nb::object before) {
        rods_.edge_blocks(values(hessian, "hessian"), rows(own, "own", 9), rows(before, "before", 9));
    }
    void angle_blocks(nb::object hessian, nb::object coupling, nb::object factors) {
        rods_.angle_blocks(values(hessian, "hessian"), rows(coupling, "coupling", 9), rows(factors, "factors", 2));
    }
    void factor(nb::object x, double weight, nb::object added, nb::object factors) {
        rods_.factor(nodes(x, "x"), weight, nodes(added, "added"), checked<float>(factors, "factors", {nodes_, Rods::kFactors}));
    }
    void solve(nb::object factors, nb::object r, nb::object out) {
        const double* from = nodes(r, "r");
        double* to = nodes(out, "out");
        if (from == to) throw std::invalid_argument("out: must not be r");
        rods_.solve(checked<float>(factors, "factors", {nodes_, Rods::kFactors}), from, to);
    }
    void accept(nb::object x) { rods_.accept(nodes(x, "x")); }
    void state(nb::object tangents, nb::object directors, nb::object twist) {
        rods_.state(nodes(tangents, "tangents"), nodes(directors, "directors"), numbers(twist, "twist"));
    }
    void set_state(nb::object tangents, nb::object directors, nb::object twist) {
        rods_.set_state(nodes(tangents, "tangents"), nodes(directors, "directors"), numbers(twist, "twist"));
    }
    void hold(nb::object edges, nb::object along, nb::object directors) {
        const int64_t count = length(edges, "edges");
        rods_.hold(checked<int32_t>(edges, "edges", {count}), count, checked<double>(along, "along", {count, 3}),
                   checked<double>(directors, "directors", {count, 3}));
    }
    void angles(nb::object x, nb::object out) { rods_.angles(nodes(x, "x"), numbers(out, "out")); }

  private:
    int64_t nodes_;
    Rods rods_;

    static Rods make(nb::object points, nb::object offsets, nb::object directors, RodSection section) {
        const int64_t nodes = length(points, "points"), strands = length(offsets, "offsets") - 1;
        const double* x = checked<double>(points, "points", {nodes, 3});
        const int32_t* first = checked<int32_t>(offsets, "offsets", {strands + 1});
        for (const double stiffness : {section.stretching, section.bending[0], section.bending[1], section.twisting})
            if (!(stiffness >= 0 && stiffness < std::numeric_limits<double>::infinity()))
                throw std::invalid_argument("stretching, bending, twisting: must be finite and at least 0");
        return Rods(x, nodes, first, strands, checked<double>(directors, "directors", {nodes, 3}), section);
    }
    double* rows(nb::handle object, const char* name, int64_t columns) { return checked<double>(object, name, {nodes_, columns}); }
    double* nodes(nb::handle object, const char* name) { return rows(object, name, 3); }
    double* numbers(nb::handle object, const char* name) { return checked<double>(object, name, {nodes_}); }
    double* values(nb::handle object, const char* name) { return checked<double>(object, name, {rods_.hessian_size()}); }
};

}  // namespace

void bind_rods(nb::module_& m) {
    nb::class_<MeshRods>(m, "MeshRods", "Discrete elastic rods, see continua.mesh.rods.")
        .def(nb::init<nb::object, nb::object, nb::object, double, std::tuple<double, double>, double>(), nb::arg("points"),
             nb::arg("offsets"), nb::arg("directors"), nb::arg("stretching"), nb::arg("bending"), nb::arg("twisting"))
        .def("energy", &MeshRods::energy, nb::arg("x"))
        .def("gradient", &MeshRods::gradient, nb::arg("x"), nb::arg("out"))
        .def("hessian", &MeshRods::hessian, nb::arg("x"), nb::arg("positive"), nb::arg("out"))
        .def("product", &MeshRods::product, nb::arg("hessian"), nb::arg("dx"), nb::arg("out"))
        .def("diagonal", &MeshRods::diagonal, nb::arg("hessian"), nb::arg("out"))
        .def("hessian_size", &MeshRods::hessian_size)
        .def("pattern", &MeshRods::pattern)
        .def("edge_blocks", &MeshRods::edge_blocks, nb::arg("hessian"), nb::arg("own"), nb::arg("before"))
        .def("angle_blocks", &MeshRods::angle_blocks, nb::arg("hessian"), nb::arg("coupling"), nb::arg("factors"))
        .def("factor", &MeshRods::factor, nb::arg("x"), nb::arg("weight"), nb::arg("added"), nb::arg("factors"))
        .def("solve", &MeshRods::solve, nb::arg("factors"), nb::arg("r"), nb::arg("out"))
        .def("accept", &MeshRods::accept, nb::arg("x"))
        .def("state", &MeshRods::state, nb::arg("tangents"), nb::arg("directors"), nb::arg("twist"))
        .def("set_state", &MeshRods::set_state, nb::arg("tangents"), nb::arg("directors"), nb::arg("twist"))
        .def("hold", &MeshRods::hold, nb::arg("edges"), nb::arg("along"), nb::arg("directors"))
        .def("angles", &MeshRods::angles, nb::arg("x"), nb::arg("out"));
}

}  // namespace continua
