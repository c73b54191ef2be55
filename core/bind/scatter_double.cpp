#include "scatter.hpp"

namespace continua {
template void scatter_arrays<double>(nb::handle, nb::handle, const std::string&, nb::handle, const Order&, nb::handle, int, int,
                                   bool, double, bool, bool, nb::handle);
}  // namespace continua
