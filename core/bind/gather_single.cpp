#include "gather.hpp"

namespace continua {
template nb::dict gather_arrays<float>(nb::handle, nb::handle, nb::handle, const std::string&, nb::handle, nb::handle,
                                      nb::handle, nb::handle, nb::handle, nb::handle, int, int, bool, double, bool);
}  // namespace continua
