#include "../flow/drops.hpp"

#include "flow.hpp"

namespace continua {
namespace {

void labels_of_parts(nb::object labels, nb::object scratch, nb::object neighbours, int dimension, int layers) {
    if (layers < 0) throw std::invalid_argument("layers: must not be negative");
    if (dimension != 2 && dimension != 3) throw std::invalid_argument("dimension: must be 2 or 3");
    auto run = [&]<int d>() {
        const int64_t n = length(labels, "labels");
        int32_t *to = cells_of<int32_t, d>(labels, "labels", n), *other = cells_of<int32_t, d>(scratch, "scratch", n);
        const int32_t* around = neighbours_of<d>(neighbours, n);
        nb::gil_scoped_release release;
        spread_labels<d>(to, other, around, n, layers);
    };
    dimension == 2 ? run.operator()<2>() : run.operator()<3>();
}

// What both functions below are told of the parts.
template <class T, int d>
struct PartsOf {
    int64_t blocks, count;
    const uint64_t* keys;
    const int32_t *neighbours, *labels;
    const uint8_t* fluid;
    const T* open;
    const double* centres;

    PartsOf(nb::handle keys_, nb::handle neighbours_, nb::handle labels_, nb::handle fluid_, nb::handle open_,
            nb::handle centres_)
        : blocks(length(open_, "open")), count(length(centres_, "centres")),
          keys(checked<uint64_t>(keys_, "keys", {blocks})), neighbours(neighbours_of<d>(neighbours_, blocks)),
          labels(cells_of<int32_t, d>(labels_, "labels", blocks)), fluid(cells_of<uint8_t, d>(fluid_, "fluid", blocks)),
          open(faces_of<T, d>(open_, "open", blocks)), centres(checked<double>(centres_, "centres", {count, 3})) {
        if (count > std::numeric_limits<int32_t>::max()) throw std::invalid_argument("centres: too many parts");
    }
};

void momenta(nb::object keys, nb::object neighbours, nb::object labels, nb::object fluid, nb::object open,
             nb::object centres, nb::object mass, nb::object velocity, int dimension, nb::object gram,
             nb::object momentum) {
    dispatch(open, "open", dimension, [&]<class T, int d>() {
        const PartsOf<T, d> p(keys, neighbours, labels, fluid, open, centres);
        const T *m = faces_of<T, d>(mass, "mass", p.blocks), *u = faces_of<T, d>(velocity, "velocity", p.blocks);
        double* g = checked<double>(gram, "gram", {p.count, kRigid<d>, kRigid<d>});
        double* sum = checked<double>(momentum, "momentum", {p.count, kRigid<d>});
        nb::gil_scoped_release release;
        part_momenta<T, d>(p.keys, p.blocks, p.neighbours, p.labels, p.fluid, p.open, m, u, int32_t(p.count), p.centres,
                           g, sum);
    });
}

void subtract(nb::object keys, nb::object neighbours, nb::object labels, nb::object fluid, nb::object open,
              nb::object centres, nb::object motions, int dimension, nb::object velocity) {
    dispatch(open, "open", dimension, [&]<class T, int d>() {
        const PartsOf<T, d> p(keys, neighbours, labels, fluid, open, centres);
        const double* r = checked<double>(motions, "motions", {p.count, kRigid<d>});
        T* u = faces_of<T, d>(velocity, "velocity", p.blocks);
        nb::gil_scoped_release release;
        subtract_motions<T, d>(p.keys, p.blocks, p.neighbours, p.labels, p.fluid, p.open, int32_t(p.count), p.centres, r,
                               u);
    });
}

}  // namespace

void bind_drops(nb::module_& m) {
    m.def("spread_labels", &labels_of_parts, nb::arg("labels"), nb::arg("scratch"), nb::arg("neighbours"), nb::arg("dimension"),
          nb::arg("layers"));
    m.def("part_momenta", &momenta, nb::arg("keys"), nb::arg("neighbours"), nb::arg("labels"), nb::arg("fluid"),
          nb::arg("open"), nb::arg("centres"), nb::arg("mass"), nb::arg("velocity"), nb::arg("dimension"),
          nb::arg("gram"), nb::arg("momentum"));
    m.def("subtract_motions", &subtract, nb::arg("keys"), nb::arg("neighbours"), nb::arg("labels"), nb::arg("fluid"),
          nb::arg("open"), nb::arg("centres"), nb::arg("motions"), nb::arg("dimension"), nb::arg("velocity"));
}

}  // namespace continua
