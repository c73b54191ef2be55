#include "../contact/segments.hpp"

#include "../contact/segment_impulses.hpp"
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
// Rows of two numbers from 0 to below `end`.
const int32_t* rows_of_two(nb::handle object, const char* name, int64_t count, int64_t end) {
    const int32_t* rows = checked<int32_t>(object, name, {count, 2});
    for (int64_t k = 0; k < 2 * count; ++k)
        if (rows[k] < 0 || rows[k] >= end)
            throw std::invalid_argument(std::string(name) + ": row " + std::to_string(k / 2) + " names number " + std::to_string(rows[k]) +
                                        ", but there are " + std::to_string(end));
    return rows;
}
Segments segments_of(nb::handle object, nb::handle along, double skip, int64_t vertices) {
    const int64_t count = length(object, "segments");
    if (count > INT32_MAX / 8) throw std::invalid_argument("segments: too many");
    const bool lined = length(along, "along") > 0;
    if (!(skip >= 0 && std::isfinite(skip))) throw std::invalid_argument("skip: must be finite and not negative");
    return {rows_of_two(object, "segments", count, vertices), count, lined ? finite(along, "along", {count, 2}) : nullptr, skip};
}

nb::object find_nearby(nb::object x_, nb::object motion_, nb::object segments_, double distance, nb::object along, double skip) {
    const int64_t vertices = length(x_, "x");
    const double* x = finite(x_, "x", {vertices, 3});
    const double* motion = length(motion_, "motion") > 0 ? finite(motion_, "motion", {vertices, 3}) : nullptr;
    const Segments segments = segments_of(segments_, along, skip, vertices);
    if (!(distance > 0 && std::isfinite(distance))) throw std::invalid_argument("distance: must be positive and finite");
    std::vector<int32_t> pairs;
    {
        nb::gil_scoped_release release;
        pairs = nearby_segments(x, motion, vertices, segments, distance);
    }
    const size_t count = pairs.size() / 2;
    return owned_array(std::move(pairs), {count, 2});
}
nb::tuple find_crossed(nb::object before, nb::object after, nb::object segments_, nb::object along, double skip) {
    const int64_t vertices = length(before, "before");
    const double *x0 = finite(before, "before", {vertices, 3}), *x1 = finite(after, "after", {vertices, 3});
    const Segments segments = segments_of(segments_, along, skip, vertices);
    CrossedSegments found;
    {
        nb::gil_scoped_release release;
        found = crossed_segments(x0, x1, vertices, segments);
    }
    const size_t count = found.times.size();
    return nb::make_tuple(owned_array(std::move(found.pairs), {count, 2}), owned_array(std::move(found.times), {count}));
}
void find_points(nb::object x_, nb::object segments_, nb::object pairs_, nb::object parameters_, nb::object distance_, nb::object normal_) {
    const int64_t vertices = length(x_, "x"), count = length(pairs_, "pairs"), segments = length(segments_, "segments");
    const double* x = finite(x_, "x", {vertices, 3});
    const int32_t* ends = rows_of_two(segments_, "segments", segments, vertices);
    const int32_t* pairs = rows_of_two(pairs_, "pairs", count, segments);
    double *parameters = checked<double>(parameters_, "parameters", {count, 2}), *distance = checked<double>(distance_, "distance", {count});
    double* normal = checked<double>(normal_, "normal", {count, 3});
#pragma omp parallel for schedule(static) num_threads(team(count, 2048))
    for (int64_t p = 0; p < count; ++p) {
        const TwoSegments pair(x, ends + 2 * int64_t(pairs[2 * p]), ends + 2 * int64_t(pairs[2 * p + 1]));
        const ClosestSegmentPoints closest(pair);
        parameters[2 * p] = closest.a, parameters[2 * p + 1] = closest.b;
        distance[p] = std::sqrt(closest.squared);
        const Vec3 n = contact_direction(pair, closest.way);
        std::copy(n.begin(), n.end(), normal + 3 * p);
    }
}
int64_t give_impulses(nb::object segments_, nb::object pairs_, nb::object parameters, nb::object normal, nb::object allowed, nb::object friction_,
                      int64_t sweeps, nb::object inverse_mass_, nb::object v_, nb::object impulse_, nb::object pressed_) {
    const int64_t vertices = length(v_, "v"), count = length(pairs_, "pairs"), segments = length(segments_, "segments");
    const double* inverse_mass = finite(inverse_mass_, "inverse_mass", {vertices});
    for (int64_t i = 0; i < vertices; ++i)
        if (inverse_mass[i] < 0) throw std::invalid_argument("inverse_mass: must not be negative");
    const double* friction = finite(friction_, "friction", {count});
    for (int64_t p = 0; p < count; ++p)
        if (friction[p] < 0) throw std::invalid_argument("friction: must not be negative");
    if (sweeps < 0) throw std::invalid_argument("sweeps: must not be negative");
    double* v = checked<double>(v_, "v", {vertices, 3});
    finite(v_, "v", {vertices, 3});
    const SegmentContacts contacts{rows_of_two(segments_, "segments", segments, vertices), rows_of_two(pairs_, "pairs", count, segments), count,
                                   finite(parameters, "parameters", {count, 2}), finite(normal, "normal", {count, 3}),
                                   finite(allowed, "allowed", {count}), friction};
    double *impulse = checked<double>(impulse_, "impulse", {vertices, 3}), *pressed = checked<double>(pressed_, "pressed", {count});
    nb::gil_scoped_release release;
    SegmentImpulses impulses(contacts, inverse_mass, vertices);
    int64_t done = 0;
    while (done < sweeps && impulses.sweep(v, impulse, pressed)) ++done;
    return done;
}

}  // namespace

void bind_segments(nb::module_& m) {
    using nb::arg;
    m.def("nearby_segments", &find_nearby, arg("x"), arg("motion"), arg("segments"), arg("distance"), arg("along"), arg("skip"),
          "Pairs of segments closer than a distance, now or on the way, ascending (any, 2).");
    m.def("crossed_segments", &find_crossed, arg("before"), arg("after"), arg("segments"), arg("along"), arg("skip"),
          "Pairs of segments that went through each other (any, 2), and how often (any,).");
    m.def("closest_segment_points", &find_points, arg("x"), arg("segments"), arg("pairs"), arg("parameters"), arg("distance"), arg("normal"),
          "Where pairs of segments are closest, how close, and the direction from the first to the second.");
    m.def("segment_impulses", &give_impulses, arg("segments"), arg("pairs"), arg("parameters"), arg("normal"), arg("allowed"), arg("friction"),
          arg("sweeps"), arg("inverse_mass"), arg("v"), arg("impulse"), arg("pressed"),
          "Sweeps of impulses between pairs that approach faster than allowed, into v, impulse, pressed; the number of sweeps.");
}

}  // namespace continua
