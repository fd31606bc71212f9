//! Hard problems of NIST StRD (nonlinear regression, public domain) with Jacobians by hand.

// hand-written models, a judge of their own: accuracy is at stake here, bits are not
#![allow(clippy::disallowed_methods)]

use keyfit_solvers::{LeastSquares, Options, lookup, solve};

/// Value and derivatives of a model at `x` with parameters `b`.
type Model = fn(b: &[f64], x: f64) -> (f64, Vec<f64>);

struct Nist {
    name: &'static str,
    starts: [&'static [f64]; 2],
    certified: &'static [f64],
    standard_deviation: &'static [f64],
    data: &'static [(f64, f64)],
    model: Model,
}

impl LeastSquares for Nist {
    fn parameters(&self) -> usize {
        self.certified.len()
    }

    fn residuals(&self) -> usize {
        self.data.len()
    }

    fn residuals_into(&self, b: &[f64], out: &mut [f64]) {
        for (r, (x, y)) in out.iter_mut().zip(self.data) {
            *r = (self.model)(b, *x).0 - y;
        }
    }

    fn jacobian_into(&self, b: &[f64], mut out: ndarray::ArrayViewMut2<'_, f64>) {
        for (mut row, (x, _)) in out.rows_mut().into_iter().zip(self.data) {
            row.iter_mut().zip((self.model)(b, *x).1).for_each(|(d, v)| *d = v);
        }
    }
}

fn boxbod(b: &[f64], x: f64) -> (f64, Vec<f64>) {
    let e = (-b[1] * x).exp();
    (b[0] * (1.0 - e), vec![1.0 - e, b[0] * x * e])
}

fn mgh09(b: &[f64], x: f64) -> (f64, Vec<f64>) {
    let (top, bottom) = (x * x + x * b[1], x * x + x * b[2] + b[3]);
    let y = b[0] * top / bottom;
    (y, vec![top / bottom, b[0] * x / bottom, -y * x / bottom, -y / bottom])
}

fn mgh10(b: &[f64], x: f64) -> (f64, Vec<f64>) {
    let s = x + b[2];
    let e = (b[1] / s).exp();
    (b[0] * e, vec![e, b[0] * e / s, -b[0] * e * b[1] / (s * s)])
}

fn mgh17(b: &[f64], x: f64) -> (f64, Vec<f64>) {
    let (e, f) = ((-x * b[3]).exp(), (-x * b[4]).exp());
    (b[0] + b[1] * e + b[2] * f, vec![1.0, e, f, -x * b[1] * e, -x * b[2] * f])
}

fn eckerle4(b: &[f64], x: f64) -> (f64, Vec<f64>) {
    let z = (x - b[2]) / b[1];
    let e = (-0.5 * z * z).exp();
    let y = b[0] / b[1] * e;
    (y, vec![e / b[1], y * (z * z - 1.0) / b[1], y * z / b[1]])
}

fn rat43(b: &[f64], x: f64) -> (f64, Vec<f64>) {
    let e = (b[1] - b[2] * x).exp();
    let power = (1.0 + e).powf(-1.0 / b[3]);
    let inner = -b[0] * power * e / (b[3] * (1.0 + e));
    let y = b[0] * power;
    (y, vec![power, inner, -x * inner, y * (1.0 + e).ln() / (b[3] * b[3])])
}

const BOXBOD: Nist = Nist {
    name: "BoxBOD",
    starts: [&[1.0, 1.0], &[100.0, 0.75]],
    certified: &[2.1380940889e+02, 5.4723748542e-01],
    standard_deviation: &[1.2354515176e+01, 1.0455993237e-01],
    data: &[(1.0, 109.0), (2.0, 149.0), (3.0, 149.0), (5.0, 191.0), (7.0, 213.0), (10.0, 224.0)],
    model: boxbod,
};
const MGH09: Nist = Nist {
    name: "MGH09",
    starts: [&[25.0, 39.0, 41.5, 39.0], &[0.25, 0.39, 0.415, 0.39]],
    certified: &[1.9280693458e-01, 1.9128232873e-01, 1.2305650693e-01, 1.3606233068e-01],
    standard_deviation: &[1.1435312227e-02, 1.9633220911e-01, 8.0842031232e-02, 9.0025542308e-02],
    data: &[
        (4.0, 0.1957),
        (2.0, 0.1947),
        (1.0, 0.1735),
        (0.5, 0.16),
        (0.25, 0.0844),
        (0.167, 0.0627),
        (0.125, 0.0456),
        (0.1, 0.0342),
        (0.0833, 0.0323),
        (0.0714, 0.0235),
        (0.0625, 0.0246),
    ],
    model: mgh09,
};
const MGH10: Nist = Nist {
    name: "MGH10",
    starts: [&[2.0, 400000.0, 25000.0], &[0.02, 4000.0, 250.0]],
    certified: &[5.6096364710e-03, 6.1813463463e+03, 3.4522363462e+02],
    standard_deviation: &[1.5687892471e-04, 2.3309021107e+01, 7.8486103508e-01],
    data: &[
        (50.0, 34780.0),
        (55.0, 28610.0),
        (60.0, 23650.0),
        (65.0, 19630.0),
        (70.0, 16370.0),
        (75.0, 13720.0),
        (80.0, 11540.0),
        (85.0, 9744.0),
        (90.0, 8261.0),
        (95.0, 7030.0),
        (100.0, 6005.0),
        (105.0, 5147.0),
        (110.0, 4427.0),
        (115.0, 3820.0),
        (120.0, 3307.0),
        (125.0, 2872.0),
    ],
    model: mgh10,
};
const MGH17: Nist = Nist {
    name: "MGH17",
    starts: [&[50.0, 150.0, -100.0, 1.0, 2.0], &[0.5, 1.5, -1.0, 0.01, 0.02]],
    certified: &[3.7541005211e-01, 1.9358469127e+00, -1.4646871366e+00, 1.2867534640e-02, 2.2122699662e-02],
    standard_deviation: &[
        2.0723153551e-03,
        2.2031669222e-01,
        2.2175707739e-01,
        4.4861358114e-04,
        8.9471996575e-04,
    ],
    data: &[
        (0.0, 0.844),
        (10.0, 0.908),
        (20.0, 0.932),
        (30.0, 0.936),
        (40.0, 0.925),
        (50.0, 0.908),
        (60.0, 0.881),
        (70.0, 0.85),
        (80.0, 0.818),
        (90.0, 0.784),
        (100.0, 0.751),
        (110.0, 0.718),
        (120.0, 0.685),
        (130.0, 0.658),
        (140.0, 0.628),
        (150.0, 0.603),
        (160.0, 0.58),
        (170.0, 0.558),
        (180.0, 0.538),
        (190.0, 0.522),
        (200.0, 0.506),
        (210.0, 0.49),
        (220.0, 0.478),
        (230.0, 0.467),
        (240.0, 0.457),
        (250.0, 0.448),
        (260.0, 0.438),
        (270.0, 0.431),
        (280.0, 0.424),
        (290.0, 0.42),
        (300.0, 0.414),
        (310.0, 0.411),
        (320.0, 0.406),
    ],
    model: mgh17,
};
const ECKERLE4: Nist = Nist {
    name: "Eckerle4",
    starts: [&[1.0, 10.0, 500.0], &[1.5, 5.0, 450.0]],
    certified: &[1.5543827178e+00, 4.0888321754e+00, 4.5154121844e+02],
    standard_deviation: &[1.5408051163e-02, 4.6803020753e-02, 4.6800518816e-02],
    data: &[
        (400.0, 0.0001575),
        (405.0, 0.0001699),
        (410.0, 0.000235),
        (415.0, 0.0003102),
        (420.0, 0.0004917),
        (425.0, 0.000871),
        (430.0, 0.0017418),
        (435.0, 0.00464),
        (436.5, 0.0065895),
        (438.0, 0.0097302),
        (439.5, 0.0149002),
        (441.0, 0.023731),
        (442.5, 0.0401683),
        (444.0, 0.0712559),
        (445.5, 0.1264458),
        (447.0, 0.2073413),
        (448.5, 0.2902366),
        (450.0, 0.3445623),
        (451.5, 0.3698049),
        (453.0, 0.3668534),
        (454.5, 0.3106727),
        (456.0, 0.2078154),
        (457.5, 0.1164354),
        (459.0, 0.0616764),
        (460.5, 0.03372),
        (462.0, 0.0194023),
        (463.5, 0.0117831),
        (465.0, 0.0074357),
        (470.0, 0.0022732),
        (475.0, 0.00088),
        (480.0, 0.0004579),
        (485.0, 0.0002345),
        (490.0, 0.0001586),
        (495.0, 0.0001143),
        (500.0, 7.1e-05),
    ],
    model: eckerle4,
};
const RAT43: Nist = Nist {
    name: "Rat43",
    starts: [&[100.0, 10.0, 1.0, 1.0], &[700.0, 5.0, 0.75, 1.3]],
    certified: &[6.9964151270e+02, 5.2771253025e+00, 7.5962938329e-01, 1.2792483859e+00],
    standard_deviation: &[1.6302297817e+01, 2.0828735829e+00, 1.9566123451e-01, 6.8761936385e-01],
    data: &[
        (1.0, 16.08),
        (2.0, 33.83),
        (3.0, 65.8),
        (4.0, 97.2),
        (5.0, 191.55),
        (6.0, 326.2),
        (7.0, 386.87),
        (8.0, 520.53),
        (9.0, 590.03),
        (10.0, 651.92),
        (11.0, 724.93),
        (12.0, 699.56),
        (13.0, 689.96),
        (14.0, 637.56),
        (15.0, 717.41),
    ],
    model: rat43,
};

const PROBLEMS: [&Nist; 6] = [&BOXBOD, &MGH09, &MGH10, &MGH17, &ECKERLE4, &RAT43];

/// Digits of the worst value, at most 11.
fn log_relative_error(fit: &[f64], certified: &[f64]) -> f64 {
    fit.iter().zip(certified).map(|(a, b)| -((a - b) / b).abs().log10()).fold(11.0, f64::min)
}

#[test]
fn the_jacobians_are_right() {
    for problem in PROBLEMS {
        let b = problem.starts[1];
        for (x, _) in problem.data {
            let (_, derivatives) = (problem.model)(b, *x);
            for (j, derivative) in derivatives.iter().enumerate() {
                let at = |h: f64| {
                    let mut b = b.to_vec();
                    b[j] *= 1.0 + h;
                    (problem.model)(&b, *x).0
                };
                let h = 1e-6;
                let difference = (at(h) - at(-h)) / (2.0 * h * b[j]);
                let scale = derivatives[j].abs().max(at(0.0).abs() / b[j].abs());
                assert!((difference - derivative).abs() <= 1e-6 * scale, "{} {j}", problem.name);
            }
        }
    }
}

#[test]
fn levenberg_marquardt_finds_ten_digits_from_both_starts() {
    let solver = lookup("levenberg-marquardt").unwrap();
    for problem in PROBLEMS {
        for start in problem.starts {
            let outcome = solve(problem, start, solver, &Options::default()).unwrap();
            let digits = log_relative_error(&outcome.parameters, problem.certified);
            assert!(digits >= 10.0, "{} {start:?}: {digits} digits, {:?}", problem.name, outcome.termination);
            assert!(outcome.termination.converged(), "{} {:?}", problem.name, outcome.termination);
            let errors = outcome.standard_errors.unwrap();
            let digits = log_relative_error(&errors, problem.standard_deviation);
            assert!(digits >= 7.0, "{} {start:?}: {digits} digits of the standard errors", problem.name);
        }
    }
}

#[test]
fn no_solver_claims_the_false_minima() {
    for (problem, solvers) in [
        (&BOXBOD, ["gradient-descent", "l-bfgs", "gauss-newton", "levenberg-marquardt"]),
        (&ECKERLE4, ["gradient-descent", "l-bfgs", "gauss-newton", "levenberg-marquardt"]),
        (&RAT43, ["gradient-descent", "l-bfgs", "gauss-newton", "levenberg-marquardt"]),
    ] {
        for name in solvers {
            // A first step of 100, MINPACK's default, throws Levenberg–Marquardt onto BoxBOD's plateau.
            let options = Options { first_step: 100.0, ..Options::default() };
            let outcome = solve(problem, problem.starts[0], lookup(name).unwrap(), &options).unwrap();
            let right = log_relative_error(&outcome.parameters, problem.certified) >= 4.0;
            assert!(
                right || !outcome.termination.converged(),
                "{name} on {}: {:?}",
                problem.name,
                outcome.termination
            );
        }
    }
}
