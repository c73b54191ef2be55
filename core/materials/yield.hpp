// Yield surfaces in principal Kirchhoff stress with their return maps in principal logarithmic strain e, e_1 >= e_2 >= e_3.
// All but Drucker-Prager are closest points in the energy norm. W20 section 3.3.2.
#pragma once

#include "hencky.hpp"

namespace continua {

// How far rounding alone may carry a logarithmic strain beyond its limit: what has been projected is not projected again.
template <class V>
inline V rounding(const V& strain) {
    return V(16 * std::numeric_limits<Scalar<V>>::epsilon()) * max(V(1), strain);
}

// |dev tau| <= yield + hardening * plastic_strain; keeps the volume. W20 (3.7) with the mean over d.
struct VonMisesYield {
    static constexpr std::string_view name = "von-mises";
    static constexpr std::array<std::string_view, 4> parameters{"mu", "lam", "yield", "hardening"};
    static constexpr std::array<std::string_view, 1> states{"plastic_strain"};

    template <class V, int d>
    static auto project(Vec<V, d>& e, const V&, const V* p, V* z) {
        const Deviator<V, d> dev(e);
        const V two_mu = V(2) * p[0], over = two_mu * dev.norm - (p[2] + p[3] * z[0]);
        const auto yields = over > rounding(dev.norm) * two_mu;
        const V cut = select(yields, V(over / (two_mu + p[3])), V(0)), keep = dev.shortened(cut);
        for (int i = 0; i < d; ++i) e[i] = select(yields, V(dev.mean + keep * dev.q[i]), e[i]);
        z[0] += cut;
        return yields;
    }
};

// Largest principal stress <= strength: a cut-off in tension. W20 (3.6) with one direction, section 3.3.2.2.
struct RankineYield {
    static constexpr std::string_view name = "rankine";
    static constexpr std::array<std::string_view, 3> parameters{"mu", "lam", "strength"};
    static constexpr std::array<std::string_view, 1> states{"plastic_strain"};

    // The k largest strains become equal; k is the smallest number for which they stay the largest.
    template <class V, int d>
    static auto project(Vec<V, d>& e, const V&, const V* p, V* z) {
        const V two_mu = V(2) * p[0], lam = p[1], strength = p[2];
        const V slack = rounding(V(abs(e[0]))) * (two_mu + V(d) * lam);
        const auto yields = lam * Hencky::sum(e) + two_mu * e[0] > strength + slack;
        if (!any(yields)) return yields;
        Vec<V, d> best = e;
        for (int k = d; k >= 1; --k) {
            V rest = V(0);
            for (int i = k; i < d; ++i) rest += e[i];
            const V level = (strength - lam * rest) / (two_mu + V(k) * lam);
            const auto fits = k == d ? yields : yields && level >= e[k == d ? 0 : k];
            for (int i = 0; i < d; ++i) best[i] = select(fits, i < k ? level : e[i], best[i]);
        }
        V moved2 = V(0);
        for (int i = 0; i < d; ++i) moved2 += (best[i] - e[i]) * (best[i] - e[i]);
        e = best;
        z[0] += sqrt(moved2);
        return yields;
    }
};

// |dev tau| + alpha tr tau <= alpha d c cot(phi): friction without dilation, separation beyond the tip of the cone.
// `tip` is the tension c cot(phi) at the tip, 0 without cohesion c. Volume gained in separation is remembered (where `remember`
// is set) and must be given back before the material resists compression again.
struct DruckerPragerYield {
    static constexpr std::string_view name = "drucker-prager";
    static constexpr std::array<std::string_view, 5> parameters{"mu", "lam", "alpha", "tip", "remember"};
    static constexpr std::array<std::string_view, 2> states{"plastic_strain", "gained_volume"};

    template <class V, int d>
    static auto project(Vec<V, d>& e, const V&, const V* p, V* z) {
        const V two_mu = V(2) * p[0], lam = p[1], steepness = (V(d) * lam + two_mu) / two_mu * p[2];
        const Deviator<V, d> dev(e);
        const V tip = V(d) * p[3] / (V(d) * lam + two_mu);  // volume strain there
        const V gained = z[1], volume = V(d) * dev.mean + gained, beyond = volume - tip;
        const auto apart = beyond > V(0);
        const V excess = dev.norm + steepness * beyond;
        const auto slides = !apart && excess > rounding(dev.norm) * (V(1) + steepness);
        const auto moved = apart || slides || gained != V(0);
        if (!any(moved)) return moved;
        const V mean = select(apart, tip, volume) / V(d);
        const V cut = select(apart, dev.norm, V(select(slides, excess, V(0)))), keep = dev.shortened(cut);
        for (int i = 0; i < d; ++i)
            e[i] = select(moved, V(mean + select(apart, V(0), V(keep * dev.q[i]))), e[i]);
        z[0] += cut;
        z[1] = select(apart, V(p[4] * beyond), V(0));
        return moved;
    }
};

// Herschel-Bulkley: shear stress sigma = yield + consistency * rate^exponent once it exceeds the yield stress.
// In terms of norms sigma = |dev tau|/sqrt(2) and rate = sqrt(2) |de_p/dt|, the values of simple shear. The flow is
// taken implicitly: the overstress x = sigma - yield solves x + mu dt (x/K)^(1/n) = x_trial.
struct HerschelBulkleyYield {
    static constexpr std::string_view name = "herschel-bulkley";
    static constexpr std::array<std::string_view, 5> parameters{"mu", "lam", "yield", "consistency", "exponent"};
    static constexpr std::array<std::string_view, 1> states{"plastic_strain"};

    // Root y in (0, 1) of y + k y^m = 1, k = exp(log_k). With u = y (m >= 1) or u = y^m (m < 1) the equation is
    // A u + B u^a = 1, a >= 1, convex, and Newton's method from the right never overshoots. B may be beyond any number,
    // B u^(a-1) is not.
    template <class V>
    static V remaining(const V& log_k, const V& m) {
        using T = Scalar<V>;
        const auto thick = m < V(1);
        const V a = select(thick, V(V(1) / m), m), log_B = select(thick, V(0), log_k);
        const V A = select(thick, exp_of(V(select(thick, log_k, V(0)))), V(1));
        const V tiny = V(std::numeric_limits<T>::min());
        V u = min(V(V(1) / A), V(exp_of(V(-log_B / a))));
        for (int iteration = 0; iteration < 50; ++iteration) {
            const V slope = exp_of(V(log_B + (a - V(1)) * log_of(V(max(u, tiny)))));
            const V change = ((A + slope) * u - V(1)) / (A + a * slope);
            u = max(V(u - change), V(0));
            if (all(change <= V(4 * std::numeric_limits<T>::epsilon()) * u)) break;
        }
        return select(thick, exp_of(V(a * log_of(V(max(u, tiny))))), u);
    }
    template <class V, int d>
    static auto project(Vec<V, d>& e, const V& dt, const V* p, V* z) {
        using T = Scalar<V>;
        const Deviator<V, d> dev(e);
        const V sigma = V(T(1.4142135623730951)) * p[0] * dev.norm, over = sigma - p[2];
        const auto flows = over > V(0) && dt > V(0);
        if (!any(flows)) return flows;
        const V x = select(flows, over, V(1)), m = V(1) / p[4], tiny = V(std::numeric_limits<T>::min());
        // k = mu dt (x/K)^m / x, kept where e^-60 of the overstress would be left: nothing.
        const V log_k = m * log_of(V(x / max(p[3], tiny))) + log_of(V(max(V(p[0] * dt / x), tiny)));
        const V most = V(T(60)) * max(V(1), m);
        const V left = p[2] + x * remaining(V(min(max(log_k, V(-most)), most)), m);
        const V keep = select(flows, V(left / sigma), V(1));
        for (int i = 0; i < d; ++i) e[i] = select(flows, V(dev.mean + keep * dev.q[i]), e[i]);
        z[0] += (V(1) - keep) * dev.norm;
        return flows;
    }
};

using VonMises = HenckyPlastic<VonMisesYield>;
using Rankine = HenckyPlastic<RankineYield>;
using DruckerPrager = HenckyPlastic<DruckerPragerYield>;
using HerschelBulkley = HenckyPlastic<HerschelBulkleyYield>;

}  // namespace continua
