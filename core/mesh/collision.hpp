// Which nodes of a mesh have entered it elsewhere, and through which facet they should leave. J15 A.5.3.
//
// The mesh may consist of several bodies: sets of cells that hang together. A surface node collides with a body if the
// body's surface winds around it; its facet is the closest one of that body. The winding number is counted with the
// cells that contain the node, less those among them that are inside out. It changes at the surface only, where the
// depth is zero: the energy between bodies does not jump, however their cells are folded. J15 counts every cell.
//
// In its own body a node is part of the surface. There its own cells add what they cover of the directions around it,
// between 0 and 1, and more than 1 is a collision; the energy jumps where the surface around a node turns over. Only
// facets count that are closer to the entered cell than to the node at rest: a node that is deeper than its own facets
// are large would be drawn to its neighbours otherwise.
#pragma once

#include <algorithm>

#include "../geometry/box_tree.hpp"
#include "collision_cover.hpp"

namespace continua {

// The cells of every node.
class CellsOfNodes {
  public:
    CellsOfNodes(const std::vector<int32_t>& cells, int vertices, int64_t nodes)
        : first_(static_cast<size_t>(nodes + 1), 0), all_(cells.size()) {
        for (const int32_t node : cells) ++first_[size_t(node) + 1];
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        std::vector<int64_t> next(first_.begin(), first_.end() - 1);
        for (size_t i = 0; i < cells.size(); ++i)
            all_[size_t(next[size_t(cells[i])]++)] = int32_t(i / size_t(vertices));
    }
    const int32_t* begin(int32_t node) const { return all_.data() + first_[size_t(node)]; }
    const int32_t* end(int32_t node) const { return all_.data() + first_[size_t(node) + 1]; }

  private:
    std::vector<int64_t> first_;
    std::vector<int32_t> all_;
};

template <int d>
class CollisionDetector {
  public:
    // rest (nodes, d): positions at rest; cells (cell_count, d + 1); facets (facet_count, d): their surface;
    // own_body: whether nodes collide with the body they belong to.
    CollisionDetector(const double* rest, int64_t nodes, const int32_t* cells, int64_t cell_count,
                      const int32_t* facets, int64_t facet_count, bool own_body)
        : own_body_(own_body),
          rest_(rest, rest + nodes * d),
          cells_(turned(rest, cells, cell_count)),
          facets_(facets, facets + facet_count * d),
          body_(bodies()),
          cells_of_(cells_, d + 1, nodes),
          surface_(surface_nodes()),
          last_(static_cast<size_t>(nodes), -1),
          cell_tree_(rest, cells_.data(), cell_count),
          facet_tree_(rest, facets_.data(), facet_count),
          exit_(exits()) {}
    CollisionDetector(const CollisionDetector&) = delete;  // the trees point into this object

    int64_t nodes() const { return int64_t(body_.size()); }

    // Pairs (any, d + 1) of a node and its facet, in ascending order of nodes and bodies. They depend on x alone.
    std::vector<int32_t> find(const double* x) {
        cell_tree_.refit(x);
        facet_tree_.refit(x);
        const int64_t count = int64_t(surface_.size()), chunks = (count + kChunk - 1) / kChunk;
        std::vector<std::vector<int32_t>> found(static_cast<size_t>(chunks));
#pragma omp parallel for schedule(dynamic) num_threads(team(count, kChunk))
        for (int64_t chunk = 0; chunk < chunks; ++chunk)
            for (int64_t i = chunk * kChunk; i < std::min((chunk + 1) * kChunk, count); ++i)
                find_pairs(x, surface_[size_t(i)], found[size_t(chunk)]);
        std::vector<int32_t> all;
        for (const auto& part : found) all.insert(all.end(), part.begin(), part.end());
        return all;
    }

  private:
    static constexpr int64_t kChunk = 256;  // nodes or cells that a thread takes at once
    static constexpr double kFar = std::numeric_limits<double>::infinity();
    bool own_body_;
    std::vector<double> rest_;
    std::vector<int32_t> cells_, facets_;
    std::vector<int32_t> body_;  // of every node
    CellsOfNodes cells_of_;
    std::vector<int32_t> surface_;  // nodes of the facets, ascending
    std::vector<int32_t> last_;     // facet a node collided with last, or -1: only makes searches shorter
    BoxTree<d, d + 1> cell_tree_;
    BoxTree<d, d> facet_tree_;
    std::vector<int32_t> exit_;  // facet that is closest to the middle of every cell at rest, or -1

    // A body that a node has entered, and the first of the cells that contain the node.
    struct Entry {
        int32_t body, cell;
        int winding;
    };

    const int32_t* cell(int32_t c) const { return cells_.data() + int64_t(c) * (d + 1); }
    const int32_t* facet(int32_t f) const { return facets_.data() + int64_t(f) * d; }
    int32_t body_of(const int32_t* vertices) const { return body_[size_t(*vertices)]; }
    static bool has(const int32_t* vertices, int count, int32_t node) {
        return std::find(vertices, vertices + count, node) != vertices + count;
    }

    Vector<d> rest_middle(const int32_t* vertices, int count) const {
        Vector<d> middle{};
        for (int k = 0; k < count; ++k)
            middle = add_scaled<d>(middle, 1.0 / count, vector_at<d>(rest_.data(), vertices[k]));
        return middle;
    }

    // The cells, with positive volume at rest.
    static std::vector<int32_t> turned(const double* rest, const int32_t* cells, int64_t count) {
        std::vector<int32_t> all(cells, cells + count * (d + 1));
        for (auto cell = all.data(); cell != all.data() + all.size(); cell += d + 1) {
            Vector<d> edge[d];
            cell_edges<d>(rest, cell, edge);
            if (spanned(edge) < 0) std::swap(cell[0], cell[1]);
        }
        return all;
    }
    // Nodes that cells connect, directly or not, get the number of the smallest one among them.
    std::vector<int32_t> bodies() const {
        std::vector<int32_t> up(rest_.size() / d);
        std::iota(up.begin(), up.end(), 0);
        const auto top = [&](int32_t node) {
            while (up[size_t(node)] != node) node = up[size_t(node)] = up[size_t(up[size_t(node)])];
            return node;
        };
        for (size_t first = 0; first < cells_.size(); first += d + 1)
            for (size_t k = 1; k <= d; ++k) {
                const int32_t a = top(cells_[first]), b = top(cells_[first + k]);
                up[size_t(std::max(a, b))] = std::min(a, b);
            }
        for (auto& node : up) node = top(node);
        return up;
    }
    std::vector<int32_t> surface_nodes() const {
        std::vector<int32_t> all = facets_;
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }
    std::vector<int32_t> exits() const {
        const int64_t count = int64_t(cells_.size()) / (d + 1);
        std::vector<int32_t> closest(static_cast<size_t>(count));
#pragma omp parallel for schedule(dynamic, kChunk) num_threads(team(count, kChunk))
        for (int64_t c = 0; c < count; ++c) {
            const int32_t body = body_of(cell(int32_t(c)));
            closest[size_t(c)] = closest_facet(rest_.data(), rest_middle(cell(int32_t(c)), d + 1), kFar,
                                               [&](int32_t f) { return body_of(facet(f)) == body; });
        }
        return closest;
    }

    void find_pairs(const double* x, int32_t node, std::vector<int32_t>& out) {
        const Vector<d> point = vector_at<d>(x, node);
        for (const Entry& entry : entries(x, node)) {
            const auto candidate = [&](int32_t f) { return is_candidate(node, entry, f); };
            double bound = kFar;
            for (const int32_t f : {exit_[size_t(entry.cell)], last_[size_t(node)]})
                if (f >= 0 && candidate(f)) bound = closest_primitive<d>(x, point, facet(f)).squared;
            const int32_t f = closest_facet(x, point, bound, candidate);
            if (f < 0) continue;
            last_[size_t(node)] = f;
            out.push_back(node);
            out.insert(out.end(), facet(f), facet(f) + d);
        }
    }
    std::vector<Entry> entries(const double* x, int32_t node) const {
        // A hair beside the node, where it is not on the border between two cells.
        constexpr double kBeside[] = {0.73, 0.51, 0.45};
        Vector<d> point = vector_at<d>(x, node);
        for (int a = 0; a < d; ++a) point[a] += 1e-10 * kBeside[a] * cell_tree_.largest_coordinate();
        std::vector<Entry> all;
        cell_tree_.visit_at(point.data(), [&](int32_t c) {
            if (has(cell(c), d + 1, node)) return;
            if (const int winding = cover<d>(x, cell(c), point)) add_entry(all, {body_of(cell(c)), c, winding});
        });
        std::erase_if(all, [&](const Entry& entry) { return !collides(x, node, entry); });
        std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.body < b.body; });
        return all;
    }
    static void add_entry(std::vector<Entry>& all, const Entry& added) {
        for (Entry& entry : all)
            if (entry.body == added.body) {
                entry.cell = std::min(entry.cell, added.cell);
                entry.winding += added.winding;
                return;
            }
        all.push_back(added);
    }
    bool collides(const double* x, int32_t node, const Entry& entry) const {
        if (body_[size_t(node)] != entry.body) return entry.winding != 0;
        if (!own_body_) return false;
        double winding = entry.winding;
        for (auto c = cells_of_.begin(node); c != cells_of_.end(node); ++c)
            winding += covered_directions<d>(x, cell(*c), node);
        return std::abs(winding) > 1;
    }
    bool is_candidate(int32_t node, const Entry& entry, int32_t f) const {
        if (body_of(facet(f)) != entry.body || has(facet(f), d, node)) return false;
        if (body_[size_t(node)] != entry.body) return true;
        const Vector<d> middle = rest_middle(facet(f), d);
        const Vector<d> from_cell = add_scaled<d>(middle, -1, rest_middle(cell(entry.cell), d + 1));
        const Vector<d> from_node = add_scaled<d>(middle, -1, vector_at<d>(rest_.data(), node));
        return dot(from_cell, from_cell) < dot(from_node, from_node);
    }

    // Of two candidates at the same distance the one with the smaller number; -1 if there are none.
    template <class Candidate>
    int32_t closest_facet(const double* x, const Vector<d>& point, double bound, Candidate&& candidate) const {
        int32_t best = -1;
        double least = kFar;
        facet_tree_.visit_near(point.data(), bound, [&](int32_t f) {
            if (!candidate(f)) return least;
            const double distance = closest_primitive<d>(x, point, facet(f)).squared;
            if (distance < least || (distance == least && f < best)) least = distance, best = f;
            return least;
        });
        return best;
    }
};

}  // namespace continua
