//! Laws of derivatives on random tracks.

use keyfit_autodiff::{Jacobian, Jet, SparseJacobian, gradient, hessian, jacobian, time_derivatives};
use keyfit_ir::arbitrary::{RandomNumber, RandomTrack, TameNumber};
use keyfit_ir::{Sampler, Track, same_bits};
use ndarray::Array2;
use num_dual::{DualSVec64, HyperDualSVec64};
use quickcheck::{QuickCheck, Testable};

const CASES: u64 = 2000;

fn check(law: impl Testable) {
    QuickCheck::new().tests(CASES).quickcheck(law);
}

fn numbers(numbers: &[RandomNumber]) -> Vec<f64> {
    numbers.iter().map(|x| x.0).collect()
}

fn at(track: &Track, given: &[RandomNumber]) -> Vec<f64> {
    let mut values = track.starts();
    values.iter_mut().zip(given).for_each(|(value, x)| *value = x.0);
    values
}

fn sample(track: &Track, t: f64, parameters: &[f64]) -> f64 {
    Sampler::new(track).sample_at(&t, parameters)
}

/// The value of every Jet kind is the sampler's bit for bit, whatever moves.
#[test]
fn values_are_the_samplers_bit_for_bit() {
    fn law(RandomTrack(track): RandomTrack, times: Vec<RandomNumber>, given: Vec<RandomNumber>) -> bool {
        let (times, parameters) = (numbers(&times), at(&track, &given));
        let mut values = vec![0.0; times.len()];
        let columns = track.free_parameters().len();
        let mut partials = Array2::zeros((times.len(), columns));
        Jacobian::new(&track).fill(&times, &numbers(&given), &mut values, partials.view_mut());
        times.iter().zip(&values).all(|(&t, &value)| {
            let expected = sample(&track, t, &parameters);
            let one: Vec<_> =
                parameters.iter().map(|&x| Jet::<DualSVec64<1>>::variable(x, Some(0))).collect();
            let one = Sampler::new(&track).sample_at(&Jet::<DualSVec64<1>>::variable(t, Some(0)), &one);
            let tile = |x, k| Jet::<HyperDualSVec64<2, 3>>::tile_variable(x, Some(k), Some(k + 1));
            let hyper: Vec<_> = parameters.iter().enumerate().map(|(k, &x)| tile(x, k)).collect();
            let hyper = Sampler::new(&track).sample_at(&tile(t, 0), &hyper);
            let (in_time, ..) = time_derivatives(&track, t, &parameters);
            [value, one.0.re, hyper.0.re, in_time].into_iter().all(|v| same_bits(v, expected))
        })
    }
    check(law as fn(_, _, _) -> _);
}

/// Where the value is finite no derivative of any order is NaN.
#[test]
fn no_derivative_of_a_finite_value_is_nan() {
    fn law(RandomTrack(track): RandomTrack, t: RandomNumber, given: Vec<RandomNumber>) -> bool {
        let parameters = at(&track, &given);
        let (value, velocity, acceleration) = time_derivatives(&track, t.0, &parameters);
        !value.is_finite()
            || !(velocity.is_nan()
                || acceleration.is_nan()
                || gradient(&track, t.0, &parameters).iter().any(|p| p.is_nan())
                || hessian(&track, t.0, &parameters).iter().any(|p| p.is_nan()))
    }
    check(law as fn(_, _, _) -> _);
}

/// A track with `n` extra parameters p0, p1, …, so that it needs several chunks and tiles. The random one is in the
/// middle of them.
fn widened(track: &Track, n: usize) -> Track {
    let p = |k: usize| keyfit_ir::free(&format!("p{k}"), 0.5 + k as f64 / 8.0);
    let mut sum: keyfit_ir::Expr = p(0);
    for k in 1..n {
        sum = match k % 3 {
            0 => sum.max(p(k) * p(k - 1)),
            1 => sum + p(k).sin() * p(k / 2),
            _ => sum.min(keyfit_ir::t() * p(k)),
        };
        if k == n / 2 {
            sum = sum * keyfit_ir::Expr::from(track.clone());
        }
    }
    sum.track().expect("the names are new")
}

/// A gradient does not depend on how it is cut: every column alone, in one of the narrow types, gives the same bits.
#[test]
fn chunks_are_the_columns_one_by_one() {
    fn law(RandomTrack(track): RandomTrack, t: RandomNumber, n: u8) -> bool {
        let track = widened(&track, usize::from(n % 30) + 2);
        let parameters = track.starts();
        let all = gradient(&track, t.0, &parameters);
        let mut sampler = Sampler::new(&track);
        (0..parameters.len()).all(|k| {
            let moved = |(i, &x): (usize, &f64)| Jet::<DualSVec64<1>>::variable(x, (i == k).then_some(0));
            let variables: Vec<_> = parameters.iter().enumerate().map(moved).collect();
            let alone = sampler.sample_at(&Jet::constant(t.0), &variables).0;
            same_bits(alone.eps.0.map_or(0.0, |eps| eps[0]), all[k])
        })
    }
    check(law as fn(_, _, _) -> _);
}

/// The rows of a Jacobian are the gradients, in whatever batches the times come.
#[test]
fn rows_are_the_gradients() {
    fn law(RandomTrack(track): RandomTrack, times: Vec<TameNumber>) -> bool {
        // more than one batch and more than one block
        let times: Vec<f64> = times.iter().map(|t| t.0).cycle().take(times.len() * 40).collect();
        let rows = jacobian(&track, &times, &[]);
        rows.dim() == (times.len(), track.free_parameters().len())
            && times.iter().enumerate().step_by(7).all(|(i, &t)| {
                rows.row(i).iter().zip(&gradient(&track, t, &[])).all(|(&a, &b)| same_bits(a, b))
            })
    }
    QuickCheck::new().tests(200).quickcheck(law as fn(_, _) -> _);
}

#[test]
fn hessians_are_symmetric() {
    fn law(RandomTrack(track): RandomTrack, t: RandomNumber, n: u8) -> bool {
        let track = widened(&track, usize::from(n % 12) + 2);
        let hessian = hessian(&track, t.0, &[]);
        hessian.indexed_iter().all(|((i, j), &h)| same_bits(h, hessian[(j, i)]))
    }
    check(law as fn(_, _, _) -> _);
}

/// The Hessian is the central difference of the gradient. With parameters in [0.5, 1.5] all third and fifth derivatives of this
/// function are below 2000, so that the difference is within h²/6 · 2000 + ε · 100/h < 1e-6 of it for h = 1e-5.
#[test]
fn the_hessian_is_the_difference_of_the_gradient() {
    let p = |k: usize| keyfit_ir::free(&format!("p{k}"), 1.0);
    let track = (p(0).sin() * p(1) / p(2)
        + p(3).exp() * p(4).pow(p(5))
        + p(6).hypot(p(0)) * p(2).atan2(p(3))
        + (p(1) * keyfit_ir::t()).tanh() * p(6).ln()
        + keyfit_ir::linear([(0.0, p(5) * p(6)), (1.0, p(4) / p(0))]))
    .track()
    .expect("well formed");
    let h = 1e-5;
    fn shifted(x: &[f64], k: usize, h: f64) -> Vec<f64> {
        let mut x = x.to_vec();
        x[k] += h;
        x
    }
    let law = |raw: Vec<TameNumber>, t: TameNumber| {
        let mut x = vec![1.0; 7];
        x.iter_mut().zip(&raw).for_each(|(x, r)| *x = 0.5 + (r.0.abs() / 20.0));
        let exact = hessian(&track, t.0, &x);
        (0..7).all(|k| {
            let (up, down) =
                (gradient(&track, t.0, &shifted(&x, k, h)), gradient(&track, t.0, &shifted(&x, k, -h)));
            (0..7).all(|j| ((up[j] - down[j]) / (2.0 * h) - exact[(j, k)]).abs() < 1e-6)
        })
    };
    for case in 0..500u32 {
        let raw = (0..7).map(|k| TameNumber(f64::from((case * 7919 + k * 104_729) % 2003) / 100.0)).collect();
        assert!(law(raw, TameNumber(f64::from(case % 40) / 37.0)), "case {case}");
    }
}

/// Velocity is the difference of positions, acceleration that of velocities, away from keys.
#[test]
fn motion_is_the_difference_of_positions() {
    let track = (2.0 * (1.1 * keyfit_ir::t()).cos()
        + keyfit_ir::linear([(0.0, 1.0), (1.0, 3.0), (2.0, -1.0)]).at(keyfit_ir::t() * keyfit_ir::t()))
    .track()
    .expect("well formed");
    // third derivatives are below 3, so the differences are within h² + ε·10/h < 1e-8
    let h = 1e-5;
    for t in [0.1, 0.3, 0.7, 1.2, 1.3, 1.9] {
        let (_, velocity, acceleration) = time_derivatives(&track, t, &[]);
        let (before, after) = (time_derivatives(&track, t - h, &[]), time_derivatives(&track, t + h, &[]));
        assert!(((after.0 - before.0) / (2.0 * h) - velocity).abs() < 1e-8, "at {t}");
        assert!(((after.1 - before.1) / (2.0 * h) - acceleration).abs() < 1e-8, "at {t}");
    }
}

/// A sparse Jacobian has the dense one's entries, bit for bit, and leaves out nothing but zeros.
#[test]
fn a_sparse_jacobian_is_the_dense_one() {
    fn law(RandomTrack(track): RandomTrack, times: Vec<RandomNumber>, given: Vec<RandomNumber>) -> bool {
        let (times, given) = (numbers(&times), numbers(&given));
        let mut dense = Array2::zeros((times.len(), track.free_parameters().len()));
        Jacobian::new(&track).fill(&times, &given, &mut [], dense.view_mut());
        let mut sparse = SparseJacobian::new(&track, &times, usize::MAX).unwrap();
        let mut entries = vec![f64::NAN; sparse.sparsity().entries()];
        sparse.fill(&given, &mut entries);
        let mut entries = entries.into_iter();
        let mut kept = true;
        for (row, columns) in dense.rows_mut().into_iter().zip(sparse.sparsity().rows()) {
            let mut row = row;
            for &column in columns {
                let entry = entries.next().unwrap();
                kept &= same_bits(std::mem::take(&mut row[column as usize]), entry);
            }
            kept &= row.iter().all(|left_out| *left_out == 0.0);
        }
        kept && entries.next().is_none()
    }
    check(law as fn(_, _, _) -> _);
}

/// Keys of every shape, read by a looped clock beside global parameters: the partials carried are as many as one value's term looks at
/// (a hold looks at the next key too, and does not feel it).
#[test]
fn a_band_is_as_wide_as_its_segments() {
    for (shape, width) in [("hold", 2), ("linear", 2), ("monotone", 4), ("catmull-rom", 4), ("tcb", 4)] {
        let keys: Vec<String> = (0..40).map(|k| format!("{k}=?k{k}={k}")).collect();
        let text = format!("?gain=2 * {shape}[{}](mod(3*t, 40)) + ?bias=1", keys.join(" "));
        let track = Track::parse(&text).unwrap();
        let times: Vec<f64> = (0..400).map(|k| f64::from(k) * 0.037).collect();
        let mut sparse = SparseJacobian::new(&track, &times, usize::MAX).unwrap();
        assert_eq!(sparse.width(), width + 2, "{shape}");
        let mut entries = vec![0.0; sparse.sparsity().entries()];
        sparse.fill(&[], &mut entries);
        let dense = jacobian(&track, &times, &[]);
        assert_eq!(
            entries.iter().filter(|d| **d != 0.0).count(),
            dense.iter().filter(|d| **d != 0.0).count()
        );
        // a parameter that moves the clock may move any key into sight
        let moved = Track::parse(&text.replace("3*t", "?speed=3*t")).unwrap();
        assert_eq!(SparseJacobian::new(&moved, &times, usize::MAX).unwrap().width(), 43);
        assert!(SparseJacobian::new(&moved, &times, 1000).is_none());
    }
}
