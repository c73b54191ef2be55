// One step of contact: where continua meet each other and obstacles, how, and what it does to their velocities.
#pragma once

#include "extent.hpp"
#include "obstacle_extents.hpp"
#include "rounds.hpp"

namespace continua {

inline constexpr int kWallRounds = 4;  // of pairs and obstacles in turn, where a node has both

// What a pair or an obstacle gave in a step.
struct ContactTotal {
    Vec3 impulse{0, 0, 0};  // to the first of the pair, or to all that the obstacle touched [N s]
    int64_t nodes = 0;      // with an impulse

    void add(const NodeContact& contact) {
        for (int e = 0; e < 3; ++e) impulse[e] += contact.impulse[e];
        nodes += contact.acted;
    }
    void add(const ContactTotal& other) {
        for (int e = 0; e < 3; ++e) impulse[e] += other.impulse[e];
        nodes += other.nodes;
    }
};

template <class T, int d>
class Meeting {
  public:
    std::vector<PairZone<T, d>> pairs;          // one per rule
    std::vector<ObstacleZone<T, d>> obstacles;  // one per field
    std::vector<ObstacleSurface> surfaces;

    // closing: whether normals and gaps are for one step only.
    Meeting(std::vector<Field<T>>& fields, const std::vector<PairRule>& rules, const Lattice<T, d>& lattice,
            const std::vector<Collider>& colliders = {}, const ObstacleLaw& law = {}, const OnlyClosing& closing = {})
        : surfaces(obstacle_surfaces<d>(colliders)), fields_(fields), lattice_(lattice), law_(law), closing_(closing) {
        for (const PairRule& rule : rules) pairs.emplace_back(rule, fields[rule.a], fields[rule.b]);
        for (const auto& pair : pairs) paired_ = paired_ || !pair.keys.empty();
        for (const auto& field : fields)
            obstacles.push_back(surfaces.empty() || !field.walls
                                    ? ObstacleZone<T, d>{}
                                    : ObstacleZone<T, d>(field, lattice, surfaces, law, of_walls().on));
        for (const auto& pair : pairs) keys_.insert(keys_.end(), pair.keys.begin(), pair.keys.end());
        for (const auto& zone : obstacles) keys_.insert(keys_.end(), zone.keys.begin(), zone.keys.end());
        sort_unique(keys_);
        present_.resize(keys_.size());
        for (size_t p = 0; p < pairs.size(); ++p) {
            const std::vector<int32_t> at = find_keys(keys_, pairs[p].keys);
            for (size_t z = 0; z < at.size(); ++z) present_[at[z]].pairs.push_back({int32_t(p), int32_t(z)});
        }
        for (size_t f = 0; f < obstacles.size(); ++f) {
            const std::vector<int32_t> at = find_keys(keys_, obstacles[f].keys);
            for (size_t z = 0; z < at.size(); ++z) present_[at[z]].walls.push_back({int32_t(f), int32_t(z)});
        }
    }
    bool empty() const { return keys_.empty(); }

    // Normals and gaps.
    template <int degree>
    void find_contacts() {
        std::vector<FieldZone<T, d, degree>> zones(fields_.size());
        for (size_t f = 0; f < zones.size(); ++f) {
            zones[f].asked = asked_of(int(f));
            if (zones[f].asked.count()) zones[f].scatter(fields_[f], lattice_);
        }
        for (auto& pair : pairs) {
            if (pair.keys.empty()) continue;
            const auto &a = zones[pair.rule.a], &b = zones[pair.rule.b];
            const TwoSided two_sided{fields_[pair.rule.a].two_sided(), fields_[pair.rule.b].two_sided()};
            find_normals<T, d>(pair, a, b, lattice_, two_sided);
            choose_extents(pair, closing_.on);
            find_extent_gaps<T, d, degree>(pair, fields_[pair.rule.a], fields_[pair.rule.b], a, b, lattice_);
        }
        for (size_t f = 0; f < fields_.size(); ++f)
            find_obstacle_gaps<T, d, degree>(obstacles[f], fields_[f], zones[f], surfaces, lattice_, law_of(fields_[f]), of_walls());
    }

    // Velocities change in place; totals of the rules and of the rows of obstacles.
    void resolve(double dt, ContactTotal* of_pairs, ContactTotal* of_rows) {
        const int64_t blocks = int64_t(keys_.size());
        std::vector<BlockTotals> partial(keys_.size());
#pragma omp parallel num_threads(team(blocks, kBlocksPerThread))
        {
            NodeWork work(fields_.size());
#pragma omp for schedule(dynamic, 16)
            for (int64_t z = 0; z < blocks; ++z) resolve_block(z, dt, work, partial[z]);
        }
        for (int64_t z = 0; z < blocks; ++z) {  // in the order of blocks: the same bits for any number of threads
            for (size_t k = 0; k < present_[z].pairs.size(); ++k) of_pairs[present_[z].pairs[k].of].add(partial[z].pairs[k]);
            for (const auto& [row, total] : partial[z].rows) of_rows[row].add(total);
        }
    }
    bool held(const ObstacleNode& node) const {
        return surfaces[node.surface].shape.mode != ContactMode::separate && node.held(law_, double(lattice_.dx));
    }
    double gap(const ObstacleNode& node, int32_t field = 0) const {
        return node.gap(slack_of(fields_[field]) * double(lattice_.dx));
    }

  private:
    double slack_of(const Field<T>& field) const { return field.slack < 0 ? law_.slack : field.slack; }
    ObstacleLaw law_of(const Field<T>& field) const {
        ObstacleLaw own = law_;
        own.slack = slack_of(field);
        return own;
    }
    static double closing(double gap, const Field<T>& a, const Field<T>& b, double dt) {
        return allowed_approach(gap, std::max(a.recovery, b.recovery), std::max(a.undone, b.undone), dt);
    }
    struct Place {
        int32_t of, slot;  // pair or field, and its block in its zone
    };
    struct Presence {
        std::vector<Place> pairs, walls;  // in the order of rules and fields
    };
    struct BlockTotals {
        std::vector<ContactTotal> pairs;
        std::vector<std::pair<int32_t, ContactTotal>> rows;
    };
    // What meets at one node. Obstacle contacts are grouped by field: `ends` after each group.
    struct NodeWork {
        std::vector<Meeter> meeters;
        std::vector<T*> nodes;  // of each field that takes part, else null
        std::vector<NodeContact> pairs, walls;
        std::vector<int> pair_of, row_of, ends;
        std::vector<int64_t> next;  // obstacle nodes of each field still to come

        explicit NodeWork(size_t fields) : meeters(fields), nodes(fields, nullptr) {}
        void clear() {
            std::fill(nodes.begin(), nodes.end(), nullptr);
            pairs.clear(), walls.clear(), pair_of.clear(), row_of.clear(), ends.clear();
        }
        void take(int field, T* node) {
            if (nodes[field]) return;
            nodes[field] = node;
            meeters[field] = {double(node[3]), vector_of<d>(node), false};
        }
    };
    std::vector<Field<T>>& fields_;
    const Lattice<T, d>& lattice_;
    const ObstacleLaw law_;
    const OnlyClosing closing_;
    bool paired_ = false;            // whether continua share nodes
    std::vector<uint64_t> keys_;     // blocks where anything meets
    std::vector<Presence> present_;  // in each of them

    // Where continua meet, velocities change before obstacles act.
    OnlyClosing of_walls() const { return {closing_.on && !paired_, closing_.dt}; }
    T* node_of(int field, int32_t block, int i) const {
        return fields_[field].nodes + (int64_t(block) * kBlockNodes<d> + i) * 4;
    }
    // Nodes of a field that it shares with others or that obstacles may touch.
    AskedNodes<d> asked_of(int field) const {
        AskedNodes<d> asked;
        auto takes_part = [&](const PairZone<T, d>& pair) { return pair.rule.a == field || pair.rule.b == field; };
        for (const auto& pair : pairs)
            if (takes_part(pair)) asked.ask_in(pair.keys);
        const auto& walls = obstacles[field];
        asked.ask_in(walls.keys);
        asked.settle_blocks();
        for (const auto& pair : pairs)
            for (int64_t z = 0; takes_part(pair) && z < pair.blocks(); ++z) {
                const int32_t slot = find_key(asked.keys, pair.keys[z]);
                for (int i = 0; i < kBlockNodes<d>; ++i)
                    if (pair.at(z, i).shared) asked.ask(slot, i);
            }
        const std::vector<int32_t> slots = find_keys(asked.keys, walls.keys);
        for (size_t z = 0; z < walls.keys.size(); ++z)
            for (int64_t i = walls.first[z]; i < walls.first[z + 1]; ++i) asked.ask(slots[z], walls.nodes[i].node);
        asked.count_nodes();
        return asked;
    }
    void choose_extents(PairZone<T, d>& pair, bool only_approaching) const {
        const bool two_sided = fields_[pair.rule.a].two_sided() || fields_[pair.rule.b].two_sided();
        for (int64_t z = 0; z < pair.blocks(); ++z) {
            const Presence& here = present_[find_key(keys_, pair.keys[z])];
            const bool alone = here.pairs.size() == 1 && here.walls.empty();
            for (int i = 0; i < kBlockNodes<d>; ++i) {
                PairNode& node = pair.at(z, i);
                if (!node.shared || dot(node.n, node.n) == 0) continue;
                node.wanted = node.extent_only || node.gap_fill > kFilled * double(lattice_.dx);
                if (!only_approaching || !alone || two_sided) continue;
                const Vec3 ua = vector_of<d>(node_of(pair.rule.a, pair.block_a[z], i));
                const Vec3 ub = vector_of<d>(node_of(pair.rule.b, pair.block_b[z], i));
                node.wanted &= dot(minus(ua, ub), node.n) > 0;
            }
        }
    }
    void resolve_block(int64_t z, double dt, NodeWork& work, BlockTotals& totals) const {
        const Presence& here = present_[z];
        totals.pairs.resize(here.pairs.size());
        work.next.clear();
        for (const Place& wall : here.walls) work.next.push_back(obstacles[wall.of].first[wall.slot]);
        for (int i = 0; i < kBlockNodes<d>; ++i) {
            if (here.pairs.empty()) {
                i = next_wall(here, dt, work.next);
                if (i >= kBlockNodes<d>) break;
            }
            work.clear();
            gather_pairs(here, i, dt, work);
            gather_walls(here, i, dt, work);
            if (work.pairs.empty() && work.walls.empty()) continue;
            meet(work);
            for (size_t f = 0; f < fields_.size(); ++f)
                if (work.nodes[f] && work.meeters[f].moved)
                    for (int a = 0; a < d; ++a) work.nodes[f][a] = T(work.meeters[f].u[a]);
            for (size_t k = 0; k < work.pairs.size(); ++k) totals.pairs[work.pair_of[k]].add(work.pairs[k]);
            for (size_t k = 0; k < work.walls.size(); ++k) add_row(work.row_of[k], work.walls[k], totals);
        }
    }
    // The next node that obstacles may act on. One that does not close its gap to the only one need not be gathered.
    int next_wall(const Presence& here, double dt, std::vector<int64_t>& next) const {
        int node = kBlockNodes<d>;
        for (size_t k = 0; k < here.walls.size(); ++k) {
            const auto& zone = obstacles[here.walls[k].of];
            const int64_t end = zone.first[here.walls[k].slot + 1];
            while (next[k] < end && stays_open(here.walls[k].of, next[k], end, dt)) ++next[k];
            if (next[k] < end) node = std::min(node, zone.nodes[next[k]].node);
        }
        return node;
    }
    bool stays_open(int32_t field, int64_t i, int64_t end, double dt) const {
        const auto& nodes = obstacles[field].nodes;
        const ObstacleNode& node = nodes[i];
        if (surfaces[node.surface].shape.mode != ContactMode::separate) return false;
        if (i + 1 < end && nodes[i + 1].node == node.node) return false;
        return !(node.template approach<T, d>(fields_[field]) > closing(gap(node, field), fields_[field], fields_[field], dt));
    }
    void gather_pairs(const Presence& here, int i, double dt, NodeWork& work) const {
        for (size_t k = 0; k < here.pairs.size(); ++k) {
            const auto& [of, slot] = here.pairs[k];
            const auto& pair = pairs[of];
            const PairNode& node = pair.at(slot, i);
            if (!node.shared || dot(node.n, node.n) == 0) continue;
            const double gap = node.gap(pair.rule.slack * double(lattice_.dx));
            if (!(gap < std::numeric_limits<double>::infinity())) continue;
            work.pairs.push_back({pair.rule.a, pair.rule.b, node.n, closing(gap, fields_[pair.rule.a], fields_[pair.rule.b], dt), pair.rule.friction,
                                  ContactMode::separate, {}});
            work.pair_of.push_back(int(k));
            work.take(pair.rule.a, node_of(pair.rule.a, pair.block_a[slot], i));
            work.take(pair.rule.b, node_of(pair.rule.b, pair.block_b[slot], i));
        }
    }
    void gather_walls(const Presence& here, int i, double dt, NodeWork& work) const {
        for (size_t k = 0; k < here.walls.size(); ++k) {
            const auto& [field, slot] = here.walls[k];
            const auto& zone = obstacles[field];
            for (; work.next[k] < zone.first[slot + 1] && zone.nodes[work.next[k]].node == i; ++work.next[k]) {
                const ObstacleNode& node = zone.nodes[work.next[k]];
                const ObstacleSurface& surface = surfaces[node.surface];
                const bool hold = held(node);
                const double between = gap(node, field);
                if (!hold && !(between < std::numeric_limits<double>::infinity())) continue;
                work.walls.push_back({field, -1, {-node.out[0], -node.out[1], -node.out[2]},
                                      hold ? 0.0 : closing(between, fields_[field], fields_[field], dt), wall_friction(field, surface),
                                      hold ? surface.shape.mode : ContactMode::separate, node.velocity});
                work.row_of.push_back(surface.row);
                work.take(field, node_of(field, node.block, i));
            }
            work.ends.push_back(int(work.walls.size()));
        }
    }
    // Continua first, then the obstacles of each, which have the last word.
    static void meet(NodeWork& work) {
        for (int round = 0; round < kWallRounds; ++round) {
            const bool met = resolve_largest_first(work.pairs.data(), int(work.pairs.size()), work.meeters);
            if (round > 0 && !met) break;
            bool stopped = false;
            for (size_t g = 0; g < work.ends.size(); ++g) {
                const int begin = g ? work.ends[g - 1] : 0;
                stopped |= resolve_largest_first(work.walls.data() + begin, work.ends[g] - begin, work.meeters);
            }
            if (!stopped || work.pairs.empty()) break;
        }
    }
    double wall_friction(int field, const ObstacleSurface& surface) const {
        const double* own = fields_[field].wall_friction;
        return own ? own[surface.row] : surface.shape.friction;
    }
    static void add_row(int32_t row, const NodeContact& contact, BlockTotals& totals) {
        auto at = std::find_if(totals.rows.begin(), totals.rows.end(), [&](const auto& r) { return r.first == row; });
        if (at == totals.rows.end()) at = totals.rows.insert(at, {row, {}});
        at->second.add(contact);
    }
};

inline constexpr double kOnFace = 1e-9;  // cells: nodes this near to the surface of a region belong to it

// Regions of fixed velocity have the very last word: nodes inside and on their surface take what they prescribe, the last
// of several counts.
template <class T, int d>
void prescribe_regions(Field<T>& field, const Lattice<T, d>& lattice, const std::vector<Collider>& colliders,
                       ContactTotal* of_rows) {
    const double dx = lattice.dx, half = 0.5 * (kSide - 1) * dx;
    for (size_t row = 0; row < colliders.size(); ++row) {
        const Collider& region = colliders[row];
        if (region.kind != ColliderKind::region) continue;
        for (int64_t b = 0; b < field.blocks; ++b) {
            const Vec3 corner = first_node(lattice, field.keys[b]);
            Vec3 centre = corner;
            for (int a = 0; a < d; ++a) centre[a] += half;
            if (region.evaluate(centre).phi > half * std::sqrt(double(d)) * (1 + 1e-9)) continue;
            for_block_nodes<d>([&](int i, const std::array<int, 3>& l) {
                T* node = field.nodes + (b * kBlockNodes<d> + i) * 4;
                Vec3 x = corner;
                for (int a = 0; a < d; ++a) x[a] += dx * l[a];
                if (!(node[3] > T(0)) || !(region.evaluate(x).phi <= kOnFace * dx)) return;
                of_rows[row].nodes += 1;
                for (int a = 0; a < d; ++a) {
                    if (region.velocity[a] != region.velocity[a]) continue;  // NaN leaves a component free
                    of_rows[row].impulse[a] += double(node[3]) * (region.velocity[a] - double(node[a]));
                    node[a] = T(region.velocity[a]);
                }
            });
        }
    }
}

}  // namespace continua
