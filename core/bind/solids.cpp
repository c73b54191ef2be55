#include "../flow/solids.hpp"

#include <variant>

#include "colliders.hpp"
#include "flow.hpp"

namespace continua {
namespace {

// A memory of either precision and dimension.
class Memory {
  public:
    Memory() = default;
    Memory(const Memory&) = delete;
    template <class T, int d>
    SolidMemory<T, d>& of() {
        if (!std::holds_alternative<SolidMemory<T, d>>(memory_)) memory_.emplace<SolidMemory<T, d>>();
        return std::get<SolidMemory<T, d>>(memory_);
    }
    void forget() { memory_.emplace<std::monostate>(); }
    int64_t nbytes() const {
        return std::visit([]<class M>(const M& memory) -> int64_t {
            if constexpr (std::is_same_v<M, std::monostate>) return 0;
            else return memory.nbytes();
        }, memory_);
    }

  private:
    std::variant<std::monostate, SolidMemory<float, 2>, SolidMemory<float, 3>, SolidMemory<double, 2>, SolidMemory<double, 3>> memory_;
};

void faces(nb::object keys_, nb::object lattice_, int dimension, nb::object table, std::vector<nb::object> samples,
           nb::object open_, nb::object wall_, nb::object owner_, Memory* memory) {
    dispatch(open_, "open", dimension, [&]<class T, int d>() {
        const int64_t blocks = length(keys_, "keys");
        const uint64_t* keys = checked<uint64_t>(keys_, "keys", {blocks});
        // In double also for single precision: a floor on a plane of faces must be found there.
        const Lattice<double, d> lattice = lattice_of<double, d>(lattice_);
        const std::vector<Collider> colliders = colliders_of(table, samples);
        T* open = faces_of<T, d>(open_, "open", blocks);
        T* wall = faces_of<T, d>(wall_, "wall", blocks);
        int32_t* owner = faces_of<int32_t, d>(owner_, "owner", blocks);
        nb::gil_scoped_release release;
        Memory none;
        solid_faces<T, d>(keys, blocks, lattice, colliders, (memory ? *memory : none).of<T, d>(), open, wall, owner);
    });
}

void constrain(nb::object velocity_, nb::object open_, nb::object reached_, nb::object keys_, nb::object lattice_, int dimension,
               nb::object neighbours_, nb::object table, std::vector<nb::object> samples, Memory* memory) {
    dispatch(velocity_, "velocity", dimension, [&]<class T, int d>() {
        const int64_t blocks = length(keys_, "keys");
        const uint64_t* keys = checked<uint64_t>(keys_, "keys", {blocks});
        T* velocity = faces_of<T, d>(velocity_, "velocity", blocks);
        const T* open = faces_of<T, d>(open_, "open", blocks);
        const uint8_t* reached = checked<uint8_t>(reached_, "reached", {blocks});
        const Lattice<double, d> lattice = lattice_of<double, d>(lattice_);
        const int32_t* neighbours = neighbours_of<d>(neighbours_, blocks);
        const std::vector<Collider> colliders = colliders_of(table, samples);
        nb::gil_scoped_release release;
        Memory none;
        constrain_faces<T, d>(velocity, open, reached, keys, blocks, lattice, neighbours, colliders,
                              (memory ? *memory : none).of<T, d>());
    });
}

void impulses_of_walls(nb::object pressure_, nb::object fluid_, nb::object open_, nb::object owner_, nb::object keys_,
                       nb::object lattice_, int dimension, nb::object neighbours_, nb::object table, nb::object before_,
                       std::vector<nb::object> samples, nb::object gravity_, double dt, double scale,
                       nb::object impulses_) {
    dispatch(open_, "open", dimension, [&]<class T, int d>() {
        const int64_t blocks = length(open_, "open"), rows = length(impulses_, "impulses");
        const T* open = faces_of<T, d>(open_, "open", blocks);
        const double* pressure = cells_of<double, d>(pressure_, "pressure", blocks);
        const uint8_t* fluid = cells_of<uint8_t, d>(fluid_, "fluid", blocks);
        double* impulses = checked<double>(impulses_, "impulses", {rows, 3});
        const int32_t* owner = numbers_of(owner_, "owner", {blocks, kBlockNodes<d>, 4}, rows);
        const int32_t* neighbours = neighbours_of<d>(neighbours_, blocks);
        const uint64_t* keys = checked<uint64_t>(keys_, "keys", {blocks});
        const Lattice<double, d> lattice = lattice_of<double, d>(lattice_);
        const std::vector<Collider> colliders = colliders_of(table, samples), before = colliders_of(before_, samples, "before");
        if (int64_t(colliders.size()) != rows || int64_t(before.size()) != rows)
            throw std::invalid_argument("table, before: one row per impulse is needed");
        const double* gravity = checked<double>(gravity_, "gravity", {d});
        const Vec3 g{gravity[0], gravity[1], d == 3 ? gravity[d - 1] : 0.0};
        const PressureAtWalls<d> walls(colliders, before, g, dt);
        nb::gil_scoped_release release;
        wall_impulses<T, d>(pressure, fluid, open, owner, keys, blocks, lattice, neighbours, walls, scale, rows,
                            impulses);
    });
}

}  // namespace

void bind_solids(nb::module_& m) {
    nb::class_<Memory>(m, "SolidMemory",
                       "What is known of solids that rest, by block. Whoever keeps one forgets it when the table changes.")
        .def(nb::init<>())
        .def("forget", &Memory::forget)
        .def_prop_ro("nbytes", &Memory::nbytes);
    m.def("solid_faces", &faces, nb::arg("keys"), nb::arg("lattice"), nb::arg("dimension"), nb::arg("table"),
          nb::arg("samples"), nb::arg("open"), nb::arg("wall"), nb::arg("owner"), nb::arg("memory").none() = nb::none());
    m.def("constrain_faces", &constrain, nb::arg("velocity"), nb::arg("open"), nb::arg("reached"), nb::arg("keys"),
          nb::arg("lattice"), nb::arg("dimension"), nb::arg("neighbours"), nb::arg("table"), nb::arg("samples"),
          nb::arg("memory").none() = nb::none());
    m.def("wall_impulses", &impulses_of_walls, nb::arg("pressure"), nb::arg("fluid"), nb::arg("open"), nb::arg("owner"),
          nb::arg("keys"), nb::arg("lattice"), nb::arg("dimension"), nb::arg("neighbours"), nb::arg("table"),
          nb::arg("before"), nb::arg("samples"), nb::arg("gravity"), nb::arg("dt"), nb::arg("scale"),
          nb::arg("impulses"));
}

}  // namespace continua
