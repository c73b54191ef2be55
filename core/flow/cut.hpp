// Where the free surface crosses the line between the middles of two cells.
#pragma once

#include <algorithm>

namespace continua {

inline constexpr double kFarFromLiquid = 2;  // distance where there is no liquid around [cells], the largest that fill gives
inline constexpr double kLeastCut = 1e-6;    // pressure of so many cells of liquid stays where a cell turns to air

// Part of the way from the middle of a liquid cell to that of an air cell that lies in the liquid; signed distances.
inline double surface_cut(double liquid, double air) { return std::clamp(liquid / (liquid - air), kLeastCut, 1.0); }

}  // namespace continua
