// Small matrices in bulk: arrays (d*d, n), component-major.
#include "../math/differentials.hpp"
#include "../math/polar.hpp"
#include "arrays.hpp"

namespace continua {
namespace {

// Run f(first index, lanes) over n particles; the ragged end runs as scalars, so no padding is needed.
template <class T, class Function>
void for_lanes(int64_t n, Function&& f) {
    constexpr int width = lanes_of<Lanes<T>>();
    const int64_t whole = n / width;
#pragma omp parallel for schedule(static) num_threads(team(n))
    for (int64_t k = 0; k < whole; ++k) f.template operator()<Lanes<T>>(k * width);
    for (int64_t i = whole * width; i < n; ++i) f.template operator()<T>(i);
}
template <class V, int d>
Mat<V, d> read(const Scalar<V>* a, int64_t n, int64_t i) {
    Mat<V, d> m;
    for (int k = 0; k < d * d; ++k) m.a[k] = load<V>(a + k * n + i);
    return m;
}
template <class V, int d>
void write(const Mat<V, d>& m, Scalar<V>* a, int64_t n, int64_t i) {
    for (int k = 0; k < d * d; ++k) store(m.a[k], a + k * n + i);
}

int dimension_of(nb::handle F) {
    const int64_t rows = length(F, "F");
    if (rows != 4 && rows != 9) throw std::invalid_argument("F: expected 4 or 9 rows (one per matrix entry)");
    return rows == 4 ? 2 : 3;
}

void svd(nb::object F, nb::object U, nb::object s, nb::object V_) {
    dispatch(F, "F", dimension_of(F), [&]<class T, int d>() {
        const int64_t n = length(F, "F", 1);
        const T* f = checked<T>(F, "F", {d * d, n});
        T *u = checked<T>(U, "U", {d * d, n}), *v = checked<T>(V_, "V", {d * d, n}), *sv = checked<T>(s, "s", {d, n});
        nb::gil_scoped_release release;
        for_lanes<T>(n, [&]<class L>(int64_t i) {
            const Svd<L, d> out = polar_svd(read<L, d>(f, n, i));
            write(out.U, u, n, i);
            write(out.V_, v, n, i);
            for (int k = 0; k < d; ++k) store(out.s[k], sv + k * n + i);
        });
    });
}
void rotation(nb::object F, nb::object R) {
    dispatch(F, "F", dimension_of(F), [&]<class T, int d>() {
        const int64_t n = length(F, "F", 1);
        const T* f = checked<T>(F, "F", {d * d, n});
        T* r = checked<T>(R, "R", {d * d, n});
        nb::gil_scoped_release release;
        for_lanes<T>(n, [&]<class L>(int64_t i) { write(rotation_of(read<L, d>(f, n, i)), r, n, i); });
    });
}
// Differentials in the direction dF: of cof F, of the rotation R, and of U, s, V.
void differentials(nb::object F, nb::object dF, nb::object dcof, nb::object dR, nb::object dU, nb::object ds,
                   nb::object dV) {
    dispatch(F, "F", dimension_of(F), [&]<class T, int d>() {
        const int64_t n = length(F, "F", 1);
        const T *f = checked<T>(F, "F", {d * d, n}), *df = checked<T>(dF, "dF", {d * d, n});
        T *c = checked<T>(dcof, "dcof", {d * d, n}), *r = checked<T>(dR, "dR", {d * d, n});
        T *u = checked<T>(dU, "dU", {d * d, n}), *s = checked<T>(ds, "ds", {d, n}), *v = checked<T>(dV, "dV", {d * d, n});
        for_lanes<T>(n, [&]<class L>(int64_t i) {
            const Mat<L, d> A = read<L, d>(f, n, i), dA = read<L, d>(df, n, i);
            const Svd<L, d> svd = polar_svd(A), change = svd_differential(svd, dA);
            write(cofactor_differential(A, dA), c, n, i);
            write(rotation_differential(svd, dA), r, n, i);
            write(change.U, u, n, i);
            write(change.V_, v, n, i);
            for (int k = 0; k < d; ++k) store(change.s[k], s + k * n + i);
        });
    });
}

}  // namespace

void bind_math(nb::module_& m) {
    m.def("polar_svd", &svd, nb::arg("F"), nb::arg("U"), nb::arg("s"), nb::arg("V"));
    m.def("rotation", &rotation, nb::arg("F"), nb::arg("R"));
    m.def("differentials", &differentials, nb::arg("F"), nb::arg("dF"), nb::arg("dcof"), nb::arg("dR"), nb::arg("dU"),
          nb::arg("ds"), nb::arg("dV"));
}

}  // namespace continua
