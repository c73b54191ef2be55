#include "../flow/solids.hpp"

#include "colliders.hpp"

namespace continua {
namespace {

void faces(nb::object keys_, nb::object lattice_, int dimension, nb::object table, std::vector<nb::object> samples,
           nb::object open_, nb::object wall_, nb::object owner_) {
    dispatch(open_, "open", dimension, [&]<class T, int d>() {
        const int64_t blocks = length(keys_, "keys");
        const uint64_t* keys = checked<uint64_t>(keys_, "keys", {blocks});
        // In double also for single precision: a floor on a plane of faces must be found there.
        const Lattice<double, d> lattice = lattice_of<double, d>(lattice_);
        const std::vector<Collider> colliders = colliders_of(table, samples);
        T* open = checked<T>(open_, "open", {blocks, kBlockNodes<d>, 4});
        T* wall = checked<T>(wall_, "wall", {blocks, kBlockNodes<d>, 4});
        int32_t* owner = checked<int32_t>(owner_, "owner", {blocks, kBlockNodes<d>, 4});
        nb::gil_scoped_release release;
        solid_faces<T, d>(keys, blocks, lattice, colliders, open, wall, owner);
    });
}

// Array of row numbers, each from -1 to count - 1.
const int32_t* numbers_of(nb::handle object, const std::string& name, std::vector<int64_t> shape, int64_t count) {
    const int32_t* numbers = checked<int32_t>(object, name, shape);
    int64_t size = 1;
    for (int64_t n : shape) size *= n;
    for (int64_t i = 0; i < size; ++i)
        if (numbers[i] < -1 || numbers[i] >= count) throw std::invalid_argument(name + ": number out of range");
    return numbers;
}

void constrain(nb::object velocity_, nb::object open_, nb::object keys_, nb::object lattice_, int dimension,
               nb::object neighbours_, nb::object table, std::vector<nb::object> samples) {
    dispatch(velocity_, "velocity", dimension, [&]<class T, int d>() {
        const int64_t blocks = length(keys_, "keys");
        const uint64_t* keys = checked<uint64_t>(keys_, "keys", {blocks});
        T* velocity = checked<T>(velocity_, "velocity", {blocks, kBlockNodes<d>, 4});
        const T* open = checked<T>(open_, "open", {blocks, kBlockNodes<d>, 4});
        const Lattice<double, d> lattice = lattice_of<double, d>(lattice_);
        const int32_t* neighbours = numbers_of(neighbours_, "neighbours", {blocks, kNeighbours<d>}, blocks);
        const std::vector<Collider> colliders = colliders_of(table, samples);
        nb::gil_scoped_release release;
        constrain_faces<T, d>(velocity, open, keys, blocks, lattice, neighbours, colliders);
    });
}

void impulses_of_walls(nb::object pressure_, nb::object fluid_, nb::object open_, nb::object owner_, int dimension,
                       nb::object neighbours_, double scale, nb::object impulses_) {
    dispatch(open_, "open", dimension, [&]<class T, int d>() {
        const int64_t blocks = length(open_, "open"), rows = length(impulses_, "impulses");
        const T* open = checked<T>(open_, "open", {blocks, kBlockNodes<d>, 4});
        const double* pressure = checked<double>(pressure_, "pressure", {blocks, kBlockNodes<d>});
        const uint8_t* fluid = checked<uint8_t>(fluid_, "fluid", {blocks, kBlockNodes<d>});
        double* impulses = checked<double>(impulses_, "impulses", {rows, 3});
        const int32_t* owner = numbers_of(owner_, "owner", {blocks, kBlockNodes<d>, 4}, rows);
        const int32_t* neighbours = numbers_of(neighbours_, "neighbours", {blocks, kNeighbours<d>}, blocks);
        nb::gil_scoped_release release;
        wall_impulses<T, d>(pressure, fluid, open, owner, blocks, neighbours, scale, rows, impulses);
    });
}

}  // namespace

void bind_solids(nb::module_& m) {
    m.def("solid_faces", &faces, nb::arg("keys"), nb::arg("lattice"), nb::arg("dimension"), nb::arg("table"),
          nb::arg("samples"), nb::arg("open"), nb::arg("wall"), nb::arg("owner"));
    m.def("constrain_faces", &constrain, nb::arg("velocity"), nb::arg("open"), nb::arg("keys"), nb::arg("lattice"),
          nb::arg("dimension"), nb::arg("neighbours"), nb::arg("table"), nb::arg("samples"));
    m.def("wall_impulses", &impulses_of_walls, nb::arg("pressure"), nb::arg("fluid"), nb::arg("open"), nb::arg("owner"),
          nb::arg("dimension"), nb::arg("neighbours"), nb::arg("scale"), nb::arg("impulses"));
}

}  // namespace continua
