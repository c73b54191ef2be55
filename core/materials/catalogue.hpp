// The list of material models. A new material adds its header and one name here.
#pragma once

#include <stdexcept>
#include <string>
#include <tuple>

#include "deviatoric_corotated.hpp"
#include "fixed_corotated.hpp"
#include "hencky.hpp"
#include "liquid.hpp"
#include "neo_hookean.hpp"
#include "oldroyd_b.hpp"
#include "snow.hpp"
#include "yield.hpp"

namespace continua {

using Catalogue = std::tuple<FixedCorotated, NeoHookean, QuadraticNeoHookean, DeviatoricCorotated, Hencky, Snow, Rankine,
                             VonMises, DruckerPrager, OldroydB, HerschelBulkley, Liquid>;

// Call function.template operator()<Model>() for the model of that name.
template <class Function>
inline void with_model(std::string_view name, Function&& function) {
    bool found = false;
    auto attempt = [&]<class Model>() {
        if (Model::name == name) {
            function.template operator()<Model>();
            found = true;
        }
    };
    [&]<class... Models>(std::tuple<Models...>*) { (attempt.template operator()<Models>(), ...); }((Catalogue*)nullptr);
    if (!found) throw std::invalid_argument("material: the core has no model named '" + std::string(name) + "'");
}

}  // namespace continua
