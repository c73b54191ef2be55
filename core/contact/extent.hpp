// How far particles reach along the normal of a node: the safety net under the fill, for bodies too thin or too loose to
// fill a node. Of all particles whose stencil holds node i
//     reach = max (x_p - x_i).n + e_p(n),   e_p = r_p |F_p^T n|,   r_p = V0^(1/d)/2
// and the gap is what is left between the reach of a along n and that of b against it (after Nairn et al. 2020). Maxima do
// not depend on order, so neither does the result.
#pragma once

#include "normals.hpp"

namespace continua {

// Where nothing but extents decides, particles count less the farther they lie beside the node [cells]: else a normal that
// leans a little at an edge would make the far ends of two flat faces overlap.
inline constexpr double kCone = 0.35, kBeside = 0.5;

// What one continuum reaches at the nodes of a pair, along n and against it [m]; -inf where nothing is asked.
struct Reach {
    static constexpr double kNone = -std::numeric_limits<double>::infinity();
    double along = kNone, against = kNone;
};

// reach (pair nodes), merged with what is there.
template <class T, int d, int degree>
void scatter_extents(const FieldSet<T>& set, const PairZone<T, d>& pair, const Lattice<T, d>& lattice, Reach* reach) {
    constexpr int kTile = kTileNodes<d, degree>, kBlock = kBlockNodes<d>;
    const ZoneTiles zone = ZoneTiles::of<T, d>(pair.keys, set.order, lattice);
    std::vector<int32_t> target(size_t(zone.count()) * kTile, -1);  // of every tile node: wanted node of the pair
    for (int64_t z = 0; z < pair.blocks(); ++z)
        for (int corner = 0; corner < kCorners<d>; ++corner) {
            const int32_t k = zone.sources[z * kCorners<d> + corner];
            if (k < 0) continue;
            for_shared_rows<d, degree>(corner, [&](int from, int to, int count) {
                for (int i = 0; i < count; ++i)
                    if (pair.at(z, to + i).wanted) target[size_t(k) * kTile + from + i] = int32_t(z * kBlock + to + i);
            });
        }
    std::vector<Reach> found(target.size());
    const double dx = lattice.dx;
#pragma omp parallel for schedule(dynamic, 1) num_threads(team(zone.count(), kBlocksPerThread))
    for (int64_t k = 0; k < zone.count(); ++k) {
        const int64_t s = zone.blocks[k];
        const int32_t* wanted = target.data() + k * kTile;
        const WantedBox<d, degree> box([&](int node) { return wanted[node] >= 0; });
        if (box.empty()) continue;
        const BlockCoords<d> block = block_coords<d>(set.order.keys[s]);
        for (int64_t at = set.order.offsets[s]; at < set.order.offsets[s + 1]; ++at) {
            const int64_t p = set.order.order[at];
            const TilePlace<T, d, degree> place(set.particles, p, lattice, block);
            ParticleCube<d> cube;
            place.for_nodes(box, [&](int node, const Vec3& off) {
                if (wanted[node] < 0) return;
                const PairNode& at_node = pair.nodes[wanted[node]];
                const double up = dot(off, at_node.n), centre = dx * up;
                double half = cube.half_width(set, p, at_node.n);
                if (at_node.extent_only) {
                    const double beside = std::sqrt(std::max(0.0, dot(off, off) - up * up));
                    half -= dx * kCone * std::max(0.0, beside - kBeside);
                }
                Reach& r = found[size_t(k) * kTile + node];
                r.along = std::max(r.along, centre + half);
                r.against = std::max(r.against, half - centre);
            });
        }
    }
    for (size_t i = 0; i < found.size(); ++i)
        if (target[i] >= 0) {
            Reach& r = reach[target[i]];
            r.along = std::max(r.along, found[i].along);
            r.against = std::max(r.against, found[i].against);
        }
}

// Gaps between the particles of a and b at all wanted nodes. Where a surface has two sides its normal may point either
// way: it is turned from the particles of a towards those of b.
template <class T, int d, int degree>
void find_extent_gaps(PairZone<T, d>& pair, const Field<T>& a, const Field<T>& b, const Lattice<T, d>& lattice) {
    if (std::none_of(pair.nodes.begin(), pair.nodes.end(), [](const PairNode& n) { return n.wanted; })) return;
    std::vector<Reach> of_a(pair.nodes.size()), of_b(pair.nodes.size());
    for (const auto& set : a.sets) scatter_extents<T, d, degree>(set, pair, lattice, of_a.data());
    for (const auto& set : b.sets) scatter_extents<T, d, degree>(set, pair, lattice, of_b.data());
    const bool two_sided = a.two_sided() || b.two_sided();
    for (size_t i = 0; i < pair.nodes.size(); ++i) {
        PairNode& node = pair.nodes[i];
        if (!node.wanted || !(of_a[i].along > Reach::kNone) || !(of_b[i].along > Reach::kNone)) continue;
        const double ahead = (of_b[i].along - of_b[i].against) - (of_a[i].along - of_a[i].against);
        if (two_sided && node.extent_only && ahead < 0) {
            for (double& c : node.n) c = -c;
            std::swap(of_a[i].along, of_a[i].against);
            std::swap(of_b[i].along, of_b[i].against);
        }
        node.gap_extent = -of_b[i].against - of_a[i].along;
    }
}

}  // namespace continua
