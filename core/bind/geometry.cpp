// Python bindings of core/geometry. Every argument is checked here; what gets past cannot crash the kernels.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "../geometry/mesh_distance.hpp"
#include "../geometry/poisson_disk.hpp"

namespace nb = nanobind;

namespace continua {
namespace {

using Input = nb::ndarray<nb::ro, nb::device::cpu>;

[[noreturn]] void refuse(const char* name, const std::string& what) {
    throw nb::value_error((std::string(name) + ": " + what).c_str());
}

bool c_contiguous(const Input& array) {
    if (array.size() == 0) return true;
    int64_t expected = 1;
    for (size_t a = array.ndim(); a-- > 0;) {
        if (array.shape(a) != 1 && array.stride(a) != expected) return false;
        expected *= static_cast<int64_t>(array.shape(a));
    }
    return true;
}

/// The data of a C-contiguous array of rows of three T, or a ValueError that names the argument.
template <typename T>
const T* rows_of_three(const Input& array, const char* name, const char* type) {
    if (array.dtype() != nb::dtype<T>()) refuse(name, std::string("expected an array of ") + type);
    if (array.ndim() != 2 || array.shape(1) != 3) refuse(name, "expected shape (N, 3)");
    if (!c_contiguous(array)) refuse(name, "expected a C-contiguous array");
    return static_cast<const T*>(array.data());
}

void require_finite(const double* values, size_t count, const char* name) {
    for (size_t i = 0; i < count; ++i)
        if (!std::isfinite(values[i])) refuse(name, "all values must be finite");
}

template <typename T>
nb::ndarray<nb::numpy, T> to_numpy(std::unique_ptr<T[]> data, std::initializer_list<size_t> shape) {
    T* raw = data.release();
    nb::capsule owner(raw, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::ndarray<nb::numpy, T>(raw, shape, owner);
}

nb::ndarray<nb::numpy, double> mesh_signed_distance(const Input& vertices, const Input& faces, const Input& points) {
    const double* x = rows_of_three<double>(vertices, "vertices", "float64");
    const int32_t* f = rows_of_three<int32_t>(faces, "faces", "int32");
    const double* p = rows_of_three<double>(points, "points", "float64");
    const size_t vertex_count = vertices.shape(0), face_count = faces.shape(0), count = points.shape(0);
    if (face_count == 0) refuse("faces", "at least one triangle is needed");
    if (face_count > 1000000000) refuse("faces", "at most 1e9 triangles are supported");
    require_finite(x, 3 * vertex_count, "vertices");
    require_finite(p, 3 * count, "points");
    for (size_t i = 0; i < 3 * face_count; ++i)
        if (f[i] < 0 || static_cast<size_t>(f[i]) >= vertex_count) refuse("faces", "vertex index out of range");
    std::unique_ptr<double[]> distances(new double[count]);
    {
        nb::gil_scoped_release release;
        const geometry::MeshDistance mesh(x, f, face_count);
        geometry::mesh_signed_distance(mesh, p, static_cast<int64_t>(count), distances.get());
    }
    return to_numpy(std::move(distances), {count});
}

template <int D>
nb::ndarray<nb::numpy, double> poisson_points(const Input& blocks, uint64_t seed) {
    typename geometry::PoissonDisk<D>::Integers shape;
    for (int a = 0; a < D; ++a) shape[a] = static_cast<int64_t>(blocks.shape(a));
    std::unique_ptr<double[]> out;
    size_t count = 0;
    {
        nb::gil_scoped_release release;
        geometry::PoissonDisk<D> disk(static_cast<const uint8_t*>(blocks.data()), shape, seed);
        const auto& points = disk.run();
        count = points.size();
        out.reset(new double[count * D]);
        for (size_t n = 0; n < count; ++n)
            for (int a = 0; a < D; ++a) out[n * D + a] = static_cast<double>(points[n][a]) / static_cast<double>(disk.radius);
    }
    return to_numpy(std::move(out), {count, static_cast<size_t>(D)});
}

nb::ndarray<nb::numpy, double> poisson_disk(const Input& blocks, uint64_t seed) {
    if (blocks.dtype() != nb::dtype<uint8_t>()) refuse("blocks", "expected an array of uint8");
    if (blocks.ndim() != 2 && blocks.ndim() != 3) refuse("blocks", "expected 2 or 3 axes");
    if (!c_contiguous(blocks)) refuse("blocks", "expected a C-contiguous array");
    const uint8_t* wanted = static_cast<const uint8_t*>(blocks.data());
    if (blocks.size() > 1000000000) refuse("blocks", "at most 1e9 blocks are supported");
    if (std::count_if(wanted, wanted + blocks.size(), [](uint8_t b) { return b != 0; }) > 20000000)
        refuse("blocks", "at most 2e7 blocks can be filled");  // cells are numbered with 32 bits
    return blocks.ndim() == 2 ? poisson_points<2>(blocks, seed) : poisson_points<3>(blocks, seed);
}

}  // namespace

void bind_geometry(nb::module_& m) {
    m.def("mesh_signed_distance", &mesh_signed_distance, nb::arg("vertices").noconvert(), nb::arg("faces").noconvert(),
          nb::arg("points").noconvert(),
          "Signed distance (N,) float64 [m], negative inside, from points (N, 3) float64 to the closed, outward-facing\n"
          "triangle mesh vertices (V, 3) float64, faces (F, 3) int32. All arrays C-contiguous.");
    m.def("poisson_disk", &poisson_disk, nb::arg("blocks").noconvert(), nb::arg("seed"),
          "Poisson-disk points (N, d) float64, at least 1 apart, in the blocks (2 wide, lowest corner at the origin) whose\n"
          "entry in blocks (n, m) or (n, m, k) uint8 is not zero.");
}

}  // namespace continua
