// Fits with Ceres and GSL: see main.rs.
#include <ceres/ceres.h>
#include <ceres/tiny_solver.h>
#include <ceres/tiny_solver_autodiff_function.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_version.h>

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

// GSL's view of a functor; derivatives by Jets. Its vectors are contiguous.
template <class F, int M, int N>
struct Gsl {
  static int f(const gsl_vector* x, void*, gsl_vector* r) {
    F()(gsl_vector_const_ptr(x, 0), gsl_vector_ptr(r, 0));
    return GSL_SUCCESS;
  }
  static int df(const gsl_vector* x, void*, gsl_matrix* jacobian) {
    using Jet = ceres::Jet<double, N>;
    Jet p[N], r[M];
    for (int j = 0; j < N; ++j) p[j] = Jet(gsl_vector_get(x, j), j);
    F()(p, r);
    for (int i = 0; i < M; ++i)
      for (int j = 0; j < N; ++j) gsl_matrix_set(jacobian, i, j, r[i].v[j]);
    return GSL_SUCCESS;
  }
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

  best = 1e300;
  for (int round = 0; round < kRounds; ++round) {
    gsl_multifit_nlinear_fdf fdf = {};
    fdf.f = Gsl<F, M, N>::f;
    fdf.df = Gsl<F, M, N>::df;
    fdf.n = M;
    fdf.p = N;
    // its defaults: Levenberg-Marquardt, Moré's scaling, QR
    gsl_multifit_nlinear_parameters parameters = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_workspace* work = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &parameters, M, N);
    const gsl_vector_const_view from = gsl_vector_const_view_array(start.data(), N);
    int info = 0;
    const double began = now();
    gsl_multifit_nlinear_init(&from.vector, &fdf, work);
    gsl_multifit_nlinear_driver(kIterations, kTolerance, kTolerance, kTolerance, nullptr, nullptr, &info, work);
    best = std::min(best, now() - began);
    for (int j = 0; j < N; ++j) p[j] = gsl_vector_get(gsl_multifit_nlinear_position(work), j);
    values = fdf.nevalf;
    jets = fdf.nevaldf;
    gsl_multifit_nlinear_free(work);
  }
  print(best, values, jets, p, N);
}

int main() {
  google::InitGoogleLogging("fits");
  FLAGS_minloglevel = 3;
  gsl_set_error_handler_off();
  std::printf("Ceres %s, GSL %s, %s, -O3; DENSE_QR, TinySolver and multifit_nlinear, tolerances %g, at most %d iterations, best of %d\n",
              CERES_VERSION_STRING, GSL_VERSION, __VERSION__, kTolerance, kIterations, kRounds);
/*CALLS*/
}
