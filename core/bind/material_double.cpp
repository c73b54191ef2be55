#include "material_kernels.hpp"

namespace continua {
using T = double;
template void material_energy<T>(const std::string&, const MaterialArrays&, nb::handle);
template void material_piola<T>(const std::string&, const MaterialArrays&, nb::handle);
template void material_differential<T>(const std::string&, const MaterialArrays&, nb::handle, bool, nb::handle);
template void material_kirchhoff<T>(const std::string&, const MaterialArrays&, nb::handle, nb::handle);
template void material_flow<T>(const std::string&, const MaterialArrays&, double, nb::handle);
template bool batch_functions(const std::string&, const Particles<T>&, const Parameters<T>&, BatchFunctions<T, 2>&);
template bool batch_functions(const std::string&, const Particles<T>&, const Parameters<T>&, BatchFunctions<T, 3>&);
}  // namespace continua
