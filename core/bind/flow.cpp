#include "../flow/surface.hpp"

#include <nanobind/stl/optional.h>

#include "flow.hpp"

namespace continua {
namespace {

void velocities(nb::object nodes, nb::object mass, int dimension, std::vector<double> increment, nb::object valid) {
    dispatch(nodes, "nodes", dimension, [&]<class T, int d>() {
        if (increment.size() != d) throw std::invalid_argument("increment: one number per axis is needed");
        const int64_t blocks = length(nodes, "nodes");
        T add[d];
        for (int a = 0; a < d; ++a) add[a] = T(increment[a]);
        face_velocities<T, d>(faces_of<T, d>(nodes, "nodes", blocks), faces_of<T, d>(mass, "mass", blocks), blocks, add,
                              cells_of<uint8_t, d>(valid, "valid", blocks));
    });
}

void liquid_cells(nb::object mass, nb::object open, nb::object neighbours, int dimension, nb::object fluid) {
    dispatch(mass, "mass", dimension, [&]<class T, int d>() {
        const int64_t n = length(mass, "mass");
        const T *m = faces_of<T, d>(mass, "mass", n), *o = faces_of<T, d>(open, "open", n);
        const int32_t* around = neighbours_of<d>(neighbours, n);
        uint8_t* f = cells_of<uint8_t, d>(fluid, "fluid", n);
        nb::gil_scoped_release release;
        mark_liquid<T, d>(m, o, around, n, f);
    });
}

double cell_outflow(nb::object velocity, nb::object open, nb::object wall, nb::object fluid, nb::object neighbours,
                    int dimension, nb::object out) {
    double most = 0;
    dispatch(velocity, "velocity", dimension, [&]<class T, int d>() {
        const int64_t n = length(velocity, "velocity");
        const T *u = faces_of<T, d>(velocity, "velocity", n), *o = faces_of<T, d>(open, "open", n),
                *w = faces_of<T, d>(wall, "wall", n);
        const uint8_t* f = cells_of<uint8_t, d>(fluid, "fluid", n);
        const int32_t* around = neighbours_of<d>(neighbours, n);
        double* to = cells_of<double, d>(out, "out", n);
        nb::gil_scoped_release release;
        most = outflow<T, d>(u, o, w, f, around, n, to);
    });
    return most;
}

void differences(nb::object potential, nb::object fluid, std::optional<nb::object> distance, nb::object open,
                 nb::object neighbours, int dimension, bool overwrite, nb::object velocity, nb::object valid) {
    dispatch(velocity, "velocity", dimension, [&]<class T, int d>() {
        const int64_t n = length(velocity, "velocity");
        const double* phi = cells_of<double, d>(potential, "potential", n);
        const uint8_t* f = cells_of<uint8_t, d>(fluid, "fluid", n);
        const double* s = distance ? cells_of<double, d>(*distance, "distance", n) : nullptr;
        const T* o = faces_of<T, d>(open, "open", n);
        const int32_t* around = neighbours_of<d>(neighbours, n);
        T* u = faces_of<T, d>(velocity, "velocity", n);
        uint8_t* v = cells_of<uint8_t, d>(valid, "valid", n);
        nb::gil_scoped_release release;
        subtract_differences<T, d>(phi, f, s, o, around, n, overwrite, u, v);
    });
}

void accelerate(nb::object velocity, int dimension, std::vector<double> increment) {
    dispatch(velocity, "velocity", dimension, [&]<class T, int d>() {
        if (increment.size() != d) throw std::invalid_argument("increment: one number per axis is needed");
        const int64_t n = length(velocity, "velocity");
        T add[d];
        for (int a = 0; a < d; ++a) add[a] = T(increment[a]);
        T* u = faces_of<T, d>(velocity, "velocity", n);
        nb::gil_scoped_release release;
        accelerate_faces<T, d>(u, n, add);
    });
}

double fastest(nb::object velocity, int dimension) {
    double most = 0;
    dispatch(velocity, "velocity", dimension, [&]<class T, int d>() {
        const int64_t n = length(velocity, "velocity");
        const T* u = faces_of<T, d>(velocity, "velocity", n);
        nb::gil_scoped_release release;
        most = fastest_face<T, d>(u, n);
    });
    return most;
}

void carry(nb::object known_, nb::object values_, double factor, nb::object keys_, int dimension, nb::object cells_) {
    auto run = [&]<int d>() {
        const int64_t count = length(known_, "known"), blocks = length(keys_, "keys");
        const uint64_t *known = checked<uint64_t>(known_, "known", {count}), *keys = checked<uint64_t>(keys_, "keys", {blocks});
        const float* values = cells_of<float, d>(values_, "values", count);
        double* cells = cells_of<double, d>(cells_, "cells", blocks);
        nb::gil_scoped_release release;
        carry_cells<d>(known, count, values, factor, keys, blocks, cells);
    };
    if (dimension != 2 && dimension != 3) throw std::invalid_argument("dimension: must be 2 or 3");
    dimension == 2 ? run.operator()<2>() : run.operator()<3>();
}

void extrapolate_faces(nb::object velocity, nb::object valid, nb::object neighbours, int dimension, int layers) {
    dispatch(velocity, "velocity", dimension, [&]<class T, int d>() {
        const int64_t n = length(velocity, "velocity");
        T* u = faces_of<T, d>(velocity, "velocity", n);
        uint8_t* v = cells_of<uint8_t, d>(valid, "valid", n);
        const int32_t* around = neighbours_of<d>(neighbours, n);
        nb::gil_scoped_release release;
        extrapolate<T, d>(u, v, around, n, layers);
    });
}

double surface_cells(nb::object nodes, nb::object open, nb::object neighbours, int dimension, int degree, double full,
                     nb::object fill, nb::object distance, nb::object fluid) {
    if (!(full > 0)) throw std::invalid_argument("full: must be positive");
    double volume = 0;
    dispatch(nodes, "nodes", dimension, [&]<class T, int d>() {
        const int64_t n = length(nodes, "nodes");
        const T *m = faces_of<T, d>(nodes, "nodes", n), *o = faces_of<T, d>(open, "open", n);
        const int32_t* around = neighbours_of<d>(neighbours, n);
        double *F = cells_of<double, d>(fill, "fill", n), *s = cells_of<double, d>(distance, "distance", n);
        uint8_t* f = cells_of<uint8_t, d>(fluid, "fluid", n);
        with_degree(degree, [&]<int g>() {
            nb::gil_scoped_release release;
            volume = find_surface<T, d, g>(m, o, around, n, full, F, s, f);
        });
    });
    return volume;
}

void crowded_cells(nb::object fill, nb::object distance, nb::object fluid, nb::object open, nb::object neighbours,
                   int dimension, int degree, nb::object out) {
    dispatch(open, "open", dimension, [&]<class T, int d>() {
        const int64_t n = length(open, "open");
        const double *F = cells_of<double, d>(fill, "fill", n), *s = cells_of<double, d>(distance, "distance", n);
        const uint8_t* f = cells_of<uint8_t, d>(fluid, "fluid", n);
        const T* o = faces_of<T, d>(open, "open", n);
        const int32_t* around = neighbours_of<d>(neighbours, n);
        double* to = cells_of<double, d>(out, "out", n);
        with_degree(degree, [&]<int g>() {
            nb::gil_scoped_release release;
            crowding<T, d, g>(F, s, f, o, around, n, to);
        });
    });
}

}  // namespace

void bind_flow(nb::module_& m) {
    m.def("face_velocities", &velocities, nb::arg("nodes"), nb::arg("mass"), nb::arg("dimension"), nb::arg("increment"),
          nb::arg("valid"));
    m.def("liquid_cells", &liquid_cells, nb::arg("mass"), nb::arg("open"), nb::arg("neighbours"), nb::arg("dimension"),
          nb::arg("fluid"));
    m.def("cell_outflow", &cell_outflow, nb::arg("velocity"), nb::arg("open"), nb::arg("wall"), nb::arg("fluid"),
          nb::arg("neighbours"), nb::arg("dimension"), nb::arg("out"));
    m.def("subtract_differences", &differences, nb::arg("potential"), nb::arg("fluid"),
          nb::arg("distance").none(), nb::arg("open"), nb::arg("neighbours"), nb::arg("dimension"), nb::arg("overwrite"), nb::arg("velocity"), nb::arg("valid"));
    m.def("extrapolate_faces", &extrapolate_faces, nb::arg("velocity"), nb::arg("valid"),
          nb::arg("neighbours"), nb::arg("dimension"), nb::arg("layers"));
    m.def("carry_cells", &carry, nb::arg("known"), nb::arg("values"), nb::arg("factor"), nb::arg("keys"),
          nb::arg("dimension"), nb::arg("cells"));
    m.def("accelerate_faces", &accelerate, nb::arg("velocity"), nb::arg("dimension"), nb::arg("increment"));
    m.def("fastest_face", &fastest, nb::arg("velocity"), nb::arg("dimension"));
    m.def("surface_cells", &surface_cells, nb::arg("nodes"), nb::arg("open"), nb::arg("neighbours"),
          nb::arg("dimension"), nb::arg("degree"), nb::arg("full"), nb::arg("fill"), nb::arg("distance"),
          nb::arg("fluid"));
    m.def("crowded_cells", &crowded_cells, nb::arg("fill"), nb::arg("distance"), nb::arg("fluid"), nb::arg("open"),
          nb::arg("neighbours"), nb::arg("dimension"), nb::arg("degree"), nb::arg("out"));
}

}  // namespace continua
