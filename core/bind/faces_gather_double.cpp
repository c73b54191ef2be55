#include "faces_gather.hpp"

namespace continua {
template nb::dict gather_faces_arrays<double>(nb::handle, nb::handle, nb::handle, const Order&, nb::handle, const Links&, nb::handle,
                                             nb::handle, nb::handle, int, int, double, double, uint64_t);
}  // namespace continua
