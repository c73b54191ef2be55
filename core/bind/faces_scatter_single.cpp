#include "faces_scatter.hpp"

namespace continua {
template void scatter_faces_arrays<float>(nb::handle, nb::handle, const Order&, nb::handle, const Links&, int, int,
                                          bool, nb::handle, nb::handle);
}  // namespace continua
