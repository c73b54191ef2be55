// Particles in blocks and blocks on a grid, as kernels take them. Both can only be made right: by sorting and linking, or
// from arrays that are checked once. So no kernel has to look at every index again, however often it is called in a step.
#pragma once

#include <nanobind/nanobind.h>

#include <stdexcept>
#include <vector>

#include "../grid/links.hpp"
#include "../transfer/particles.hpp"
#include "../transfer/tiles.hpp"

namespace continua {

// The tiles of sorted particles on the blocks of a grid, see link_blocks.
struct Links {
    std::vector<int32_t> reach, sources;
    int64_t particle_blocks = 0, node_blocks = 0;
    int dimension = 0;
    bool complete = false;  // whether the grid has all blocks that the tiles reach
    Colours colours;
};

inline Blocks blocks_of(const Order& order, int64_t particles) {
    if (order.count != particles || order.bad >= 0)
        throw std::invalid_argument("order: does not belong to these particles");
    return {order.keys.data(), order.offsets.data(), order.order.data(), order.blocks()};
}
inline Blocks blocks_of(nanobind::handle object, int64_t particles) {
    return blocks_of(nanobind::cast<const Order&>(object), particles);
}

// (particle blocks, 2^d): all of them blocks of the grid.
template <int d>
inline const int32_t* reach_of(const Links& links, int64_t particle_blocks, int64_t node_blocks) {
    if (links.dimension != d || links.particle_blocks != particle_blocks || links.node_blocks != node_blocks)
        throw std::invalid_argument("links: do not belong to these particles and nodes");
    if (!links.complete) throw std::invalid_argument("links: tiles reach beyond the blocks of the grid");
    return links.reach.data();
}

template <int d>
inline Tiles tiles_of(const Links& links, int64_t particle_blocks, int64_t node_blocks) {
    return {reach_of<d>(links, particle_blocks, node_blocks), links.colours};
}

}  // namespace continua
