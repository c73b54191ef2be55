// One step of contact between continua: where they meet, how, and what it does to their velocities.
#pragma once

#include "extent.hpp"
#include "rounds.hpp"

namespace continua {

// What a pair exchanged in a step.
struct PairTotal {
    Vec3 impulse{0, 0, 0};  // given to a [N s]
    int64_t nodes = 0;      // with an impulse
};

template <class T, int d>
class Meeting {
  public:
    std::vector<PairZone<T, d>> pairs;  // one per rule

    Meeting(std::vector<Field<T>>& fields, const std::vector<PairRule>& rules, const Lattice<T, d>& lattice)
        : fields_(fields), lattice_(lattice) {
        for (const PairRule& rule : rules) pairs.emplace_back(rule, fields[rule.a], fields[rule.b]);
        for (const auto& pair : pairs) keys_.insert(keys_.end(), pair.keys.begin(), pair.keys.end());
        sort_unique(keys_);
        present_.resize(keys_.size());
        for (size_t p = 0; p < pairs.size(); ++p)
            for (int64_t z = 0; z < pairs[p].blocks(); ++z)
                present_[find_key(keys_, pairs[p].keys[z])].push_back({int32_t(p), int32_t(z)});
    }
    bool empty() const { return keys_.empty(); }

    // Normals and gaps. only_approaching: those of nodes that could not exchange anything anyway may be left out.
    template <int degree>
    void find_contacts(bool only_approaching) {
        std::vector<FieldZone<T, d>> zones(fields_.size());
        for (const auto& pair : pairs)
            for (int f : {pair.rule.a, pair.rule.b})
                zones[f].keys.insert(zones[f].keys.end(), pair.keys.begin(), pair.keys.end());
        for (size_t f = 0; f < zones.size(); ++f) {
            sort_unique(zones[f].keys);
            if (!zones[f].keys.empty()) zones[f].template scatter<degree>(fields_[f], lattice_);
        }
        for (auto& pair : pairs) {
            if (pair.keys.empty()) continue;
            const TwoSided two_sided{fields_[pair.rule.a].two_sided(), fields_[pair.rule.b].two_sided()};
            find_normals<T, d>(pair, zones[pair.rule.a], zones[pair.rule.b], lattice_, two_sided);
            choose_extents(pair, only_approaching);
            find_extent_gaps<T, d, degree>(pair, fields_[pair.rule.a], fields_[pair.rule.b], lattice_);
        }
    }

    // Velocities change in place; totals (rules).
    void resolve(double dt, PairTotal* totals) {
        std::vector<std::vector<PairTotal>> partial(pairs.size());
        for (size_t p = 0; p < pairs.size(); ++p) partial[p].resize(pairs[p].keys.size());
        const int64_t blocks = int64_t(keys_.size());
#pragma omp parallel for schedule(dynamic, 16) num_threads(team(blocks, kBlocksPerThread))
        for (int64_t z = 0; z < blocks; ++z) resolve_block(z, dt, partial);
        for (size_t p = 0; p < pairs.size(); ++p)  // in the order of blocks: the same bits for any number of threads
            for (const PairTotal& part : partial[p]) {
                for (int e = 0; e < 3; ++e) totals[p].impulse[e] += part.impulse[e];
                totals[p].nodes += part.nodes;
            }
    }

  private:
    struct Presence {
        int32_t pair, slot;
    };
    std::vector<Field<T>>& fields_;
    const Lattice<T, d>& lattice_;
    std::vector<uint64_t> keys_;                  // blocks of all pairs
    std::vector<std::vector<Presence>> present_;  // pairs in each of them, in the order of rules

    T* node_of(int field, int32_t block, int i) const {
        return fields_[field].nodes + (int64_t(block) * kBlockNodes<d> + i) * 4;
    }
    void choose_extents(PairZone<T, d>& pair, bool only_approaching) const {
        const bool two_sided = fields_[pair.rule.a].two_sided() || fields_[pair.rule.b].two_sided();
        for (int64_t z = 0; z < pair.blocks(); ++z) {
            const bool alone = present_[find_key(keys_, pair.keys[z])].size() == 1;
            for (int i = 0; i < kBlockNodes<d>; ++i) {
                PairNode& node = pair.at(z, i);
                if (!node.shared || dot(node.n, node.n) == 0) continue;
                node.wanted = node.extent_only || node.gap_fill > 0;
                if (!only_approaching || !alone || two_sided) continue;
                const Vec3 ua = vector_of<d>(node_of(pair.rule.a, pair.block_a[z], i));
                const Vec3 ub = vector_of<d>(node_of(pair.rule.b, pair.block_b[z], i));
                node.wanted &= dot(minus(ua, ub), node.n) > 0;
            }
        }
    }
    void resolve_block(int64_t z, double dt, std::vector<std::vector<PairTotal>>& partial) const {
        std::vector<Meeter> meeters(fields_.size());
        std::vector<NodeContact> contacts;
        std::vector<Presence> of;
        for (int i = 0; i < kBlockNodes<d>; ++i) {
            contacts.clear(), of.clear();
            for (const Presence& here : present_[z]) {
                const auto& pair = pairs[here.pair];
                const PairNode& node = pair.at(here.slot, i);
                const double gap = node.gap(pair.rule.slack * double(lattice_.dx));
                if (!node.shared || dot(node.n, node.n) == 0 || !(gap < std::numeric_limits<double>::infinity())) continue;
                contacts.push_back({pair.rule.a, pair.rule.b, node.n, std::max(gap, 0.0) / dt, pair.rule.friction,
                                    ContactMode::separate, {}});
                of.push_back(here);
            }
            if (contacts.empty()) continue;
            for (const Presence& here : of) {
                read(meeters[pairs[here.pair].rule.a], node_of(pairs[here.pair].rule.a, pairs[here.pair].block_a[here.slot], i));
                read(meeters[pairs[here.pair].rule.b], node_of(pairs[here.pair].rule.b, pairs[here.pair].block_b[here.slot], i));
            }
            resolve_largest_first(contacts.data(), int(contacts.size()), meeters);
            for (size_t k = 0; k < of.size(); ++k) {
                const auto& pair = pairs[of[k].pair];
                write(meeters[pair.rule.a], node_of(pair.rule.a, pair.block_a[of[k].slot], i));
                write(meeters[pair.rule.b], node_of(pair.rule.b, pair.block_b[of[k].slot], i));
                PairTotal& total = partial[of[k].pair][of[k].slot];
                for (int e = 0; e < 3; ++e) total.impulse[e] += contacts[k].impulse[e];
                total.nodes += contacts[k].acted;
            }
        }
    }
    static void read(Meeter& meeter, const T* node) { meeter = {double(node[3]), vector_of<d>(node), false}; }
    static void write(const Meeter& meeter, T* node) {
        if (!meeter.moved) return;
        for (int a = 0; a < d; ++a) node[a] = T(meeter.u[a]);
    }
};

}  // namespace continua
