#include "faces_scatter.hpp"

namespace continua {
template void scatter_faces_arrays<double>(nb::handle, nb::handle, const Order&, nb::handle, int, int, nb::handle, nb::handle);
}  // namespace continua
