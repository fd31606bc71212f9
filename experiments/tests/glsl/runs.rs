//! Generated GLSL computes what the sampler does.
//!
//! The functions are compiled as C++ behind [`SHIM`], which gives GLSL's functions by C's of double precision, rounded to
//! `float`, and are compared with the sampler in double precision on the same arguments. The errors that are left are
//! those of `float` arithmetic in the order in which the GLSL is written, and [`bound`] says how large they can be, in units
//! of [`U`]. On a GPU the errors of its own built-in functions come on top.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

use keyfit::ir::arbitrary::RandomTrack;
use keyfit::ir::glsl::functions;
use keyfit::ir::keyed::{Key, Keyed, Place};
use keyfit::ir::{Builder, Keyframe, Node, Op, Parameter, Scalar, Shape, Tcb, Track};
use quickcheck::{Arbitrary, Gen};

/// Half a unit in the last place of 1, the largest relative error of one operation on `float`.
const U: f64 = 1.0 / 16_777_216.0;
/// For results that are subnormal.
const TINY: f64 = 1e-44;

/// Beyond it a track's values do not count: 2^60.
const LARGE: f64 = (1_u64 << 60) as f64;

/// C++ that reads GLSL.
const SHIM: &str = r#"
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>
namespace glsl {
typedef unsigned int uint;
#define ONE(f) static inline float f(float x) { return (float)std::f((double)x); }
ONE(sin) ONE(cos) ONE(tan) ONE(asin) ONE(acos) ONE(atan) ONE(sinh) ONE(cosh) ONE(tanh)
ONE(exp) ONE(exp2) ONE(log) ONE(sqrt) ONE(floor) ONE(ceil)
static inline float abs(float x) { return std::fabs(x); }
static inline float atan(float y, float x) { return (float)std::atan2((double)y, (double)x); }
static inline float pow(float x, float y) { return (float)std::pow((double)x, (double)y); }
static inline float roundEven(float x) { return std::nearbyint(x); }
static inline float sign(float x) { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : 0.0f; }
static inline bool isnan(float x) { return x != x; }
static inline bool isinf(float x) { return std::fabs(x) > 3.4028235e38f; }
static inline float uintBitsToFloat(uint x) { float y; std::memcpy(&y, &x, 4); return y; }
static inline uint floatBitsToUint(float x) { uint y; std::memcpy(&y, &x, 4); return y; }
static inline int floatBitsToInt(float x) { int y; std::memcpy(&y, &x, 4); return y; }
"#;

/// A literal of GLSL is a `float`, one of C++ a `double`.
fn with_suffixes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let begins = !rest[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let mut end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
        if rest[..end].ends_with('e') {
            end += 1 + rest[end + 1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        }
        let word = &rest[..end];
        out.push_str(word);
        if begins && word.contains(['.', 'e']) && !word.starts_with("0x") {
            out.push('f');
        }
        rest = &rest[end..];
    }
    out + rest
}

/// The values of each track on each of its rows; a row is the time and then the parameters.
fn run(name: &str, work: &[(Track, Vec<Vec<f32>>)]) -> Vec<Vec<f32>> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let [source, program, input] = ["cpp", "out", "in"].map(|end| folder.join(format!("glsl-{name}.{end}")));
    let names: Vec<String> = (0..work.len()).map(|i| format!("f{i}")).collect();
    let named: Vec<(&str, &Track)> =
        names.iter().map(String::as_str).zip(work.iter().map(|w| &w.0)).collect();
    let mut text = SHIM.to_string() + &with_suffixes(&functions(&named).unwrap()) + "}\n";
    text += "int main(int, char **argv) {\n    FILE *in = std::fopen(argv[1], \"rb\");\n    std::vector<float> row(64);\n";
    let mut bytes = Vec::new();
    for (i, (track, rows)) in work.iter().enumerate() {
        let n = track.free_parameters().len();
        let call = if n > 0 { "row[0], &row[1]" } else { "row[0]" };
        let _ = writeln!(
            text,
            "    for (int i = 0; i < {}; i++) {{ if (std::fread(&row[0], 4, {}, in) != {}) return 1; float y = \
             glsl::f{i}({call}); std::fwrite(&y, 4, 1, stdout); }}",
            rows.len(),
            n + 1,
            n + 1
        );
        for row in rows {
            assert_eq!(row.len(), n + 1);
            row.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        }
    }
    text += "    return 0;\n}\n";
    std::fs::write(&source, text).unwrap();
    std::fs::write(&input, bytes).unwrap();
    let compile = |compiler: &str| {
        // every operation rounds to float by itself
        let options = ["-O1", "-std=c++17", "-ffp-contract=off", "-w", "-o"];
        Command::new(compiler).args(options).arg(&program).arg(&source).status()
    };
    let status =
        compile("c++").or_else(|_| compile("g++")).expect("this test needs a C++ compiler: make setup");
    assert!(status.success());
    let output = Command::new(&program).arg(&input).output().unwrap();
    assert!(output.status.success());
    let mut values = output.stdout.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()));
    work.iter().map(|(_, rows)| rows.iter().map(|_| values.next().unwrap()).collect()).collect()
}

/// The error of an operation's GLSL on operands that are exact, in units of [`U`]: `y` is the exact result.
///
/// Each rounding of a sum, product or quotient is 1·|result|, as is a built-in function (1.01, for C's own error); so is a
/// constant that is no float. Errors of factors add up, an error of a summand counts by its size, a function multiplies its
/// argument's error by its slope. FRACT and MOD are meant on the circle (a tiny negative x may come out as 0 or as y).
fn bound(op: Op, [a, b, c]: [f64; 3], y: f64) -> f64 {
    let size = y.abs();
    let (u, of) = (a, |op: Op, u: f64| {
        let y = op.apply([&u, &u, &u]);
        bound(op, [u; 3], y)
    });
    // 1 − f(1 − u): 1 − u is off by 1·(1 − u), the slope of f carries that over
    let mirror = |f: Op, slope: f64| slope * (1.0 - u).abs() + of(f, 1.0 - u) + size;
    // below ½ the double of u is exact, from there on 1 − u is (Sterbenz)
    let halves = |f: Op| {
        if u < 0.5 { of(f, 2.0 * u) / 2.0 } else { of(f, 2.0 * (1.0 - u)) / 2.0 + size }
    };
    let wide = |of: &dyn Fn(f64) -> f64| {
        if u < 0.5 { of(2.0 * u) / 2.0 } else { of(2.0 * (1.0 - u)) / 2.0 + size }
    };
    if op.is_easing() && !(0.0 < u && u < 1.0) {
        return 0.0;
    }
    match op {
        // one rounding
        Op::ADD | Op::SUB | Op::MUL | Op::DIV => size,
        // none
        Op::NEG | Op::ABS | Op::MIN | Op::MAX | Op::FLOOR | Op::CEIL | Op::ROUND | Op::SIGN => 0.0,
        Op::STEP | Op::GATE | Op::CLAMP | Op::LINEAR | Op::SELECT => 0.0,
        // the remainder, and the difference of it and a number of twice the period
        Op::PING_PONG => 2.0 * a.abs() + 6.0 * b.abs(),
        // the quotient is off by 3 of |x − near|, the product with the turns and the difference by 1 each; see `distance`
        Op::UNWRAP => 4.0 * (a.abs() + b.abs()) + 2.0 * c.abs() + size,
        // x − ⌊x⌋; 1 − u for what is nearer to 1
        Op::FRACT => size,
        // the product is off by 1·|x| and, past 2^24, the quotient by as much; the sums by 1·|y| each
        Op::MOD => 2.0 * a.abs() + 2.0 * b.abs(),
        // one built-in function
        Op::SQRT | Op::EXP | Op::EXP2 | Op::LN | Op::SIN | Op::COS | Op::TAN => 1.01 * size,
        Op::ASIN | Op::ACOS | Op::ATAN | Op::ATAN2 | Op::SINH | Op::COSH | Op::TANH | Op::POW => 1.01 * size,
        // q² has 3, at most half of it in 1 + q² (1.5 + 1), the root halves it (1.25 + 1), times a
        Op::HYPOT => 3.3 * size,
        // b − a and the product on |(b − a)·u|, the sum
        Op::MIX => 2.0 * ((b - a) * c).abs() + size,
        // u has 3; u·u 7; 3 − 2u at most 7; and their product
        Op::SMOOTHSTEP => 15.0 * size,
        // the constant 0.5, the product 1, the sine 1 (its slope does not raise relative errors); the square doubles
        Op::SINE_IN | Op::SINE_IN_OUT => 6.1 * size,
        Op::SINE_OUT => 2.6 * size,
        // one a product
        Op::QUAD_IN => size,
        Op::CUBIC_IN => 2.0 * size,
        Op::QUART_IN => 3.0 * size,
        Op::QUINT_IN => 4.0 * size,
        // |f′| ≤ n
        Op::QUAD_OUT => mirror(Op::QUAD_IN, 2.0),
        Op::CUBIC_OUT => mirror(Op::CUBIC_IN, 3.0),
        Op::QUART_OUT => mirror(Op::QUART_IN, 4.0),
        Op::QUINT_OUT => mirror(Op::QUINT_IN, 5.0),
        Op::QUAD_IN_OUT => halves(Op::QUAD_IN),
        Op::CUBIC_IN_OUT => halves(Op::CUBIC_IN),
        Op::QUART_IN_OUT => halves(Op::QUART_IN),
        Op::QUINT_IN_OUT => halves(Op::QUINT_IN),
        // the exponent is off by 10u + |10u − 10| = 10, that times ln 2; the built-in
        Op::EXPO_IN => 8.0 * size,
        Op::EXPO_OUT => 8.0 * exp2(-10.0 * u) + size,
        Op::EXPO_IN_OUT => halves(Op::EXPO_IN),
        // three under the root, halved, 1, at most half of it in 1 + root, 1; the square 1; the quotient 1
        Op::CIRC_IN => 4.3 * size,
        Op::CIRC_OUT => 2.1 * size,
        Op::CIRC_IN_OUT => halves(Op::CIRC_IN),
        // the bracket: 2 on its product, 1 on s, 1 on itself; two products more
        Op::BACK_IN => (2.0 * 2.70158 * u + 1.70158) * u * u + 3.0 * size,
        Op::BACK_OUT => mirror(Op::BACK_IN, 3.0 * 2.70158 + 2.0 * 1.70158),
        Op::BACK_IN_OUT => wide(&|u| {
            let f = u * u * (3.5949095 * u - 2.5949095);
            (2.0 * 3.5949095 * u + 2.5949095) * u * u + 3.0 * f.abs()
        }),
        // the angle: (10u + |10u − 10.75|)·2π/3, and 1.5 on at most 22.5; the power 8, the sine 1, the product 1
        Op::ELASTIC_IN => 57.0 * exp2(10.0 * u - 10.0) + 10.1 * size,
        Op::ELASTIC_OUT => 82.0 * exp2(-10.0 * u) + size,
        Op::ELASTIC_IN_OUT => wide(&|u| 50.1 * exp2(10.0 * u - 10.0)),
        // |u − c| ≤ 0.182 is off by c + |u − c|; at the joins, which are no floats, the slopes differ by 5.5 at most
        Op::BOUNCE_OUT => 10.0 + size,
        Op::BOUNCE_IN => mirror(Op::BOUNCE_OUT, 5.5),
        Op::BOUNCE_IN_OUT => halves(Op::BOUNCE_IN),
        Op::SMOOTH => 3.0 * size,
    }
}

fn exp2(x: f64) -> f64 {
    Scalar::exp2(&x)
}

/// How far `got` is from `y`, for a remainder or a turn on the circle of circumference `period`.
fn distance(got: f32, y: f64, period: Option<f64>) -> f64 {
    let d = (f64::from(got) - y).abs();
    period.map_or(d, |period| d.min((period.abs() - d).abs()))
}

fn same_kind(got: f32, y: f64) -> bool {
    let zero = got != 0.0 || y != 0.0 || got.is_sign_negative() == y.is_sign_negative();
    got.is_nan() == y.is_nan() && zero && (!(y as f32).is_infinite() || got == y as f32)
}

/// A `float` for the operations: special or ordinary. Finite ones are 0 or from 2^−60 to 2^60, as products and
/// differences of others leave a float's range where a double's goes on.
fn random_float(g: &mut Gen) -> f32 {
    let special = [0.0, 0.25, 0.5, 1.0, 2.0, 3.0, 1e-6, 1e6, 1.5, f32::INFINITY, f32::NAN];
    let unit = |g: &mut Gen| (u32::arbitrary(g) >> 8) as f32 / 16_777_216.0;
    let x = match u32::arbitrary(g) % 8 {
        0 => *g.choose(&special).unwrap(),
        1 => (u32::arbitrary(g) % 12) as f32,
        2 => (unit(g) * 120.0 - 60.0).exp2(),
        3 => unit(g) * 20.0,
        4 => unit(g) * 3.0,
        _ => return unit(g), // where easings are
    };
    if bool::arbitrary(g) { x } else { -x }
}

#[test]
fn every_operation_is_within_its_bound() {
    let mut g = Gen::from_size_and_seed(40, 1);
    let names = ["a", "b", "c"];
    let work: Vec<(Track, Vec<Vec<f32>>)> = Op::ALL
        .iter()
        .map(|op| {
            let mut b = Builder::new();
            let ids: Vec<_> = names[..op.arity()]
                .iter()
                .map(|name| b.free(Parameter::new(name, 1.0).unwrap()).unwrap())
                .collect();
            let root = b.apply(*op, &ids).unwrap();
            let rows = (0..20_000)
                .map(|_| {
                    let mut row: Vec<f32> = (0..=op.arity()).map(|_| random_float(&mut g)).collect();
                    if op.arity() > 1 && u32::arbitrary(&mut g) % 8 == 0 {
                        row[2] = row[1]; // equal operands
                    }
                    row
                })
                .collect();
            (b.finish(root).unwrap(), rows)
        })
        .collect();
    let mut worst: HashMap<Op, f64> = HashMap::new();
    for ((op, (_, rows)), values) in Op::ALL.iter().zip(&work).zip(run("operations", &work)) {
        for (row, got) in rows.iter().zip(values) {
            let mut x = [f64::from(row[1]); 3];
            row[1..].iter().zip(&mut x).for_each(|(from, to)| *to = f64::from(*from));
            let y = op.apply([&x[0], &x[1], &x[2]]);
            assert!(same_kind(got, y), "{op:?} of {x:?} is {y:?}, not {got:?}");
            if !y.is_finite() || (y as f32).is_infinite() {
                continue;
            }
            let limit = bound(*op, x, y) * U + TINY;
            let period = [(Op::MOD, x[1]), (Op::FRACT, 1.0), (Op::UNWRAP, x[2])]
                .iter()
                .find(|p| p.0 == *op)
                .map(|p| p.1);
            let error = distance(got, y, period);
            assert!(
                error <= limit,
                "{op:?} of {x:?} is {y:?}, not {got:?}: off by {error:e}, bound {limit:e}"
            );
            if error > TINY {
                let used = worst.entry(*op).or_default();
                *used = used.max(error / limit);
            }
        }
    }
    // the bounds say something: most are used to a tenth or more
    let tight = worst.values().filter(|used| **used > 0.1).count();
    assert!(tight * 10 > worst.len() * 9, "{worst:?}");
}

#[test]
fn what_overflows_on_the_way() {
    let track = |text: &str| (Track::parse(text).unwrap(), vec![vec![3e30_f32], vec![-3e-30], vec![100.0]]);
    let work = [track("hypot(t, t)"), track("tanh(t)"), track("mod(t, 7)"), track("clamp(t, 1, -1)")];
    let values = run("extremes", &work);
    for ((track, rows), values) in work.iter().zip(values).filter(|((track, _), _)| track.nodes().len() > 1) {
        for (row, got) in rows.iter().zip(values) {
            let y = track.sample(f64::from(row[0]));
            let modulo = matches!(track.nodes().last(), Some(Node::Apply(Op::MOD, _)));
            let limit = if modulo { 7.0 } else { 4.0 * U * y.abs() + TINY };
            assert!((f64::from(got) - y).abs() <= limit, "{track:?} at {row:?}: {got:?}, not {y:?}");
        }
    }
}

/// Values of a track's nodes with bounds of the errors that their `float` versions have.
///
/// An operation's error is its [`bound`] and what the operands' errors make of it: twice the largest change of the result
/// over the corners of the box that they may lie in. `None` where that says nothing: a value or a corner is not finite or
/// larger than 2^60, an error is larger than 2^−8, a remainder or a turn is as near to its jump as its error, or two keys are
/// as near to each other as the clock's error.
fn running_error(track: &Track, t: f64, parameters: &[f64]) -> Option<(f64, f64)> {
    let mut values: Vec<f64> = Vec::new();
    let mut errors: Vec<f64> = Vec::new();
    let mut parameters = parameters.iter();
    for node in track.nodes() {
        let (value, error) = match node {
            Node::Constant(x) => (x.value(), (f64::from(x.value() as f32) - x.value()).abs()),
            Node::Clock => (t, 0.0),
            Node::Free(_) => (*parameters.next()?, 0.0),
            Node::Apply(op, ids) => {
                let x = ids.map(|id| values[id.index()]);
                let e = ids.map(|id| errors[id.index()]);
                let y = op.apply([&x[0], &x[1], &x[2]]);
                let mut spread = 0.0_f64;
                for corner in 0..3_usize.pow(op.arity() as u32) {
                    let at = |k: usize| x[k] + e[k] * ((corner / 3_usize.pow(k as u32) % 3) as f64 - 1.0);
                    let z = op.apply([&at(0), &at(1), &at(2)]);
                    spread = spread.max(if z.is_finite() { (z - y).abs() } else { f64::INFINITY });
                }
                let own = bound(*op, x, y) * U + TINY;
                if let Some(period) = match op {
                    Op::MOD => Some(x[1].abs()),
                    Op::FRACT => Some(1.0),
                    _ => None,
                } {
                    let near = own + 2.0 * spread;
                    if y.abs() <= near || period - y.abs() <= near {
                        return None;
                    }
                }
                // half a turn from where it should be near
                if *op == Op::UNWRAP
                    && ((y - x[1]).abs() - x[2].abs() / 2.0).abs() <= own + 2.0 * spread + e[1]
                {
                    return None;
                }
                (y, own + 2.0 * spread)
            }
            Node::Keyed(keyed) => keyed_error(keyed, &values, &errors)?,
        };
        if !value.is_finite() || value.abs() > LARGE || !matches!(error, 0.0..=0.00390625) {
            return None;
        }
        values.push(value);
        errors.push(error);
    }
    values.pop().zip(errors.pop())
}

/// A keyed track's error: its segment's own ([`segment_bound`]), and what the errors of its children make of it.
///
/// A segment's fraction (t − t0)/span has 3 roundings, a Bézier's inversion 10 more, and the times of keys may be no
/// floats: all that is an error of the clock.
fn keyed_error(keyed: &Keyed, values: &[f64], errors: &[f64]) -> Option<(f64, f64)> {
    let keys = keyed.keys();
    let time = values[keyed.clock().index()];
    let place = keyed.place(&time, &mut 0);
    let rounded = |key: &Key| (f64::from(key.time() as f32) - key.time()).abs();
    let spans = match place {
        Place::After(k) => &keys[k..=k + 1],
        _ => keys,
    };
    let span = spans.windows(2).map(|pair| pair[1].time() - pair[0].time()).fold(0.0, f64::max);
    let roundings =
        if keyed.shapes().iter().any(|s| s.to_string().starts_with("cubic-")) { 13.0 } else { 3.0 };
    let off = errors[keyed.clock().index()]
        + 2.0 * keys.iter().map(rounded).fold(0.0, f64::max)
        + roundings * span * U;
    let close = |pair: &[Key]| {
        let [start, end] = [pair[0].time(), pair[1].time()];
        start != end && end > time - off && start < time + off && end - start <= 2.0 * off
    };
    if keys.windows(2).any(close) {
        return None;
    }
    let at = |time: f64, changed: Option<(usize, f64)>| {
        let mut values = values.to_vec();
        if let Some((i, by)) = changed {
            values[i] += by;
        }
        keyed.value(&time, &mut 0, |id| &values[id.index()])
    };
    let y = at(time, None);
    let change = |z: f64| if z.is_finite() { (z - y).abs() } else { f64::INFINITY };
    let mut spread = change(at(time - off, None)).max(change(at(time + off, None)));
    let children: Vec<usize> = keyed.children().map(|id| id.index()).collect();
    for &i in &children[..children.len() - 1] {
        let e = errors[i];
        spread += change(at(time, Some((i, e)))).max(change(at(time, Some((i, -e)))));
    }
    // an error of the clock may lead into the next segment
    let near = [time - off, time, time + off].map(|time| match keyed.place(&time, &mut 0) {
        Place::After(k) | Place::At(k) => segment_bound(keyed, k, time, values) + y.abs(),
        _ => 0.0,
    });
    Some((y, near.into_iter().fold(0.0, f64::max) * U + 2.0 * spread + TINY))
}

/// The error of a segment's GLSL on exact children and an exact fraction u, less the last sum's 1·|y|, in units of [`U`].
fn segment_bound(keyed: &Keyed, k: usize, time: f64, values: &[f64]) -> f64 {
    let keys = keyed.keys();
    let value = |k: usize| values[keys[k].value.index()];
    let step = |k: usize| keys.get(k + 1).map_or(0.0, |_| (value(k + 1) - value(k)).abs());
    let span = keys[k + 1].time() - keys[k].time();
    let (d, u) = (step(k), (time - keys[k].time()) / span);
    let beside = step(k + 1).max(k.checked_sub(1).map_or(0.0, step));
    // m: the largest slope that can be, at either end
    let m = match &keyed.shapes()[k] {
        Shape::Hold => return 0.0,
        // the difference, the product
        Shape::Linear => return 2.0 * d * u,
        Shape::Eased(easing) => {
            let e = easing.apply(&u);
            let own = match easing.op() {
                Some(op) => bound(op, [u; 3], e),
                None if easing.to_string().starts_with("steps") => 1.0,
                // 8 roundings on numbers up to 1 + 3·(|y1| + |y2|), and the tests' are at most 1.5
                None => 80.0,
            };
            return (own + 2.0 * e.abs()) * d;
        }
        Shape::CatmullRom => (d + beside) / 2.0,
        // at most twice the own slope, however it came about; 10 roundings
        Shape::Monotone => 4.0 * d,
        Shape::Tcb => {
            let factor = |k: usize| keyed.tcb(k).values().iter().map(|x| 1.0 + x.abs()).product::<f64>();
            factor(k).max(factor(k + 1)) * (d + beside)
        }
        Shape::Cubic { leave, arrive } => {
            values[leave.index()].abs().max(values[arrive.index()].abs()) * span
        }
    };
    // m has 4 at most, d 1, m − d 1, w 1, their product 1, the difference 1; w once more and its product 2; d + … 1; u 1
    u * ((1.0 - u) * (12.0 * m + 9.0 * d) + 4.0 * d)
}

#[test]
fn random_tracks_stay_within_their_running_error() {
    let mut g = Gen::from_size_and_seed(12, 3);
    let mut work = Vec::new();
    while work.len() < 500 {
        let RandomTrack(track) = RandomTrack::tame(&mut g);
        if track.to_glsl("x").is_err() {
            continue;
        }
        // parameters that are floats
        let starts: Vec<f32> = track.starts().iter().map(|x| *x as f32).collect();
        let rows = (0..40)
            .map(|_| {
                let t = (u32::arbitrary(&mut g) % 4096) as f32 / 256.0 - 4.0;
                [t].into_iter()
                    .chain(starts.iter().map(|x| x + (u32::arbitrary(&mut g) % 9) as f32 / 8.0))
                    .collect()
            })
            .collect();
        work.push((track, rows));
    }
    let (mut counted, mut shapes) = (0, HashMap::<String, usize>::new());
    for ((track, rows), values) in work.iter().zip(run("tracks", &work)) {
        for (row, got) in rows.iter().zip(values) {
            let row: Vec<f64> = row.iter().map(|x: &f32| f64::from(*x)).collect();
            let Some((y, limit)) = running_error(track, row[0], &row[1..]) else { continue };
            counted += 1;
            for node in track.nodes() {
                if let Node::Keyed(keyed) = node {
                    keyed
                        .shapes()
                        .iter()
                        .for_each(|shape| *shapes.entry(shape.name().to_string()).or_default() += 1);
                }
            }
            let error = (f64::from(got) - y).abs();
            assert!(
                error <= limit,
                "{track:?} at {row:?} is {y:?}, not {got:?}: off by {error:e}, bound {limit:e}"
            );
        }
    }
    assert!(counted > work.len() * 20, "only {counted} of {} values count", work.len() * 40);
    assert!(
        ["linear", "hold", "tcb", "catmull-rom", "cubic"].iter().all(|name| shapes.contains_key(*name)),
        "{shapes:?}"
    );
}

#[test]
fn every_key_shape_is_within_its_bound_and_exact_at_its_keys() {
    let mut g = Gen::from_size_and_seed(12, 4);
    let css = ["cubic-bezier(0.25,0.1,0.25,1)", "cubic-bezier(0,1.5,1,-0.5)", "cubic-bezier(1,0,0,1)"];
    let steps = ["steps(4,jump-end)", "steps(3,jump-start)", "steps(5,jump-none)", "steps(2,jump-both)"];
    let named = css.into_iter().chain(steps).map(|word| Shape::from_word(word).unwrap());
    let work: Vec<(Track, Vec<Vec<f32>>)> = Shape::all()
        .chain(named)
        .map(|shape| {
            let mut b = Builder::new();
            let clock = b.clock().unwrap();
            let mut keys = Vec::new();
            // a jump, segments of all lengths, a parameter
            for (i, (time, value)) in KEYS.into_iter().enumerate() {
                let value = b.constant(value).unwrap();
                let tangent = |_: &()| b.free(Parameter::new("slope", 2.0).unwrap());
                let shape = shape.try_map(tangent).unwrap();
                let tcb = match shape {
                    Shape::Tcb => Tcb::new(0.25 * i as f64, 0.5 - 0.25 * i as f64, 0.125),
                    _ => Tcb::default(),
                };
                keys.push(Keyframe::new(time, value).shape(shape).tcb(tcb));
            }
            let root = b.keyed(keys, clock).unwrap();
            let track = b.finish(root).unwrap();
            let mut times: Vec<f32> = KEYS.iter().map(|(time, _)| *time as f32).collect();
            times.extend((0..2000).map(|_| (u32::arbitrary(&mut g) >> 8) as f32 / 1_677_721.6 - 2.0));
            times.extend([f32::NAN, f32::INFINITY, f32::NEG_INFINITY]);
            let slope = (!track.free_parameters().is_empty()).then_some(-1.5);
            (track, times.into_iter().map(|t| [t].into_iter().chain(slope).collect()).collect())
        })
        .collect();
    for ((track, rows), values) in work.iter().zip(run("shapes", &work)) {
        let (mut counted, mut worst) = (0, 0.0_f64);
        for (k, (row, got)) in rows.iter().zip(values).enumerate() {
            let (t, parameters) = (f64::from(row[0]), row.get(1).map(|x| f64::from(*x)));
            let parameters: Vec<f64> = parameters.into_iter().collect();
            let y = track.substitute_parameters(|_| parameters.first().copied()).sample(t);
            if k < KEYS.len() || !t.is_finite() {
                assert!(
                    same_kind(got, y) && (y.is_nan() || f64::from(got) == y),
                    "{track:?} at {t:?}: {got:?}"
                );
                continue;
            }
            let Some((y, limit)) = running_error(track, t, &parameters) else { continue };
            counted += 1;
            let error = (f64::from(got) - y).abs();
            worst = worst.max(error / limit);
            assert!(
                error <= limit,
                "{track:?} at {t:?} is {y:?}, not {got:?}: off by {error:e}, bound {limit:e}"
            );
        }
        // the bound says something; a float that is held, or one of few steps, is exact
        let exact = track.describe().starts_with("hold") || track.describe().starts_with("steps");
        assert!(worst > 0.1 || exact, "{track:?}: {worst}");
        assert!(counted > 1900, "{track:?}: {counted}");
    }
}

const KEYS: [(f64, f64); 7] =
    [(-1.0, 0.5), (-0.25, 3.0), (1.0, -2.0), (1.0, 1.0), (2.0, 0.75), (4.5, 8.0), (6.0, 8.5)];
