#include "../optimize/vectors.hpp"

#include "arrays.hpp"

namespace continua {
namespace {

using Vector = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

int64_t common_length(const Vector& a, const Vector& b) {
    if (a.size() != b.size()) throw std::invalid_argument("vectors: must be of one length");
    return int64_t(a.size());
}
// An array of doubles that is changed in place, of any shape.
double* changed(nb::handle object, const std::string& name, int64_t numbers) {
    const AnyArray array = as_array(object, name);
    if (array.dtype() != nb::dtype<double>()) throw std::invalid_argument(name + ": wrong number type");
    if (int64_t(array.size()) != numbers) throw std::invalid_argument(name + ": wrong length");
    return static_cast<double*>(array.data());
}

// f<T>(nodes) for a node array of floats or doubles, with places `at` that exist.
template <class Function>
void at_nodes(nb::handle nodes, nb::handle at_, Function&& f) {
    const int64_t count = length(at_, "at");
    const int64_t* at = checked<int64_t>(at_, "at", {count});
    const int64_t blocks = length(nodes, "nodes"), per_block = length(nodes, "nodes", 1);
    for (int64_t k = 0; k < count; ++k)
        if (at[k] < 0 || at[k] >= blocks * per_block) throw std::invalid_argument("at: there is no such node");
    if (as_array(nodes, "nodes").dtype() == nb::dtype<float>())
        f(checked<float>(nodes, "nodes", {blocks, per_block, 4}), at, count);
    else
        f(checked<double>(nodes, "nodes", {blocks, per_block, 4}), at, count);
}

void write_nodes(nb::object x, nb::object at_, nb::object nodes_) {
    at_nodes(nodes_, at_, [&]<class T>(T* nodes, const int64_t* at, int64_t count) {
        to_nodes(checked<double>(x, "x", {count, 3}), at, count, nodes);
    });
}
void read_nodes(nb::object nodes_, nb::object at_, double factor, nb::object mass, nb::object x, nb::object out) {
    at_nodes(nodes_, at_, [&]<class T>(const T* nodes, const int64_t* at, int64_t count) {
        from_nodes(nodes, at, count, factor, checked<double>(mass, "mass", {count, 1}),
                   checked<double>(x, "x", {count, 3}), checked<double>(out, "out", {count, 3}));
    });
}

}  // namespace

void bind_vectors(nb::module_& m) {
    using nb::arg;
    m.def(
        "dot", [](const Vector& a, const Vector& b) { return dot(a.data(), b.data(), common_length(a, b)); }, arg("a"),
        arg("b"), "Sum of products over all entries; the same bits for any number of threads.");
    m.def(
        "add_multiple",
        [](nb::object y, double factor, const Vector& x) {
            add_multiple(changed(y, "y", int64_t(x.size())), factor, x.data(), int64_t(x.size()));
        },
        arg("y"), arg("factor"), arg("x"), "y += factor x");
    m.def(
        "scale_and_add",
        [](nb::object y, double factor, const Vector& x) {
            scale_and_add(changed(y, "y", int64_t(x.size())), factor, x.data(), int64_t(x.size()));
        },
        arg("y"), arg("factor"), arg("x"), "y = factor y + x");
    m.def("to_nodes", &write_nodes, arg("x"), arg("at"), arg("nodes"),
          "Vectors (n, 3) into the first channels of some nodes; the others stay.");
    m.def("from_nodes", &read_nodes, arg("nodes"), arg("at"), arg("factor"), arg("mass"), arg("x"), arg("out"),
          "mass x + factor times the nodes, (n, 3), at some nodes.");
}

}  // namespace continua
