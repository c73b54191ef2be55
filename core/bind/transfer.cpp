#include "transfer.hpp"

#include "../transfer/sums.hpp"

namespace continua {
namespace {

// Norms sum w s_e^2 of the one-dimensional modes of a particle, f its distance from the first node in cells.
template <int degree>
void mode_norms(double f, double* norm) {
    double w[degree + 1];
    BSpline<degree>::weights(f, w);
    norm[0] = 1;
    if constexpr (degree >= 2) norm[1] = 1 / BSpline<degree>::share;
    if constexpr (degree == 3) {
        norm[2] = 0;
        for (int k = 0; k <= degree; ++k) norm[2] += w[k] * std::pow((k - f) * (k - f) - 1.0 / 3.0, 2);
    }
    norm[degree] = BSpline<degree>::norm(w) / BSpline<degree>::down;
}

// The velocity modes of one particle beyond its velocity. J15 (5.11), G20 (2.13)
template <class T, int d, int degree>
AffinePart affine_part(const Particles<T>& P, const Lattice<T, d>& lattice, const TransferPlan& plan, bool staggered,
                       int64_t i) {
    AffinePart part;
    if (plan.affine == Affine::none) return part;
    const double dx = lattice.dx;
    double norm[d][d][degree + 1];  // of a component, along an axis
    for (int a = 0; a < d; ++a)
        for (int b = 0; b < d; ++b) {
            const double q = (double(P.x[b * P.stride + i]) - lattice.origin[b]) / dx - (staggered && a != b ? 0.5 : 0.0);
            mode_norms<degree>(q - std::floor(q - BSpline<degree>::shift), norm[a][b]);
        }
    for (int a = 0; a < d; ++a)
        for (int b = 0; b < d; ++b) {
            const double D = dx * dx * norm[a][b][1], other = dx * dx * norm[b][a][1], kept = P.C[(a * d + b) * P.stride + i];
            double c = kept;
            if (plan.affine == Affine::moment) c = D > 0 ? kept * dx * dx / D : 0;
            if (plan.affine == Affine::spin) c = D + other > 0 ? kept * dx * dx / (D + other) : 0;
            part.B[a][b] = c * D;
            part.speed2 += c * c * D;
        }
    for (int h = 0; h < plan.high.count; ++h)
        for (int a = 0; a < d; ++a) {
            const double c = P.modes[(i * plan.high.count + h) * 4 + a];
            double n = 1;
            for (int b = 0; b < d; ++b) n *= norm[a][b][plan.high.exponent[h][b + 3 - d]];
            part.speed2 += n * c * c;
        }
    return part;
}

// elastic: energy per particle (n,), already times volume, or None.
nb::dict particle_sums(nb::object particles_, nb::object lattice_, nb::object plan_, int dimension, int degree,
                       nb::object elastic, bool staggered) {
    ParticleSums sums;
    dispatch(particles_.attr("x"), "particles.x", dimension, [&]<class T, int d>() {
        const Particles<T> P = particles_of<T, d>(particles_, "particles");
        const Lattice<T, d> lattice = lattice_of<T, d>(lattice_);
        const TransferPlan plan = plan_of(plan_, d, degree);
        check_modes<T, d>(P, plan, "particles");
        const double* psi = elastic.is_none() ? nullptr : checked<double>(elastic, "elastic", {P.count});
        with_degree(degree, [&]<int g>() {
            sums = sum_particles<T, d>(P, [&](int64_t i) { return affine_part<T, d, g>(P, lattice, plan, staggered, i); },
                                       [&](int64_t i) { return psi ? psi[i] : 0.0; });
        });
    });
    nb::dict out;
    auto triple = [](const double* a) { return nb::make_tuple(a[0], a[1], a[2]); };
    out["mass"] = sums.mass;
    out["kinetic"] = sums.kinetic;
    out["elastic"] = sums.elastic;
    out["momentum"] = triple(sums.momentum);
    out["angular"] = triple(sums.angular);
    out["first_moment"] = triple(sums.first_moment);
    return out;
}

}  // namespace

TransferPlan plan_of(nb::handle object, int dimension, int degree) {
    TransferPlan plan;
    const int affine = nb::cast<int>(object.attr("affine"));
    if (affine < 0 || affine > int(Affine::spin)) throw std::invalid_argument("plan.affine: unknown kind");
    plan.affine = Affine(affine);
    plan.flip = nb::cast<double>(object.attr("flip"));
    plan.keep = nb::cast<double>(object.attr("keep"));
    plan.shear_damping = nb::cast<double>(object.attr("shear_damping"));
    plan.light = nb::cast<double>(object.attr("light"));
    plan.moving_map = nb::cast<bool>(object.attr("moving_map"));
    const int32_t* linear = checked<int32_t>(object.attr("linear"), "plan.linear", {dimension});
    for (int a = 0; a < dimension; ++a) plan.linear[a] = linear[a] != 0;
    const int64_t count = length(object.attr("high"), "plan.high");
    const int32_t* exponents = checked<int32_t>(object.attr("high"), "plan.high", {count, 3});
    if (count > HighModes::kMost) throw std::invalid_argument("plan.high: too many modes");
    plan.high.count = int(count);
    for (int64_t k = 0; k < 3 * count; ++k) {
        if (exponents[k] < 0 || exponents[k] > degree || (dimension == 2 && k % 3 == 0 && exponents[k] > 0))
            throw std::invalid_argument("plan.high: exponents must lie between 0 and the degree of the splines");
        plan.high.exponent[k / 3][k % 3] = exponents[k];
    }
    if (count > 0 && plan.affine == Affine::none) throw std::invalid_argument("plan.high: needs the affine modes");
    return plan;
}

ModeSet smallest_set(const HighModes& high, int degree, bool gradient) {
    ModeSet set = gradient ? ModeSet::gradient : ModeSet::affine;
    for (int h = 0; h < high.count; ++h) {
        const int* e = high.exponent[h];
        const int used = (e[0] > 0) + (e[1] > 0) + (e[2] > 0), sum = e[0] + e[1] + e[2];
        const bool linear = e[0] <= 1 && e[1] <= 1 && e[2] <= 1;
        const ModeSet needs = used == 1 && sum == degree ? ModeSet::gradient : linear ? ModeSet::products : ModeSet::full;
        set = std::max(set, needs);
    }
    return set;
}

void bind_transfer(nb::module_& m) {
    m.def(
        "scatter",
        [](nb::object particles, nb::object parameters, const std::string& material, nb::object lattice,
           const Order& order, nb::object plan, const Links& links, int dimension, int degree, bool gradient, double dt,
           bool momentum, bool stress, bool add, nb::object nodes) {
            auto* call = is_single(particles) ? &scatter_arrays<float> : &scatter_arrays<double>;
            call(particles, parameters, material, lattice, order, plan, links, dimension, degree, gradient, dt, momentum,
                 stress, add, nodes);
        },
        nb::arg("particles"), nb::arg("parameters"), nb::arg("material"), nb::arg("lattice"), nb::arg("order"),
        nb::arg("plan"), nb::arg("links"), nb::arg("dimension"), nb::arg("degree"), nb::arg("gradient"), nb::arg("dt"),
        nb::arg("momentum"), nb::arg("stress"), nb::arg("add"), nb::arg("nodes"));
    m.def(
        "gather",
        [](nb::object particles, nb::object out, nb::object parameters, const std::string& material, nb::object lattice,
           const Order& order, nb::object plan, const Links& links, nb::object velocity, nb::object change, int dimension,
           int degree, bool mls, double dt, bool exponential) {
            auto* call = is_single(particles) ? &gather_arrays<float> : &gather_arrays<double>;
            return call(particles, out, parameters, material, lattice, order, plan, links, velocity, change, dimension,
                        degree, mls, dt, exponential);
        },
        nb::arg("particles"), nb::arg("out"), nb::arg("parameters"), nb::arg("material"), nb::arg("lattice"),
        nb::arg("order"), nb::arg("plan"), nb::arg("links"), nb::arg("velocity"), nb::arg("change").none(),
        nb::arg("dimension"), nb::arg("degree"), nb::arg("mls"), nb::arg("dt"), nb::arg("exponential"));
    m.def("particle_sums", &particle_sums, nb::arg("particles"), nb::arg("lattice"), nb::arg("plan"),
          nb::arg("dimension"), nb::arg("degree"), nb::arg("elastic").none(), nb::arg("staggered"));
}

}  // namespace continua
