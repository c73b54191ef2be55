#include <nanobind/stl/optional.h>

#include <variant>

#include "../flow/poisson.hpp"

#include "flow.hpp"

namespace continua {
namespace {

// A system on all blocks of a grid, of either precision and dimension.
class Poisson {
    template <class Function>
    auto visit(Function&& f) {
        return std::visit([&](auto& system) { return f(*system); }, system_);
    }
    template <int d>
    double* cells(nb::handle object, const char* name) const {
        return checked<double>(object, name, {blocks_, kBlockNodes<d>});
    }
    template <int d>
    double* finite(nb::handle object, const char* name) const {
        double* values = cells<d>(object, name);
        bool finite = true;
        for (int64_t i = 0; i < blocks_ * kBlockNodes<d>; ++i)
            finite &= std::fabs(values[i]) <= std::numeric_limits<double>::max();
        if (!finite) throw std::invalid_argument(std::string(name) + ": must be finite");
        return values;
    }

  public:
    Poisson(nb::object keys, nb::object lattice, int dimension, nb::object fluid, nb::object coupling,
            std::optional<nb::object> diagonal, std::optional<nb::object> distance, std::optional<nb::object> neighbours)
        : system_(build(keys, lattice, dimension, fluid, coupling, diagonal, distance, neighbours)), blocks_(length(keys, "keys")) {}

    nb::dict solve(nb::object rhs, nb::object phi, double tolerance, int max_iterations) {
        if (!(tolerance >= 0)) throw std::invalid_argument("tolerance: must not be negative");
        if (max_iterations < 0) throw std::invalid_argument("max_iterations: must not be negative");
        return visit([&]<class T, int d>(PoissonSystem<T, d>& system) {
            const double* b = finite<d>(rhs, "rhs");
            double* x = finite<d>(phi, "phi");
            PoissonReport report;
            {
                nb::gil_scoped_release release;
                report = system.solve(b, x, tolerance, max_iterations);
            }
            nb::dict out;
            out["iterations"] = report.iterations;
            out["residual"] = report.residual;
            out["first_residual"] = report.first_residual;
            out["unknowns"] = system.unknowns();
            out["levels"] = system.levels();
            out["removed"] = report.removed;
            return out;
        });
    }
    void apply(nb::object phi, nb::object out) {
        visit([&]<class T, int d>(PoissonSystem<T, d>& system) {
            system.apply(cells<d>(phi, "phi"), cells<d>(out, "out"));
        });
    }
    void precondition(nb::object r, nb::object z) {
        visit([&]<class T, int d>(PoissonSystem<T, d>& system) {
            system.precondition(cells<d>(r, "r"), cells<d>(z, "z"));
        });
    }
    int label_open_parts(nb::object labels) {
        return visit([&]<class T, int d>(PoissonSystem<T, d>& system) {
            return system.label_open_parts(checked<int32_t>(labels, "labels", {blocks_, kBlockNodes<d>}));
        });
    }

  private:
    using Either = std::variant<std::unique_ptr<PoissonSystem<float, 2>>, std::unique_ptr<PoissonSystem<float, 3>>,
                                std::unique_ptr<PoissonSystem<double, 2>>, std::unique_ptr<PoissonSystem<double, 3>>>;
    Either system_;
    int64_t blocks_;

    static Either build(nb::object keys, nb::object lattice_, int dimension, nb::object fluid, nb::object coupling,
                        std::optional<nb::object> diagonal, std::optional<nb::object> distance,
                        std::optional<nb::object> neighbours) {
        Either made;
        dispatch(coupling, "coupling", dimension, [&]<class T, int d>() {
            const int64_t count = length(keys, "keys");
            LevelBlocks<d> blocks = blocks_of_grid<d>(checked<uint64_t>(keys, "keys", {count}), count,
                                                      lattice_of<double, d>(lattice_));
            PoissonCells<T> given;
            given.unknown = checked<uint8_t>(fluid, "fluid", {count, kBlockNodes<d>});
            given.coupling = checked<T>(coupling, "coupling", {count, kBlockNodes<d>, 4});
            given.diagonal = diagonal ? checked<double>(*diagonal, "diagonal", {count, kBlockNodes<d>}) : nullptr;
            given.distance = distance ? checked<double>(*distance, "distance", {count, kBlockNodes<d>}) : nullptr;
            const int32_t* around = neighbours ? neighbours_of<d>(*neighbours, count) : nullptr;
            nb::gil_scoped_release release;
            around ? blocks.link(around) : blocks.link();
            made = std::make_unique<PoissonSystem<T, d>>(blocks, given);
        });
        return made;
    }
    template <int d>
    static LevelBlocks<d> blocks_of_grid(const uint64_t* keys, int64_t count, const Lattice<double, d>& lattice) {
        LevelBlocks<d> blocks;
        blocks.keys.assign(keys, keys + count);
        for (int a = 0; a < d; ++a) blocks.period[a] = lattice.period[a];
        for (int64_t b = 0; b < count; ++b) {
            if (b > 0 && keys[b] <= keys[b - 1]) throw std::invalid_argument("keys: must increase");
            const BlockCoords<d> here = block_coords<d>(keys[b]);
            if (morton_key<d>(here) != keys[b]) throw std::invalid_argument("keys: not a key of a block");
            for (int a = 0; a < d; ++a)
                if (lattice.period[a] > 0 && (here[a] < 0 || here[a] >= lattice.period[a]))
                    throw std::invalid_argument("keys: a block lies outside the period");
        }
        return blocks;
    }
};

}  // namespace

void bind_pressure(nb::module_& m) {
    nb::class_<Poisson>(m, "PoissonSystem",
                        "Symmetric system on the unknown cells of a block-sparse grid, see continua.flow.pressure.")
        .def(nb::init<nb::object, nb::object, int, nb::object, nb::object, std::optional<nb::object>,
                      std::optional<nb::object>, std::optional<nb::object>>(),
             nb::arg("keys"), nb::arg("lattice"), nb::arg("dimension"), nb::arg("fluid"), nb::arg("coupling"),
             nb::arg("diagonal").none() = nb::none(), nb::arg("distance").none() = nb::none(),
             nb::arg("neighbours").none() = nb::none())
        .def("label_open_parts", &Poisson::label_open_parts, nb::arg("labels"))
        .def("solve", &Poisson::solve, nb::arg("rhs"), nb::arg("phi"), nb::arg("tolerance"), nb::arg("max_iterations"))
        .def("apply", &Poisson::apply, nb::arg("phi"), nb::arg("out"))
        .def("precondition", &Poisson::precondition, nb::arg("r"), nb::arg("z"));
}

}  // namespace continua
