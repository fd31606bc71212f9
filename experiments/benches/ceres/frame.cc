// Fits with Ceres: see main.rs.
#include <ceres/ceres.h>
#include <ceres/tiny_solver.h>
#include <ceres/tiny_solver_autodiff_function.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

using ceres::pow;
using std::atan;
using std::cos;
using std::exp;
using std::log;
using std::pow;
using std::sin;
using std::sqrt;

/*FUNCTOR*/
constexpr double kTolerance = std::numeric_limits<double>::epsilon();
constexpr int kIterations = 2000;
constexpr int kRounds = /*ROUNDS*/;

static double now() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static void print(double micros, int residuals, int jacobians, const double* p, int n) {
  std::printf("%.3f %d %d", micros, residuals, jacobians);
  for (int i = 0; i < n; ++i) std::printf(" %.17g", p[i]);
  std::printf("\n");
}

// Counts calls by what they are made with: numbers or Jets.
template <class F>
struct Counted {
  mutable int values = 0, jets = 0;
  bool operator()(const double* p, double* r) const { ++values; return F()(p, r); }
  template <class T> bool operator()(const T* p, T* r) const { ++jets; return F()(p, r); }
};

template <class F, int M, int N>
void fit(const std::vector<double>& start) {
  double best = 1e300, p[N];
  ceres::Solver::Summary summary;
  for (int round = 0; round < kRounds; ++round) {
    std::copy(start.begin(), start.end(), p);
    ceres::Problem problem;
    problem.AddResidualBlock(new ceres::AutoDiffCostFunction<F, M, N>(new F), nullptr, p);
    ceres::Solver::Options options;
    options.minimizer_type = ceres::TRUST_REGION;
    options.trust_region_strategy_type = ceres::LEVENBERG_MARQUARDT;
    options.linear_solver_type = ceres::DENSE_QR;
    options.function_tolerance = options.gradient_tolerance = options.parameter_tolerance = kTolerance;
    options.max_num_iterations = kIterations;
    options.num_threads = 1;
    options.logging_type = ceres::SILENT;
    const double began = now();
    ceres::Solve(options, &problem, &summary);
    best = std::min(best, now() - began);
  }
  print(best, summary.num_residual_evaluations, summary.num_jacobian_evaluations, p, N);

  using Function = ceres::TinySolverAutoDiffFunction<Counted<F>, M, N>;
  best = 1e300;
  int values = 0, jets = 0;
  Eigen::Matrix<double, N, 1> x;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < N; ++i) x[i] = start[i];
    Counted<F> functor;
    Function function(functor);
    ceres::TinySolver<Function> solver;
    solver.options.gradient_tolerance = solver.options.parameter_tolerance = kTolerance;
    solver.options.cost_threshold = kTolerance;
    solver.options.max_num_iterations = kIterations;
    const double began = now();
    solver.Solve(function, &x);
    best = std::min(best, now() - began);
    values = functor.values;
    jets = functor.jets;
  }
  print(best, values, jets, x.data(), N);
}

int main() {
  google::InitGoogleLogging("fits");
  FLAGS_minloglevel = 3;
  std::printf("Ceres %s, %s, -O3; DENSE_QR and TinySolver, tolerances %g, at most %d iterations, best of %d\n", CERES_VERSION_STRING,
              __VERSION__, kTolerance, kIterations, kRounds);
/*CALLS*/
}
