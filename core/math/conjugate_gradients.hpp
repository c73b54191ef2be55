// Conjugate gradients for A x = b with a symmetric positive matrix A, whatever the vectors look like.
#pragma once

#include <algorithm>

namespace continua {

struct SolveReport {
    int iterations = 0;
    double residual = 0, first_residual = 0;  // largest entries of b - A x: of the result, and of the initial guess
};

// One sequence of conjugate directions from x with the largest residual `largest`, until that is at most `goal`;
// returns the number of iterations.
template <class System>
int conjugate_directions(System& system, double largest, double goal, int max_iterations) {
    double alpha = 0, rz = 0;
    int iteration = 0;
    while (largest > goal && iteration < max_iterations) {
        ++iteration;
        rz = system.turn(alpha, rz);
        const double curvature = system.multiply();
        if (!(curvature > 0)) break;  // no direction left in double precision
        alpha = rz / curvature;
        largest = system.advance(alpha);
    }
    return iteration;
}

// A system has the vectors x, r, p, q and
//   residual()       r = b - A x; returns the largest |r|
//   turn(alpha, rz)  z = M r with the preconditioner M, p = z + beta p; returns r.z. alpha and r.z are those of the
//                    direction before, and 0 for the first one: then beta is 0
//   multiply()       q = A p; returns p.q
//   advance(alpha)   x += alpha p, r -= alpha q; returns the largest |r|
// The residual of the recursion drifts off by rounding, so what counts is the true one: it is computed when the
// recursion says that the tolerance is reached (or 1e-10 of the start, where rounding takes over), and decides whether
// to start again from there.
template <class System>
SolveReport conjugate_gradients(System& system, double tolerance, int max_iterations) {
    SolveReport report;
    report.residual = report.first_residual = system.residual();
    while (report.residual > tolerance && report.iterations < max_iterations) {
        const double before = report.residual, goal = std::max(tolerance, 1e-10 * before);
        report.iterations += conjugate_directions(system, before, goal, max_iterations - report.iterations);
        report.residual = system.residual();
        if (!(report.residual < 0.5 * before)) break;  // as good as rounding allows
    }
    return report;
}

}  // namespace continua
