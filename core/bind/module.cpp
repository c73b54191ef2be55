#include <omp.h>

#include <cstdlib>

#include "arrays.hpp"

namespace continua {
void bind_company(nb::module_& m);
void bind_fields(nb::module_& m);
void bind_vectors(nb::module_& m);
void bind_mesh_on_grid(nb::module_& m);
void bind_segments(nb::module_& m);
void bind_rods(nb::module_& m);
void bind_rigid(nb::module_& m);
void bind_surface_contact(nb::module_& m);
}

// entry.cpp has the function that Python calls: it looks at the processor first.
#define PyInit__core continua_core_init

NB_MODULE(_core, m) {
    m.doc() = "Kernels of Continua: stateless functions over NumPy arrays.";
    if (const char* wanted = std::getenv("CONTINUA_THREADS")) {
        const int n = std::atoi(wanted);
        if (n >= 1 && n <= 1024) omp_set_num_threads(n);
    }
    m.def(
        "set_threads",
        [](int n) {
            if (n < 1 || n > 1024) throw std::invalid_argument("threads: must lie between 1 and 1024");
            omp_set_num_threads(n);
        },
        nb::arg("n"), "Number of threads used by all kernels.");
    m.def("threads", [] { return omp_get_max_threads(); });
    m.def("build_info", [] {
        nb::dict d;
        d["compiler"] = std::string("GCC ") + __VERSION__;
        d["built_for"] = CONTINUA_ARCH;
        d["lanes_single"] = int(continua::Lanes<float>::size());
        d["lanes_double"] = int(continua::Lanes<double>::size());
        d["processors"] = omp_get_num_procs();
        return d;
    });
    continua::bind_math(m);
    continua::bind_materials(m);
    continua::bind_grid(m);
    continua::bind_transfer(m);
    continua::bind_contact(m);
    continua::bind_company(m);
    continua::bind_fields(m);
    continua::bind_geometry(m);
    continua::bind_faces(m);
    continua::bind_flow(m);
    continua::bind_pressure(m);
    continua::bind_drops(m);
    continua::bind_solids(m);
    continua::bind_viscosity(m);
    continua::bind_mesh(m);
    continua::bind_implicit(m);
    continua::bind_values(m);
    continua::bind_collision(m);
    continua::bind_vectors(m);
    continua::bind_mesh_on_grid(m);
    continua::bind_segments(m);
    continua::bind_rods(m);
    continua::bind_rigid(m);
    continua::bind_surface_contact(m);
}
