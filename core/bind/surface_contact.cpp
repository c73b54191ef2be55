#include "../contact/crossing_facets.hpp"
#include "../contact/stencil_impulses.hpp"
#include "arrays.hpp"

namespace continua {
namespace {

const double* finite(nb::handle object, const char* name, std::vector<int64_t> shape) {
    const double* numbers = checked<double>(object, name, shape);
    const AnyArray array = as_array(object, name);
    for (size_t k = 0; k < array.size(); ++k)
        if (!std::isfinite(numbers[k])) throw std::invalid_argument(std::string(name) + ": must be finite");
    return numbers;
}
const double* not_negative(nb::handle object, const char* name, std::vector<int64_t> shape) {
    const double* numbers = finite(object, name, shape);
    const AnyArray array = as_array(object, name);
    for (size_t k = 0; k < array.size(); ++k)
        if (numbers[k] < 0) throw std::invalid_argument(std::string(name) + ": must not be negative");
    return numbers;
}
// Numbers from 0 to below `end`.
const int32_t* numbers_below(nb::handle object, const char* name, std::vector<int64_t> shape, int64_t end) {
    const int32_t* numbers = checked<int32_t>(object, name, shape);
    const AnyArray array = as_array(object, name);
    for (size_t k = 0; k < array.size(); ++k)
        if (numbers[k] < 0 || numbers[k] >= end)
            throw std::invalid_argument(std::string(name) + ": names number " + std::to_string(numbers[k]) + ", but there are " +
                                        std::to_string(end));
    return numbers;
}
double positive(double value, const char* name) {
    if (!(value > 0 && std::isfinite(value))) throw std::invalid_argument(std::string(name) + ": must be positive and finite");
    return value;
}
double not_below_zero(double value, const char* name) {
    if (!(value >= 0 && std::isfinite(value))) throw std::invalid_argument(std::string(name) + ": must be finite and not negative");
    return value;
}
Meeting meeting_of(bool edges, int d) {
    if (edges && d == 2) throw std::invalid_argument("of_edges: must be false in 2D");
    return edges ? Meeting::edge_edge : Meeting::point_facet;
}
template <class Function>
auto by_columns(nb::handle x, Function&& f) {
    switch (length(x, "x", 1)) {
        case 2: return f.template operator()<2>();
        case 3: return f.template operator()<3>();
        default: throw std::invalid_argument("x: must have 2 or 3 columns");
    }
}
template <int d>
Surfaces<d> surfaces_of(nb::handle facets, nb::handle edges, nb::handle points, nb::handle held, int64_t vertices) {
    if (vertices > INT32_MAX) throw std::invalid_argument("x: too many rows");
    const int64_t f = length(facets, "facets"), e = length(edges, "edges"), p = length(points, "points");
    return {numbers_below(facets, "facets", {f, d}, vertices), f, numbers_below(edges, "edges", {e, 2}, vertices), e,
            numbers_below(points, "points", {p}, vertices), p, checked<uint8_t>(held, "held", {vertices}), vertices};
}

nb::object find_stencils(nb::object x_, nb::object v_, double dt, nb::object facets, nb::object edges_, nb::object points, nb::object held,
                         double distance, bool edges) {
    return by_columns(x_, [&]<int d>() {
        const int64_t vertices = length(x_, "x");
        const double *x = finite(x_, "x", {vertices, d}), *v = finite(v_, "v", {vertices, d});
        const Surfaces<d> surfaces = surfaces_of<d>(facets, edges_, points, held, vertices);
        not_below_zero(dt, "dt"), not_below_zero(distance, "distance");
        const Meeting kind = meeting_of(edges, d);
        std::vector<int32_t> stencils;
        {
            nb::gil_scoped_release release;
            stencils = stencils_on_the_way(kind, surfaces, x, v, dt, distance);
        }
        const size_t count = stencils.size() / (d + 1);
        return owned_array(std::move(stencils), {count, size_t(d + 1)});
    });
}

nb::tuple find_meetings(nb::object x_, nb::object v_, double dt, nb::object facets, nb::object stencils_, bool edges) {
    return by_columns(x_, [&]<int d>() {
        const int64_t vertices = length(x_, "x"), count = length(stencils_, "stencils"), facet_count = length(facets, "facets");
        const double *x = finite(x_, "x", {vertices, d}), *v = finite(v_, "v", {vertices, d});
        const int32_t* corners = numbers_below(facets, "facets", {facet_count, d}, vertices);
        const Surfaces<d> surfaces{corners, facet_count, nullptr, 0, nullptr, 0, nullptr, vertices};
        const int32_t* stencils = numbers_below(stencils_, "stencils", {count, d + 1}, vertices);
        const Meeting kind = meeting_of(edges, d);
        not_below_zero(dt, "dt");
        std::vector<double> times(size_t(count), 2.0), weights(size_t(count * (d + 1))), normals(size_t(count * d));
        {
            nb::gil_scoped_release release;
            const std::vector<double> outward = facet_count > 0 ? vertex_normals(surfaces, x) : std::vector<double>();
#pragma omp parallel for schedule(static) num_threads(team(count, 512))
            for (int64_t i = 0; i < count; ++i) {
                const int32_t* nodes = stencils + i * (d + 1);
                const FirstMeeting<d> first(Stencil<d>(kind, x, v, dt, nodes), outward_side<d>(kind, nodes, outward));
                if (!first.found) continue;
                times[size_t(i)] = first.t;
                std::copy(first.weights.begin(), first.weights.end(), weights.begin() + i * (d + 1));
                std::copy(first.normal.begin(), first.normal.end(), normals.begin() + i * d);
            }
        }
        return nb::make_tuple(owned_array(std::move(times), {size_t(count)}), owned_array(std::move(weights), {size_t(count), size_t(d + 1)}),
                              owned_array(std::move(normals), {size_t(count), size_t(d)}));
    });
}

nb::object find_crossings(nb::object x_, nb::object facets, nb::object points, nb::object held) {
    return by_columns(x_, [&]<int d>() {
        const int64_t vertices = length(x_, "x"), f = length(facets, "facets"), p = length(points, "points");
        const double* x = finite(x_, "x", {vertices, d});
        const int32_t* corners = numbers_below(facets, "facets", {f, d}, vertices);
        const int32_t* own = numbers_below(points, "points", {p}, vertices);
        const Surfaces<d> surfaces{corners, f, nullptr, 0, own, p, checked<uint8_t>(held, "held", {vertices}), vertices};
        if (f > INT32_MAX / 8) throw std::invalid_argument("facets: too many");
        std::vector<int32_t> pairs;
        {
            nb::gil_scoped_release release;
            pairs = crossing_facets(surfaces, x);
        }
        const size_t count = pairs.size() / 2;
        return owned_array(std::move(pairs), {count, 2});
    });
}

template <int d>
ImpulseScene<d> scene_of(const double* x, double dt, nb::handle inverse_mass, nb::handle part, nb::handle friction, double gap, bool exact,
                         int64_t vertices) {
    const int64_t parts = length(friction, "friction");
    return {x, positive(dt, "dt"), not_negative(inverse_mass, "inverse_mass", {vertices}), numbers_below(part, "part", {vertices}, parts),
            not_negative(friction, "friction", {parts, parts}), parts, not_below_zero(gap, "gap"), exact};
}

nb::tuple resolve(nb::object x_, double dt, nb::object facets, nb::object edges, nb::object points, nb::object held, nb::object inverse_mass,
                  nb::object part, nb::object friction, double gap, bool exact, int64_t most, int64_t stick_after, nb::object v_,
                  nb::object impulse_) {
    return by_columns(x_, [&]<int d>() {
        const int64_t vertices = length(x_, "x");
        const double* x = finite(x_, "x", {vertices, d});
        const Surfaces<d> surfaces = surfaces_of<d>(facets, edges, points, held, vertices);
        const ImpulseScene<d> scene = scene_of<d>(x, dt, inverse_mass, part, friction, gap, exact, vertices);
        if (most < 0) throw std::invalid_argument("most: must not be negative");
        finite(v_, "v", {vertices, d});
        double *v = checked<double>(v_, "v", {vertices, d}), *impulse = checked<double>(impulse_, "impulse", {vertices, d});
        CollisionCount done;
        {
            nb::gil_scoped_release release;
            done = resolve_collisions(scene, surfaces, most, stick_after, v, impulse);
        }
        return nb::make_tuple(done.hits, done.iterations, done.clean);
    });
}

int64_t push(nb::object x_, double dt, nb::object stencils_, bool edges, nb::object inverse_mass, nb::object part, nb::object friction,
             double thickness, double stiffness, bool exact, nb::object v_, nb::object impulse_) {
    return by_columns(x_, [&]<int d>() {
        const int64_t vertices = length(x_, "x"), count = length(stencils_, "stencils");
        const double* x = finite(x_, "x", {vertices, d});
        const int32_t* stencils = numbers_below(stencils_, "stencils", {count, d + 1}, vertices);
        const ImpulseScene<d> scene = scene_of<d>(x, dt, inverse_mass, part, friction, 0, exact, vertices);
        const Meeting kind = meeting_of(edges, d);
        not_below_zero(thickness, "thickness"), not_below_zero(stiffness, "stiffness");
        finite(v_, "v", {vertices, d});
        double *v = checked<double>(v_, "v", {vertices, d}), *impulse = checked<double>(impulse_, "impulse", {vertices, d});
        nb::gil_scoped_release release;
        int64_t pushed = 0;
        for (int64_t i = 0; i < count; ++i) {
            const int32_t* nodes = stencils + i * (d + 1);
            const Stencil<d> stencil(kind, x, v, dt, nodes);
            pushed += StencilImpulse<d>(scene, nodes, v, impulse).push(closest_weights<d>(kind, stencil.x), thickness, stiffness);
        }
        return pushed;
    });
}

}  // namespace

void bind_surface_contact(nb::module_& m) {
    using nb::arg;
    m.def("surface_stencils", &find_stencils, arg("x"), arg("v"), arg("dt"), arg("facets"), arg("edges"), arg("points"), arg("held"),
          arg("distance"), arg("of_edges"),
          "Vertices of facets and points, or of two edges, that may come within a distance on the way (any, d + 1), ascending.");
    m.def("surface_meetings", &find_meetings, arg("x"), arg("v"), arg("dt"), arg("facets"), arg("stencils"), arg("of_edges"),
          "When stencils first meet on the way as parts of the step (any,), 2 for never; weights (any, d + 1) and normals (any, d) there.");
    m.def("facet_crossings", &find_crossings, arg("x"), arg("facets"), arg("points"), arg("held"),
          "Pairs of facets that go through each other (any, 2), ascending.");
    m.def("collision_impulses", &resolve, arg("x"), arg("dt"), arg("facets"), arg("edges"), arg("points"), arg("held"), arg("inverse_mass"),
          arg("part"), arg("friction"), arg("gap"), arg("exact"), arg("most"), arg("stick_after"), arg("v"), arg("impulse"),
          "Impulses until nothing meets on the way, into v and impulse: hits, iterations, and whether nothing met at last.");
    m.def("proximity_impulses", &push, arg("x"), arg("dt"), arg("stencils"), arg("of_edges"), arg("inverse_mass"), arg("part"), arg("friction"),
          arg("thickness"), arg("stiffness"), arg("exact"), arg("v"), arg("impulse"),
          "Impulses of springs between stencils that are closer than a thickness, into v and impulse; how many acted.");
}

}  // namespace continua
