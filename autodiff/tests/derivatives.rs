//! Derivatives at the points where other implementations are wrong, at kinks, and against differences.

use keyfit_autodiff::{Jet, gradient, hessian, jacobian, local_partials, time_derivatives};
use keyfit_ir::{Expr, Op, Scalar, constant, free, linear, t};
use num_dual::DualSVec64;

const INF: f64 = f64::INFINITY;

/// The gradient of `track` at time 0.
fn slopes(track: Expr) -> Vec<f64> {
    gradient(&track.track().expect("well formed"), 0.0, &[]).to_vec()
}

fn p(x: f64) -> Expr {
    free("p", x)
}
fn q(x: f64) -> Expr {
    free("q", x)
}

/// Value and partials of an operation all of whose operands move.
fn op(op: Op, x: [f64; 3]) -> (f64, [f64; 3]) {
    (op.apply([&x[0], &x[1], &x[2]]), local_partials(op, x))
}

#[test]
fn values_that_num_dual_has_wrong() {
    let value = |op: Op, a: f64, b: f64| {
        let [a, b] = [a, b].map(|x| Jet::<DualSVec64<1>>::variable(x, Some(0)));
        op.apply([&a, &b, &a]).0.re
    };
    assert_eq!(value(Op::POW, 0.0, 0.5), 0.0);
    assert_eq!(value(Op::POW, 0.0, 2.5), 0.0);
    assert_eq!(value(Op::POW, 0.0, -1.0), INF);
    assert_eq!(value(Op::POW, 0.0, 0.0), 1.0);
    assert_eq!(value(Op::POW, -2.0, 2.0), 4.0);
    assert_eq!(value(Op::TANH, 800.0, 0.0), 1.0);
    assert_eq!(value(Op::POW, 1e-150, 0.5), 1e-75);
    assert_eq!(value(Op::HYPOT, 3e200, 4e200), 4.9999999999999995e200);
    assert_eq!(value(Op::HYPOT, 3e-200, 4e-200), 5e-200);
}

#[test]
fn partials_that_num_dual_has_wrong() {
    // by each exponent's constant neighbour too, as people write them
    assert_eq!(slopes(p(0.0).pow(0.5)), [INF]);
    assert_eq!(slopes(p(0.0).pow(2.5)), [0.0]);
    assert_eq!(slopes(p(0.0).pow(0.0)), [0.0]);
    assert_eq!(slopes(p(-2.0).pow(2.0)), [-4.0]);
    assert_eq!(slopes(p(1e-150).pow(0.5)), [0.5 * (1e-75 / 1e-150)]);
    assert_eq!(local_partials(Op::POW, [0.0, 2.0, 0.0]), [0.0, 0.0, 0.0]);
    assert_eq!(local_partials(Op::POW, [0.0, 0.0, 0.0]), [0.0, -INF, 0.0]);
    assert_eq!(local_partials(Op::POW, [-2.0, 2.0, 0.0]), [-4.0, INF, 0.0]);
    assert_eq!(slopes(p(800.0).tanh()), [0.0]);
    assert_eq!(slopes(p(-800.0).tanh()), [0.0]);
    assert_eq!(
        op(Op::HYPOT, [3e200, 4e200, 0.0]).1,
        [3e200 / 4.9999999999999995e200, 4e200 / 4.9999999999999995e200, 0.0]
    );
    assert_eq!(op(Op::HYPOT, [3e-200, 4e-200, 0.0]).1, [3e-200 / 5e-200, 4e-200 / 5e-200, 0.0]);
    // √, hypot at 0; of constants too
    assert_eq!(slopes(p(0.0).sqrt()), [INF]);
    assert_eq!(slopes(p(-0.0).sqrt()), [INF]);
    assert_eq!(slopes(constant(0.0).sqrt() + p(1.0)), [1.0]);
    assert_eq!(slopes(p(1.0) * constant(0.0).hypot(0.0)), [0.0]);
    assert_eq!(slopes(p(0.0).hypot(q(0.0))), [0.0, 0.0]);
    // atan2 of tiny and of huge numbers, and at the origin
    assert_eq!(op(Op::ATAN2, [1e-200, 1e-200, 0.0]).1, [0.5 / 1e-200, -0.5 / 1e-200, 0.0]);
    assert_eq!(op(Op::ATAN2, [1e-200, 1.0, 0.0]).1, [1.0, -1e-200, 0.0]);
    assert_eq!(op(Op::ATAN2, [1e200, 1e200, 0.0]).1, [0.5 / 1e200, -0.5 / 1e200, 0.0]);
    assert_eq!(op(Op::ATAN2, [0.0, 0.0, 0.0]).1, [0.0; 3]);
    // asin, acos at ±1
    for x in [1.0, -1.0] {
        assert_eq!(slopes(p(x).asin()), [INF]);
        assert_eq!(slopes(p(x).acos()), [-INF]);
    }
    // the logistic function where e⁸⁰⁰ overflows
    assert_eq!(slopes(1.0 / (1.0 + (-p(-800.0)).exp())), [0.0]);
    // one bad partial leaves the others as they are
    assert_eq!(slopes(p(0.0).sqrt() + q(3.0)), [INF, 1.0]);
    // |x|′ is the same at both zeros, max(x, 0)′ the same in either order
    assert_eq!(slopes(p(0.0).abs()), [1.0]);
    assert_eq!(slopes(p(-0.0).abs()), [1.0]);
    assert_eq!(slopes(p(0.0).max(0.0)), [1.0]);
    assert_eq!(slopes(constant(0.0).max(p(0.0))), [1.0]);
}

/// What each function's derivatives are where they are known exactly.
#[test]
fn derivatives_at_edges() {
    for (op, x, expected) in [
        (Op::TAN, [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
        (Op::LN, [0.0, 0.0, 0.0], [INF, 0.0, 0.0]),
        (Op::LN, [-0.0, 0.0, 0.0], [INF, 0.0, 0.0]),
        (Op::EXP2, [3.0, 0.0, 0.0], [8.0 * std::f64::consts::LN_2, 0.0, 0.0]),
        (Op::ATAN, [1e200, 0.0, 0.0], [0.0, 0.0, 0.0]),
        (Op::ATAN, [INF, 0.0, 0.0], [0.0, 0.0, 0.0]),
        (Op::DIV, [1e200, 1e200, 0.0], [1.0 / 1e200, -1.0 / 1e200, 0.0]),
        (Op::MOD, [7.5, 2.0, 0.0], [1.0, -3.0, 0.0]),
        (Op::MOD, [-1e-20, 1.0, 0.0], [1.0, 1.0, 0.0]),
        (Op::MOD, [-1.7e308, 1e308, 0.0], [1.0, 2.0, 0.0]),
        (Op::MOD, [3.0, INF, 0.0], [1.0, 0.0, 0.0]),
        (Op::POW, [2.0, 0.0, 0.0], [0.0, std::f64::consts::LN_2, 0.0]),
        (Op::POW, [1.0, 5.0, 0.0], [5.0, 0.0, 0.0]),
        (Op::POW, [1.0, INF, 0.0], [INF, 0.0, 0.0]),
        (Op::POW, [0.5, INF, 0.0], [0.0, 0.0, 0.0]),
        (Op::POW, [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]),
        (Op::FLOOR, [2.5, 0.0, 0.0], [0.0; 3]),
        (Op::SIGN, [2.5, 0.0, 0.0], [0.0; 3]),
        (Op::STEP, [1.0, 1.0, 0.0], [0.0; 3]),
        (Op::GATE, [1.0, 0.0, 2.0], [0.0; 3]),
        (Op::FRACT, [2.5, 0.0, 0.0], [1.0, 0.0, 0.0]),
        (Op::SMOOTHSTEP, [0.0, 1.0, 0.25], [-27.0 / 32.0, -9.0 / 32.0, 9.0 / 8.0]),
        (Op::SMOOTHSTEP, [0.0, 1.0, 1.5], [0.0; 3]),
        (Op::SMOOTHSTEP, [1.0, 1.0, 1.0], [0.0; 3]),
        (Op::MIX, [10.0, 20.0, 0.25], [0.75, 0.25, 10.0]),
    ] {
        assert_eq!(local_partials(op, x), expected, "{op:?} at {x:?}");
    }
}

#[test]
fn ties_are_fair() {
    // one operand moves
    for x in [0.0, 1.0] {
        assert_eq!(slopes(p(x).clamp(0.0, 1.0)), [1.0], "clamp at {x}");
    }
    for x in [-0.5, 1.5] {
        assert_eq!(slopes(p(x).clamp(0.0, 1.0)), [0.0], "clamp at {x}");
    }
    // both move: the mean, in either order and whatever the zeros' signs
    for (a, b) in [(2.0, 2.0), (0.0, -0.0), (-0.0, 0.0)] {
        assert_eq!(slopes(p(a).min(q(b))), [0.5, 0.5]);
        assert_eq!(slopes(q(b).max(p(a))), [0.5, 0.5]);
    }
    assert_eq!(slopes((3.0 * p(2.0)).min(p(2.0) + 4.0)), [2.0]);
    // what a floor holds does not move
    assert_eq!(slopes(p(2.0).floor().min(p(2.0))), [1.0]);
    // where two parameters tie, a third one's chunk and a chunk's border change nothing
    let many = (0..20).map(|k| free(&format!("p{k:02}"), 1.0)).reduce(|a, b| a.max(b)).expect("twenty");
    let slopes = slopes(many);
    assert_eq!(slopes.iter().sum::<f64>(), 1.0);
    assert_eq!((slopes[19], slopes[18], slopes[0]), (0.5, 0.25, Scalar::exp2(&-19.0)));
    // a second derivative decides if no first one does
    let square = (p(0.0) * p(0.0)).max(0.0).track().expect("well formed");
    assert_eq!(hessian(&square, 0.0, &[])[(0, 0)], 2.0);
}

/// Case F9 of the collected animation bugs, and the slopes of F6.
#[test]
fn f9_dead_branches_do_not_poison() {
    assert_eq!(slopes(p(0.0).hypot(q(0.0)).max(1e-10)), [0.0, 0.0]);
    assert_eq!(slopes(p(INF).clamp(0.0, 1.0)), [0.0]);
    assert_eq!(slopes(p(0.5).clamp(0.0, 1.0)), [1.0]);
    // circ-in at u = 1, circ-out at u = 0: infinite slopes, flagged as such
    assert_eq!(slopes(1.0 - (1.0 - p(1.0) * p(1.0)).sqrt()), [INF]);
    assert_eq!(slopes((1.0 - (p(0.0) - 1.0).pow(2.0)).sqrt()), [INF]);
    // an object at rest has no heading, and no slope of one
    let rest = keyfit_ir::heading(p(1.0) * 0.0, q(1.0) * 0.0, 0.5).track().expect("well formed");
    assert_eq!((rest.sample(1.0), gradient(&rest, 1.0, &[]).to_vec()), (0.0, vec![0.0, 0.0]));
    // a slope of √ that is not there: its operand rests at that point
    assert_eq!(slopes((p(0.0) * p(0.0)).sqrt()), [0.0]);
    assert_eq!(slopes(p(0.0) * p(0.0).sqrt()), [0.0]);
    // infinite slopes against each other: no number, and no NaN
    assert_eq!(slopes(p(0.0).sqrt() - p(0.0).sqrt() * 2.0), [INF]);
    // behind a floor, a gate, a key that is never reached
    assert_eq!(slopes(p(2.5).floor() * 3.0), [0.0]);
    assert_eq!(slopes(t().gate(p(-1.0), q(1.0))), [0.0, 0.0]);
    let reach =
        linear([(0.0, constant(0.0)), (1.0, constant(1.0)), (5.0, p(2.0))]).track().expect("well formed");
    assert_eq!(
        jacobian(&reach, &[0.5, 1.0, 3.0, 5.0, 9.0], &[]).column(0).to_vec(),
        [0.0, 0.0, 0.5, 1.0, 1.0]
    );
}

/// Jumps, ends and single keys: cases A2, A5 and A9.
#[test]
fn keyed_tracks_move_as_their_segments() {
    let jump = linear([(0.0, 0.0), (1.0, 10.0), (1.0, 20.0), (2.0, 30.0)]).track().expect("well formed");
    let velocity = |time| time_derivatives(&jump, time, &[]).1;
    assert_eq!([-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0].map(velocity), [0.0, 10.0, 10.0, 10.0, 10.0, 0.0, 0.0]);
    let free_keys = linear([(0.0, p(1.0)), (2.0, q(5.0))]).track().expect("well formed");
    let partials = jacobian(&free_keys, &[-1.0, 0.0, 0.5, 2.0, 7.0], &[]);
    assert_eq!(partials, ndarray::array![[1.0, 0.0], [1.0, 0.0], [0.75, 0.25], [0.0, 1.0], [0.0, 1.0]]);
    let one = linear([(1.0, p(5.0))]).track().expect("well formed");
    assert_eq!(jacobian(&one, &[-1.0, 1.0, 2.0], &[]), ndarray::array![[1.0], [1.0], [1.0]]);
    assert_eq!(time_derivatives(&one, 1.0, &[]), (5.0, 0.0, 0.0));
    // ping-pong and loop: the slopes of the pieces
    let triangle = linear([(0.0, 0.0), (1.0, 1.0)]).at(t().r#mod(2.0).min(2.0 - t().r#mod(2.0))).track();
    let triangle = triangle.expect("well formed");
    assert_eq!([0.25, 1.25, 2.25].map(|time| time_derivatives(&triangle, time, &[]).1), [1.0, -1.0, 1.0]);
}

/// Wrong shapes and numbers are no trap.
#[test]
fn nothing_panics() {
    let track = (p(1.0) * q(2.0) * t()).track().expect("well formed");
    assert_eq!(jacobian(&track, &[], &[]).dim(), (0, 2));
    assert_eq!(gradient(&track, 1.0, &[5.0]).to_vec(), [2.0, 5.0]); // q keeps its current value
    assert_eq!(gradient(&track, 1.0, &[5.0, 6.0, 7.0]).to_vec(), [6.0, 5.0]);
    let mut jacobian = keyfit_autodiff::Jacobian::new(&track);
    let (mut values, mut partials) = ([0.0; 1], ndarray::Array2::zeros((3, 1)));
    jacobian.fill(&[1.0, 2.0], &[3.0, 4.0], &mut values, partials.view_mut());
    assert_eq!((values, partials.column(0).to_vec()), ([12.0], vec![4.0, 8.0, 0.0]));
    let still = constant(2.0).track().expect("well formed");
    assert_eq!((gradient(&still, 0.0, &[1.0]).len(), hessian(&still, 0.0, &[]).dim()), (0, (0, 0)));
    let mut value = [0.0];
    keyfit_autodiff::Jacobian::new(&still).fill(
        &[1.0],
        &[],
        &mut value,
        ndarray::Array2::zeros((1, 0)).view_mut(),
    );
    assert_eq!(value, [2.0]);
}

/// Each operation's partials are central differences of its values. At operands in (0.15, 0.85) no second derivative
/// exceeds 600 and no third one 12 000 (those of a/b, 2a/b³ and 6a/b⁴), nor do smoothstep's where its edges are 0.25
/// apart, nor those of the circle that is upright in the middle where that is 0.05 away. So with h = 1e-5 one-sided differences err by less than h/2 · 600 = 3e-3, and central ones by less than
/// h²/6 · 12 000 + ε·10/h < 3e-7.
#[test]
fn partials_are_differences() {
    for &op in Op::ALL {
        for case in 0..200u32 {
            let x: [f64; 3] = std::array::from_fn(|i| {
                0.15 + 0.7 * f64::from((case * 7919 + i as u32 * 3571 + 17) % 1009) / 1009.0
            });
            let steep = match op {
                Op::SMOOTHSTEP => (x[1] - x[0]).abs() < 0.25,
                Op::CIRC_IN_OUT => (x[0] - 0.5).abs() < 0.05,
                _ => false,
            };
            if steep {
                continue;
            }
            let h = 1e-5;
            let partials = local_partials(op, x);
            for i in 0..op.arity() {
                let at = |d: f64| {
                    let mut x = x;
                    x[i] += d;
                    op.apply([&x[0], &x[1], &x[2]])
                };
                let (right, left) = ((at(h) - at(0.0)) / h, (at(0.0) - at(-h)) / h);
                // a kink or a jump
                if (right - left).abs() > 1e-2 {
                    continue;
                }
                let central = (at(h) - at(-h)) / (2.0 * h);
                assert!(
                    (central - partials[i]).abs() < 3e-7,
                    "∂{i} of {op:?} at {x:?}: {central} {partials:?}"
                );
            }
        }
    }
}

/// Second derivatives of jets, by hand: x²/y at (3, 2) has 2/y, −2x/y², 2x²/y³.
#[test]
fn second_derivatives_by_hand() {
    let track = (p(3.0) * p(3.0) / q(2.0)).track().expect("well formed");
    assert_eq!(hessian(&track, 0.0, &[]), ndarray::array![[1.0, -1.5], [-1.5, 2.25]]);
    let x = Jet::time(2.0);
    let y = x.pow(&x.lift(3.0)).0;
    assert_eq!((y.re, y.v1, y.v2), (8.0, 12.0, 12.0));
}

/// The mixed second derivative of atan2 is (y² − x²)/r⁴; near the diagonal its difference must be taken before rounding.
#[test]
fn the_mixed_derivative_of_atan2_keeps_its_digits() {
    let track = keyfit_ir::Track::parse("atan2(?y=2.990006867286191, ?x=2.9900068672861906)").unwrap();
    let mixed = hessian(&track, 0.0, &[])[(0, 1)];
    let expected = 8.306607083749698e-18; // in exact rational arithmetic
    assert!((mixed / expected - 1.0).abs() < 8.0 * f64::EPSILON, "{mixed:e}");
}
