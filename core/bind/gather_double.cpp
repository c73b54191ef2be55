#include "gather.hpp"

namespace continua {
template nb::dict gather_arrays<double>(nb::handle, nb::handle, nb::handle, const std::string&, nb::handle, const Order&,
                                      nb::handle, const Links&, nb::handle, nb::handle, int, int, bool, double, bool);
}  // namespace continua
