// Discrete elastic rods: energy, forces and second derivatives of many strands, with the angles of their sections in equilibrium.
// Be08, Be10, W20 section 4.3.2.
//
// Stretching, EA/2 (|e|/L - 1)^2 L of every edge, and what bends and twists at every interior vertex (rod_vertex.hpp) are functions of
// the points x and of angles theta of the material directors against directors that are carried along with the edges, from where
// they were when the last step was accepted. The angles minimise the energy (rod_angles.hpp), so that it is one of x alone:
//   E(x) = min E(x, theta),   dE/dx = its partial derivative,   K = Exx - Exth Ethth^-1 Ethx.
//
// The accepted state is the tangents and first material directors of all edges and the twist at all vertices. Only `accept` changes
// it; angles are zero there. Second derivatives are kept by edges: with the differences du of neighbouring displacements, block (j, j)
// and (j - 1, j), the coupling of angle j with the edges j - 1, j, j + 1, and the factors of Ethth.
#pragma once

#include <memory>

#include "rod_angles.hpp"
#include "rod_layout.hpp"

namespace continua {

class Rods {
  public:
    using V = Lanes<double>;
    using V3 = Vec<V, 3>;

    // points (nodes, 3), offsets (strands + 1,), directors (nodes, 3): where the first half axis of the section of the edge that
    // begins at a point is at rest; need not be perpendicular to it.
    Rods(const double* points, int64_t nodes, const int32_t* offsets, int64_t strands, const double* directors, const RodSection& section)
        : layout_(offsets, strands, nodes), section_(section) {
        rest_.resize(kRestRows, layout_.places());
        state_.resize(kStateRows, layout_.places());
        measure(points, directors);
    }
    int64_t nodes() const { return layout_.nodes(); }

    // ---- energy ----------------------------------------------------------------------------------------------

    // [J]; +inf where an edge has no length or a rod folds back onto itself.
    double energy(const double* x) const {
        std::vector<double> part(size_t(layout_.chunks()));
        layout_.for_chunks(kWorkRows, [&](int64_t number, const RodLayout::Chunk& chunk, RodTable& work) {
            find_shape(x, chunk, work);
            V sum = V(0);
            for_lanes(chunk, [&](int64_t j) {
                const auto real = length(chunk, j) > V(0);
                sum += select(real, stretch_energy(chunk, work, j), V(0));
                V energy;
                vertex(chunk, work, j, energy);
                sum += select(over_l(chunk, j) > V(0), energy, V(0));
            });
            double total = 0;
            for (int i = 0; i < lanes_of<V>(); ++i) total += sum[size_t(i)];
            part[size_t(number)] = total;
        });
        double total = 0;
        for (const double p : part) total += p;
        return std::isfinite(total) ? total : std::numeric_limits<double>::infinity();
    }
    // Its derivative by the points, (nodes, 3): minus the forces.
    void gradient(const double* x, double* out) const {
        layout_.for_chunks(kWorkRows, [&](int64_t, const RodLayout::Chunk& chunk, RodTable& work) {
            find_shape(x, chunk, work);
            for_lanes(chunk, [&](int64_t j) {
                V energy;
                V3 by_e, by_f;
                vertex(chunk, work, j, energy).forces(by_e, by_f);
                const auto real = over_l(chunk, j) > V(0);
                put3(select(real, by_e, zero()), work, kByBefore, j);
                put3(select(real, by_f, zero()), work, kByAfter, j);
            });
            for (int a = 0; a < 3; ++a) work.row(kByBefore + a)[chunk.places()] = 0;  // what another chunk left
            for_lanes(chunk, [&](int64_t j) {
                const V3 along = stretch_force(chunk, work, j) * get3(work, kTangent, j);
                const V3 own = get3(work, kByAfter, j) + get3(work, kByBefore, j + 1);
                put3(select(length(chunk, j) > V(0), along, zero()) + own, work, kByEdge, j);
            });
            write_differences(chunk, work, kByEdge, out);
        });
    }

    // ---- second derivatives ----------------------------------------------------------------------------------

    // Numbers of an array of values: registers read a little beyond the last row.
    int64_t hessian_size() const { return kHessianRows * layout_.places() + RodTable::kRoom; }
    void hessian(const double* x, bool positive, double* values) const {
        layout_.for_chunks(kWorkRows + RodRows::count, [&](int64_t, const RodLayout::Chunk& chunk, RodTable& work) {
            find_shape(x, chunk, work);
            find_hessian(chunk, work, positive, values + chunk.place, layout_.places());
            factor_angles(chunk, work, values);
        });
    }
    // out (nodes, 3) = K u
    void product(const double* values, const double* u, double* out) const {
        layout_.for_chunks(kProductRows, [&](int64_t, const RodLayout::Chunk& chunk, RodTable& work) {
            read_points(u, chunk, work, 0);
            for_lanes(chunk, [&](int64_t j) { put3(get3(work, 0, j + 1) - get3(work, 0, j), work, 3, j); });
            for_lanes(chunk, [&](int64_t j) { multiply(chunk, work, values, j); });
            solve_angles(chunk, values, work.row(9));
            for_lanes(chunk, [&](int64_t j) { put3(get3(work, 6, j) - angle_force(chunk, work, values, j), work, 6, j); });
            write_differences(chunk, work, 6, out);
        });
    }
    // out (nodes, 3): the diagonal of K
    void diagonal(const double* values, double* out) const;

    // Points are coupled with two neighbours to either side, and where sections turn with all of their strand.
    void pattern(std::vector<int64_t>& first, std::vector<int32_t>& columns) const {
        first = {0};
        layout_.for_strands([&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                for (int64_t j = std::max(begin, i - 2); j < std::min(end, i + 3); ++j) columns.push_back(int32_t(j));
                first.push_back(int64_t(columns.size()));
            }
        });
    }
    // Of second derivatives by edges alone, with all angles held: (nodes, 9) each, block (j, j), and block (j - 1, j) row by row.
    void edge_blocks(const double* values, double* own, double* before) const {
        layout_.for_vertices([&](int64_t i, int64_t place) {
            for (int r = 0; r < 3; ++r)
                for (int c = 0; c < 3; ++c) {
                    own[9 * i + 3 * r + c] = value(values, kOwn + upper(r, c))[place];
                    before[9 * i + 3 * r + c] = value(values, kBefore + 3 * r + c)[place];
                }
        });
    }
    // Coupling of angle j with the edges j - 1, j, j + 1, (nodes, 9); factors L, with the one before, and 1/D of Ethth, (nodes, 2).
    void angle_blocks(const double* values, double* coupling, double* factors) const {
        layout_.for_vertices([&](int64_t i, int64_t place) {
            for (int k = 0; k < 9; ++k) coupling[9 * i + k] = value(values, kCoupling + k)[place];
            for (int k = 0; k < 2; ++k) factors[2 * i + k] = value(values, kFactor + k)[place];
        });
    }

    // An approximate inverse, for preconditioners (rod_factor.hpp).
    static constexpr int kFactors = 24;  // of a point: blocks L2, L1, and the factors of D
    void factor(const double* x, double weight, const double* added, float* factors) const;
    void solve(const float* factors, const double* r, double* out) const;

    // ---- the accepted state ----------------------------------------------------------------------------------

    // The strands are now at x: directors go along, and turn by the angles. Held ones stay held, there.
    void accept(const double* x) {
        layout_.for_chunks(kWorkRows, [&](int64_t, const RodLayout::Chunk& chunk, RodTable& work) {
            find_shape(x, chunk, work);
            for (int64_t j = 0; j < chunk.last - chunk.first; ++j) adopt(work, j, chunk.place + j);
        });
    }
    // tangents and directors (nodes, 3) of the edges that begin at the points, twist (nodes,)
    void state(double* tangents, double* directors, double* twist) const {
        layout_.write(state_, kTangent0, 3, tangents);
        layout_.write(state_, kDirector0, 3, directors);
        layout_.write(state_, kTwist0, 1, twist);
    }
    void set_state(const double* tangents, const double* directors, const double* twist) {
        layout_.read(tangents, 3, state_, kTangent0);
        layout_.read(directors, 3, state_, kDirector0);
        layout_.read(twist, 1, state_, kTwist0);
        layout_.for_vertices([&](int64_t, int64_t place) { turn_of_twist(place); });
        release();
    }
    void release() {
        for (const int row : {kHeld, kGiven}) std::fill(state_.row(row), state_.row(row) + layout_.places(), 0.0);
    }
    // The sections of these edges (count,) are held: when an edge has the direction along (count, 3), its first director is the given one
    // (count, 3); one of no length is carried along without spin. No other edge is held any longer.
    void hold(const int32_t* edges, int64_t count, const double* along, const double* directors);
    // Angles (nodes,) of the directors at x against those carried along from the accepted state.
    void angles(const double* x, double* out) const {
        layout_.for_chunks(kWorkRows, [&](int64_t, const RodLayout::Chunk& chunk, RodTable& work) {
            find_shape(x, chunk, work);
            for (int64_t i = chunk.first; i < chunk.last; ++i) out[i] = work.row(kTheta)[i - chunk.first];
        });
    }

  private:
    enum Rest { kLength, kOverL, kBar, kBarTwist = kBar + 4, kRestRows };  // w0 of e and f; edges or vertices that are not there have 0 first
    enum State { kTangent0, kDirector0 = 3, kTwist0 = 6, kCos0, kSin0, kHeld, kGiven, kStateRows };
    enum Work {
        kPoint, kTangent = 3, kFirst = 6, kSecond = 9, kSize = 12, kOver, kReference, kBinormal, kTheta = kBinormal + 4, kCos, kSin, kTwist,
        kByBefore, kByAfter = kByBefore + 3, kByEdge = kByAfter + 3, kWorkRows = kByEdge + 3
    };
    enum Hessian { kOwn, kBefore = 6, kCoupling = 15, kFactor = 24, kOverPivot, kHessianRows };
    enum Product { kProductRows = 10 };  // u, du, forces by edges, angles

    RodLayout layout_;
    RodSection section_;
    RodTable rest_, state_;
    bool plain_ = false;  // round, and straight at rest

    static int upper(int i, int j) { return i <= j ? i * (5 - i) / 2 + j : upper(j, i); }
    static V3 zero() { return {V(0), V(0), V(0)}; }
    static V3 get3(const RodTable& table, int row, int64_t j) {
        return {load<V>(table.row(row) + j), load<V>(table.row(row + 1) + j), load<V>(table.row(row + 2) + j)};
    }
    static void put3(const V3& v, RodTable& table, int row, int64_t j) {
        for (int a = 0; a < 3; ++a) store(v[a], table.row(row + a) + j);
    }
    V rest(const RodLayout::Chunk& chunk, int row, int64_t j) const { return load<V>(rest_.row(row) + chunk.place + j); }
    V length(const RodLayout::Chunk& chunk, int64_t j) const { return rest(chunk, kLength, j); }
    V over_l(const RodLayout::Chunk& chunk, int64_t j) const { return rest(chunk, kOverL, j); }
    double* value(double* values, int row) const { return values + row * layout_.places(); }
    const double* value(const double* values, int row) const { return values + row * layout_.places(); }
    template <class Function>
    static void for_lanes(const RodLayout::Chunk& chunk, Function&& function) {
        for (int64_t j = 0; j < chunk.places(); j += lanes_of<V>()) function(j);
    }

    static void read_points(const double* x, const RodLayout::Chunk& chunk, RodTable& work, int row) {
        const int64_t count = chunk.last - chunk.first;
        for (int a = 0; a < 3; ++a) {
            double* to = work.row(row + a);
            for (int64_t i = 0; i < count; ++i) to[i] = x[(chunk.first + i) * 3 + a];
            std::fill(to + count, to + chunk.places() + RodTable::kRoom, 0.0);
        }
    }
    // What belongs to edges, as a sum over vertices: a point is the end of one edge and the start of the next.
    static void write_differences(const RodLayout::Chunk& chunk, const RodTable& work, int row, double* out) {
        for (int a = 0; a < 3; ++a) {
            const double* from = work.row(row + a);
            for (int64_t i = 0; i < chunk.last - chunk.first; ++i) out[(chunk.first + i) * 3 + a] = (i ? from[i - 1] : 0.0) - from[i];
        }
    }

    // ---- shape -----------------------------------------------------------------------------------------------

    // Everything that depends on x: tangents, directors carried along, their twist, and the angles.
    void find_shape(const double* x, const RodLayout::Chunk& chunk, RodTable& work) const {
        read_points(x, chunk, work, kPoint);
        for_lanes(chunk, [&](int64_t j) { find_edge(chunk, work, j); });
        for (int a = 0; a < 3; ++a) {  // an edge before the first one
            work.row(kTangent + a)[-1] = work.row(kFirst + a)[-1] = work.row(kSecond + a)[-1] = a == 0;
            work.row(kSize)[-1] = work.row(kOver)[-1] = work.row(kCos)[-1] = 1;
        }
        for_lanes(chunk, [&](int64_t j) { find_reference(chunk, work, j); });
        find_angles(chunk, work);
    }
    void find_edge(const RodLayout::Chunk& chunk, RodTable& work, int64_t j) const {
        const auto real = length(chunk, j) > V(0);
        const V3 unit{V(1), V(0), V(0)};
        const V3 e = select(real, get3(work, kPoint, j + 1) - get3(work, kPoint, j), unit);
        const V size = sqrt(dot(e, e)), over = V(1) / size;
        const V3 t = over * e, first = carried(get3(state_, kDirector0, chunk.place + j), get3(state_, kTangent0, chunk.place + j), t);
        put3(t, work, kTangent, j);
        put3(first, work, kFirst, j);
        put3(cross(t, first), work, kSecond, j);
        store(size, work.row(kSize) + j);
        store(over, work.row(kOver) + j);
    }
    // The twist of directors that were carried along: that of the accepted state, and how much the director of one edge, carried to the next
    // and turned by it, differs from the one that is there.
    void find_reference(const RodLayout::Chunk& chunk, RodTable& work, int64_t j) const {
        const auto real = over_l(chunk, j) > V(0);
        const V3 te = get3(work, kTangent, j - 1), tf = get3(work, kTangent, j), first = get3(work, kFirst, j);
        const V3 across = carried(get3(work, kFirst, j - 1), te, tf);
        const V c = dot(across, first), s = dot(cross(tf, across), first);
        const V c0 = load<V>(state_.row(kCos0) + chunk.place + j), s0 = load<V>(state_.row(kSin0) + chunk.place + j);
        const V more = angle_of(V(select(real, V(s * c0 - c * s0), V(0))), V(select(real, V(c * c0 + s * s0), V(1))));
        store(V(load<V>(state_.row(kTwist0) + chunk.place + j) + more), work.row(kReference) + j);
        if (plain_) return;
        const V3 kb = V(V(2) / (V(1) + dot(te, tf))) * cross(te, tf);
        for (int k = 0; k < 2; ++k) {
            store(dot(kb, get3(work, kFirst, j - 1 + k)), work.row(kBinormal + 2 * k) + j);
            store(dot(kb, get3(work, kSecond, j - 1 + k)), work.row(kBinormal + 2 * k + 1) + j);
        }
    }
    void find_angles(const RodLayout::Chunk& chunk, RodTable& work) const {
        RodAngles angles;
        RodStrand strand{};
        auto at = [&](const RodTable& table, int row) { return table.row(row) + chunk.place; };
        strand.over_l = at(rest_, kOverL), strand.rest_twist = at(rest_, kBarTwist), strand.twist = plain_ ? at(rest_, kBarTwist) : at(state_, kTwist0);
        strand.reference = work.row(kReference), strand.held = at(state_, kHeld), strand.given = at(state_, kGiven);
        for (int k = 0; k < 4; ++k) strand.rest[k] = at(rest_, kBar + k), strand.binormal[k] = work.row(kBinormal + k);
        double* theta = work.row(kTheta);
        for (int64_t s = chunk.strand; s < chunk.strand + chunk.strands; ++s) {
            strand.first = layout_.offset(s) - chunk.first, strand.last = layout_.offset(s + 1) - 1 - chunk.first;
            angles.solve(section_, strand, plain_, theta);
            theta[strand.last] = 0;
        }
        for (int64_t j = 0; j < chunk.places(); ++j) {
            // The energy of a round rod that is straight at rest does not know where its directors point.
            work.row(kCos)[j] = plain_ ? 1.0 : std::cos(theta[j]);
            work.row(kSin)[j] = plain_ ? 0.0 : std::sin(theta[j]);
        }
        for (int64_t j = chunk.places() - 1; j > 0; --j) work.row(kTwist)[j] = theta[j] - theta[j - 1] + work.row(kReference)[j];
    }
    RodVertex<V> vertex(const RodLayout::Chunk& chunk, const RodTable& work, int64_t j, V& energy) const {
        RodVertex<V> at(get3(work, kTangent, j - 1), get3(work, kTangent, j), load<V>(work.row(kOver) + j - 1), load<V>(work.row(kOver) + j));
        for (int edge = 0; edge < 2; ++edge) {
            const int64_t i = j - 1 + edge;
            at.set_directors(edge, get3(work, kFirst, i), get3(work, kSecond, i), load<V>(work.row(kCos) + i), load<V>(work.row(kSin) + i));
        }
        V bar[4];
        for (int k = 0; k < 4; ++k) bar[k] = rest(chunk, kBar + k, j);
        energy = at.bend(section_, over_l(chunk, j), bar, V(load<V>(work.row(kTwist) + j) - rest(chunk, kBarTwist, j)));
        return at;
    }
    V stretch_force(const RodLayout::Chunk& chunk, const RodTable& work, int64_t j) const {
        return V(section_.stretching) * (load<V>(work.row(kSize) + j) / length(chunk, j) - V(1));
    }
    V stretch_energy(const RodLayout::Chunk& chunk, const RodTable& work, int64_t j) const {
        const V L = length(chunk, j), strain = load<V>(work.row(kSize) + j) / L - V(1);
        return V(0.5 * section_.stretching) * strain * strain * L;
    }

    // ---- second derivatives by edges -------------------------------------------------------------------------

    // Rows of a chunk, `stride` numbers apart, but for the factors.
    void find_hessian(const RodLayout::Chunk& chunk, RodTable& work, bool positive, double* rows, int64_t stride) const;
    void factor_angles(const RodLayout::Chunk& chunk, const RodTable& work, double* values) const;
    void multiply(const RodLayout::Chunk& chunk, RodTable& work, const double* values, int64_t j) const;
    void solve_angles(const RodLayout::Chunk& chunk, const double* values, double* z) const;
    V3 angle_force(const RodLayout::Chunk& chunk, const RodTable& work, const double* values, int64_t j) const;

    // ---- state -----------------------------------------------------------------------------------------------

    void measure(const double* points, const double* directors);
    void adopt(const RodTable& work, int64_t j, int64_t place);
    void turn_of_twist(int64_t place) {
        state_.row(kCos0)[place] = std::cos(state_.row(kTwist0)[place]);
        state_.row(kSin0)[place] = std::sin(state_.row(kTwist0)[place]);
    }
};

}  // namespace continua

#include "rod_factor.hpp"
#include "rod_hessian.hpp"
#include "rod_state.hpp"
