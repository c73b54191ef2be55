// Cells with a fixed number of vertices (springs, triangles, tetrahedra) and the way between nodes and cells. Arrays
// over nodes are (nodes, d); in a batch, component a of vertex or edge k is at [(k * d + a) * kBatch].
#pragma once

#include <stdexcept>
#include <string>

#include "../parallel.hpp"
#include "sums.hpp"

namespace continua {

template <int d, int vertices>
class Cells {
  public:
    static constexpr int kRow = d * kBatch;  // one vertex of a batch

    // cells (count, vertices); `noun` is what errors call them. Vertices get sorted: pairs of nodes have one order
    // then.
    Cells(const int32_t* cells, int64_t count, int64_t nodes, const std::string& noun)
        : count_(count), nodes_(nodes), vertex_(sorted(cells, count, nodes, noun)), shared_(vertex_, count, nodes) {}

    int64_t count() const { return count_; }
    int64_t nodes() const { return nodes_; }
    int64_t batches() const { return (count_ + kBatch - 1) / kBatch; }
    // Real cells of a batch; the last batch repeats the last cell.
    int count_of(int64_t batch) const { return int(std::min<int64_t>(kBatch, count_ - batch * kBatch)); }
    const std::vector<int32_t>& vertex_list() const { return vertex_; }  // (count, vertices)

    // In parallel over chunks: target = start(chunk), then function(batch, edges, target) for its batches.
    // Edges: x at vertices 1 and up, minus x at vertex 0.
    template <class Start, class Function>
    void for_chunks(const double* x, Start&& start, Function&& function) const {
        const int64_t chunks = (batches() + kChunkBatches - 1) / kChunkBatches;
#pragma omp parallel num_threads(team(count_))
        {
            std::vector<double> local(size_t(shared_.kMost * kRecord), 0.0);
#pragma omp for schedule(static)
            for (int64_t chunk = 0; chunk < chunks; ++chunk) {
                fetch(x, chunk, local.data());
                auto* target = start(chunk);
                for (int64_t b = chunk * kChunkBatches; b < std::min((chunk + 1) * kChunkBatches, batches()); ++b) {
                    alignas(64) double edges[(vertices - 1) * kRow];
                    edges_of(local.data(), b, edges);
                    function(b, (const double*)edges, target);
                }
            }
        }
    }
    template <class Function>
    void for_batches(const double* x, Function&& function) const {
        for_chunks(
            x, [](int64_t) { return (double*)nullptr; },
            [&](int64_t b, const double* edges, double*) { function(b, edges); });
    }
    // Sum of function(batch, edges); +inf where it is not a number.
    template <class Function>
    double sum(const double* x, Function&& function) const {
        std::vector<double> part(size_t(batches()), 0.0);
        for_batches(x, [&](int64_t b, const double* edges) { part[size_t(b)] = function(b, edges); });
        double total = 0;
        for (const double p : part) total += p;
        return total == total ? total : std::numeric_limits<double>::infinity();
    }
    // out (nodes, d) = sums of what function(batch, edges, given) writes for vertices 1 and up; vertex 0 takes minus
    // their sum.
    template <class Function>
    void accumulate(const double* x, double* out, Function&& function) {
        for_chunks(
            x, [&](int64_t chunk) { return shared_.clear(chunk); },
            [&](int64_t b, const double* edges, double* sums) {
                alignas(64) double given[vertices * kRow];
                function(b, edges, given + kRow);
                for (int i = 0; i < kRow; ++i) {
                    double sum = given[kRow + i];
                    for (int k = 2; k < vertices; ++k) sum += given[k * kRow + i];
                    given[i] = -sum;
                }
                shared_.add(given, b, count_of(b), sums);
            });
#pragma omp parallel for schedule(static) num_threads(team(count_))
        for (int64_t i = 0; i < nodes_; ++i) {
            double total[kRecord];
            shared_.total(i, total);
            for (int a = 0; a < d; ++a) out[i * d + a] = total[a];
        }
    }
    // Component-major (components, count) from batches (batches, components, kBatch), and back.
    void unpack(const double* batched, int components, double* out) const {
        for (int c = 0; c < components; ++c)
            for (int64_t e = 0; e < count_; ++e) out[c * count_ + e] = batched[batch_place(e, c, components)];
    }
    std::vector<double> pack(const double* rows, int components) const {
        std::vector<double> batched(size_t(batches() * components * kBatch));
        for (int c = 0; c < components; ++c)
            for (int64_t e = 0; e < batches() * kBatch; ++e)
                batched[batch_place(e, c, components)] = rows[c * count_ + std::min(e, count_ - 1)];
        return batched;
    }

  private:
    using Shared = ChunkSums<vertices, d>;
    static constexpr int kRecord = Shared::kRecord;
    int64_t count_, nodes_;
    std::vector<int32_t> vertex_;
    Shared shared_;

    static std::vector<int32_t> sorted(const int32_t* cells, int64_t count, int64_t nodes, const std::string& noun) {
        if (count < 1) throw std::invalid_argument("there are no " + noun + "s");
        if (count > INT32_MAX / 16) throw std::invalid_argument("there are too many " + noun + "s for 32-bit indices");
        std::vector<int32_t> all(cells, cells + count * vertices);
        for (int64_t e = 0; e < count; ++e) {
            const auto first = all.begin() + e * vertices, last = first + vertices;
            std::sort(first, last);
            if (*first < 0 || *(last - 1) >= nodes)
                throw std::invalid_argument(noun + " " + std::to_string(e) + " names point " +
                                            std::to_string(*first < 0 ? *first : *(last - 1)) +
                                            ", but points are numbered from 0 to " + std::to_string(nodes - 1));
            if (std::adjacent_find(first, last) != last)
                throw std::invalid_argument(noun + " " + std::to_string(e) + " has the same point twice");
        }
        return all;
    }
    void fetch(const double* x, int64_t chunk, double* local) const {
        const int32_t* node = shared_.item_list(chunk);
        for (int64_t i = 0; i < shared_.items_of(chunk); ++i)
            for (int a = 0; a < d; ++a) local[i * kRecord + a] = x[int64_t(node[i]) * d + a];
    }
    // One vertex of four cells, component-major.
    static void gather(const double* local, const uint16_t* index, Quad<double> (&q)[4]) {
        for (int i = 0; i < 4; ++i) q[i] = Quad<double>(local + index[i] * kRecord, stdx::element_aligned);
        transpose(q);
    }
    void edges_of(const double* local, int64_t batch, double* out) const {
        for (int j = 0; j < kBatch; j += 4) {
            Quad<double> origin[4], end[4];
            gather(local, shared_.index(batch, 0) + j, origin);
            for (int k = 1; k < vertices; ++k) {
                gather(local, shared_.index(batch, k) + j, end);
                double* edge = out + (k - 1) * kRow + j;
                for (int a = 0; a < d; ++a) (end[a] - origin[a]).copy_to(edge + a * kBatch, stdx::element_aligned);
            }
        }
    }
};

}  // namespace continua
