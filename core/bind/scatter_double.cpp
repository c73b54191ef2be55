#include "scatter.hpp"

namespace continua {
template void scatter_arrays<double>(nb::handle, nb::handle, const std::string&, nb::handle, const Order&, nb::handle, const Links&, int, int,
                                   bool, double, bool, bool, bool, nb::handle);
}  // namespace continua
