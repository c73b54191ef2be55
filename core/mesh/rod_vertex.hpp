// What bends and twists at one interior vertex of a rod, between the edges e (before) and f (after). Bergou et al. 2008,
// 2010; W20 section 4.3.2.
//
// With unit tangents te, tf and chi = 1 + te.tf, the curvature binormal is kb = 2 te x tf / chi. In the material directors
// m1, m2 of edge j it has the components w_j = (kb.m2_j, -kb.m1_j), and the energy is
//   1/(4 l) sum_j sum_a B_a (w_ja - w0_ja)^2 + beta/(2 l) (m - m0)^2
// with the twist m. The bending energies of both edges are averaged rather than their curvatures: where a rod of round
// section kinks, the energy of the averaged curvature, B cos^2(m/2) |kb|^2 / (2 l), falls as the rod twists and so has its minimum
// at a twist of its own making, as soon as |kb|^2 > 4 beta/B.
//
// All w are kb.M with a direction M that turns with its edge, so that each needs the same derivatives:
//   d(kb.M)/de = (-(kb.M) tt + 2 tf x M / chi) / |e|,   d(kb.M)/df = (-(kb.M) tt - 2 te x M / chi) / |f|,   tt = (te + tf)/chi.
// Derivatives are those of directors that are carried along without spin from the place where they are taken.
#pragma once

#include "../math/angle.hpp"
#include "../math/vec3.hpp"

namespace continua {

struct RodSection {
    double stretching;  // EA [N]
    double bending[2];  // B_1, B_2 [N m^2]: towards the first director, the second
    double twisting;    // beta [N m^2]
    bool round() const { return bending[0] == bending[1]; }
};

// u, carried from the unit tangent `from` to the unit tangent `to` by the smallest rotation between them.
template <class V>
inline Vec<V, 3> carried(const Vec<V, 3>& u, const Vec<V, 3>& from, const Vec<V, 3>& to) {
    return u - V(dot(to, u) / (V(1) + dot(from, to))) * (from + to);
}

// The place of the second derivatives of one vertex in a list of rows: by edges, by edges and angles, by angles.
struct RodRows {
    static constexpr int ee = 0, ff = 6, ef = 12, e_e = 21, e_f = 24, f_e = 27, f_f = 30, ae = 33, af = 34, aef = 35, count = 36;
};

template <class V>
class RodVertex {
  public:
    using V3 = Vec<V, 3>;

    V3 te, tf, kb, tt;
    V chi, over_e, over_f;  // 1/|e|, 1/|f|

    RodVertex(const V3& before, const V3& after, const V& inverse_before, const V& inverse_after)
        : te(before), tf(after), chi(V(1) + dot(before, after)), over_e(inverse_before), over_f(inverse_after) {
        const V scale = V(1) / chi;
        kb = V(V(2) * scale) * cross(te, tf);
        tt = scale * (te + tf);
        twice_ = V(2) * scale;
    }
    // Directions M of an edge whose directors are a1, a2, turned by an angle with this cosine and sine.
    void set_directors(int edge, const V3& a1, const V3& a2, const V& c, const V& s) {
        M_[edge][0] = c * a2 - s * a1;
        M_[edge][1] = -c * a1 - s * a2;
    }
    // `over_l`: 1/l; rest: w0 of e and f; twist: m - m0.
    V bend(const RodSection& section, const V& over_l, const V* rest, const V& twist) {
        V energy = V(0);
        for (int j = 0; j < 2; ++j)
            for (int a = 0; a < 2; ++a) {
                w_[j][a] = dot(kb, M_[j][a]);
                const V change = w_[j][a] - rest[2 * j + a];
                stiffness_[a] = V(0.5 * section.bending[a]) * over_l;
                r_[j][a] = stiffness_[a] * change;
                energy += V(0.5) * r_[j][a] * change;
            }
        twisting_ = V(section.twisting) * over_l;
        torque_ = twisting_ * twist;
        return energy + V(0.5) * torque_ * twist;
    }
    // After `bend`: derivatives of the energy by e and f.
    void forces(V3& by_e, V3& by_f) const {
        const V3 c = moment(0) + moment(1), half = V(V(0.5) * torque_) * kb;
        by_e = over_e * (slope(c, tf, 1) + half);
        by_f = over_f * (slope(c, te, -1) + half);
    }
    // After `bend`: all second derivatives, put(row, number) in the order of RodRows. `positive` leaves out what the change of
    // moments and torque gives, so that the rest is a sum of squares.
    template <class Put>
    void hessian(bool positive, Put&& put) const {
        V H[RodRows::count];
        for (auto& h : H) h = V(0);
        for (int j = 0; j < 2; ++j)
            for (int a = 0; a < 2; ++a) add_square(j, a, H);
        add_twist_square(H);
        if (!positive) {
            add_moment_change(H);
            add_torque_change(H);
        }
        for (int row = 0; row < RodRows::count; ++row) put(row, H[row]);
    }

  private:
    V twice_, twisting_, torque_, stiffness_[2];
    V3 M_[2][2];
    V w_[2][2], r_[2][2];

    V3 moment(int j) const { return r_[j][0] * M_[j][0] + r_[j][1] * M_[j][1]; }
    // |e| d(kb.M)/de with other = tf and sign = 1, |f| d(kb.M)/df with other = te and sign = -1.
    V3 slope(const V3& M, const V3& other, int sign) const {
        return V(V(double(sign)) * twice_) * cross(other, M) - V(dot(kb, M)) * tt;
    }
    static int upper(int i, int j) { return i <= j ? i * (5 - i) / 2 + j : upper(j, i); }  // of 00 01 02 11 12 22
    static void add_outer(const V& s, const V3& u, const V3& v, V* out) {
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) out[3 * i + j] += s * u[i] * v[j];
    }
    // s (u v^T + v u^T)
    static void add_symmetric(const V& s, const V3& u, const V3& v, V* out) {
        for (int i = 0; i < 3; ++i)
            for (int j = i; j < 3; ++j) out[upper(i, j)] += s * (u[i] * v[j] + v[i] * u[j]);
    }
    static void add_vector(const V& s, const V3& u, V* out) {
        for (int a = 0; a < 3; ++a) out[a] += s * u[a];
    }
    void add_square(int j, int a, V* H) const {
        const V k = stiffness_[a];
        const V3 by_e = over_e * slope(M_[j][a], tf, 1), by_f = over_f * slope(M_[j][a], te, -1);
        const V by_angle = a == 0 ? w_[j][1] : V(-w_[j][0]);
        add_symmetric(V(0.5) * k, by_e, by_e, H + RodRows::ee);
        add_symmetric(V(0.5) * k, by_f, by_f, H + RodRows::ff);
        add_outer(k, by_e, by_f, H + RodRows::ef);
        add_vector(k * by_angle, by_e, H + (j == 0 ? RodRows::e_e : RodRows::e_f));
        add_vector(k * by_angle, by_f, H + (j == 0 ? RodRows::f_e : RodRows::f_f));
        H[j == 0 ? RodRows::ae : RodRows::af] += k * by_angle * by_angle;
    }
    void add_twist_square(V* H) const {
        const V3 by_e = V(V(0.5) * over_e) * kb, by_f = V(V(0.5) * over_f) * kb;
        add_symmetric(V(0.5) * twisting_, by_e, by_e, H + RodRows::ee);
        add_symmetric(V(0.5) * twisting_, by_f, by_f, H + RodRows::ff);
        add_outer(twisting_, by_e, by_f, H + RodRows::ef);
        add_vector(-twisting_, by_e, H + RodRows::e_e), add_vector(twisting_, by_e, H + RodRows::e_f);
        add_vector(-twisting_, by_f, H + RodRows::f_e), add_vector(twisting_, by_f, H + RodRows::f_f);
        H[RodRows::ae] += twisting_, H[RodRows::af] += twisting_, H[RodRows::aef] -= twisting_;
    }
    // sum r d2w, linear in the moment c of both edges.
    void add_moment_change(V* H) const {
        const V3 ce = moment(0), cf = moment(1), c = ce + cf, ct = twice_ * c;
        const V k = dot(kb, c), across = k / chi;
        const V ee = over_e * over_e, ff = over_f * over_f, ef = over_e * over_f;
        const V3 tf_c = cross(tf, ct), te_c = cross(te, ct);
        add_symmetric(k * ee, tt, tt, H + RodRows::ee), add_symmetric(k * ff, tt, tt, H + RodRows::ff);
        add_symmetric(-ee, tf_c, tt, H + RodRows::ee), add_symmetric(ff, te_c, tt, H + RodRows::ff);
        add_symmetric(V(0.5) * across * ee, te, te, H + RodRows::ee), add_symmetric(V(0.5) * across * ff, tf, tf, H + RodRows::ff);
        add_symmetric(V(0.5) * ee, kb, ce, H + RodRows::ee), add_symmetric(V(0.5) * ff, kb, cf, H + RodRows::ff);
        for (int i = 0; i < 3; ++i) {
            H[RodRows::ee + upper(i, i)] -= across * ee, H[RodRows::ff + upper(i, i)] -= across * ff;
            H[RodRows::ef + 4 * i] -= across * ef;
        }
        V* mixed = H + RodRows::ef;
        add_outer(-across * ef, te, tf, mixed), add_outer(V(2) * k * ef, tt, tt, mixed);
        add_outer(-ef, tf_c, tt, mixed), add_outer(ef, tt, te_c, mixed);
        add_cross_matrix(-ef, ct, mixed);
        for (int j = 0; j < 2; ++j) {
            const V3 turned = r_[j][0] * M_[j][1] - r_[j][1] * M_[j][0];  // derivative of the moment by the angle
            add_vector(over_e, slope(turned, tf, 1), H + (j == 0 ? RodRows::e_e : RodRows::e_f));
            add_vector(over_f, slope(turned, te, -1), H + (j == 0 ? RodRows::f_e : RodRows::f_f));
            H[j == 0 ? RodRows::ae : RodRows::af] -= r_[j][0] * w_[j][0] + r_[j][1] * w_[j][1];
        }
    }
    // torque d2m
    void add_torque_change(V* H) const {
        const V quarter = V(-0.25) * torque_;
        add_symmetric(quarter * over_e * over_e, kb, te + tt, H + RodRows::ee);
        add_symmetric(quarter * over_f * over_f, kb, tf + tt, H + RodRows::ff);
        const V ef = V(0.5) * torque_ * over_e * over_f;
        add_cross_matrix(ef * twice_, te, H + RodRows::ef);
        add_outer(-ef, kb, tt, H + RodRows::ef);
    }
    static void add_cross_matrix(const V& s, const V3& u, V* out) {
        out[1] -= s * u[2], out[2] += s * u[1], out[3] += s * u[2];
        out[5] -= s * u[0], out[6] -= s * u[1], out[7] += s * u[0];
    }
};

}  // namespace continua
