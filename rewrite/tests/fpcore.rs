//! FPCore: what is read, what is refused, and that what is written reads back to the same values.

use keyfit_ir::arbitrary::{RandomNumber, RandomTrack};
use keyfit_ir::{Op, Sampler, Track, same_bits};
use keyfit_rewrite::fpcore::{CONSTANTS, Core, FpcoreRefusal, Meaning, WORDS, read};
use quickcheck::{Arbitrary, Gen, TestResult, quickcheck};

fn one(text: &str) -> Core {
    let mut cores = read(text).unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
    assert_eq!(cores.len(), 1, "{text}");
    cores.remove(0)
}

/// The value where every parameter has the value of its name.
fn value(track: &Track, t: f64, of: impl Fn(&str) -> f64) -> f64 {
    let parameters: Vec<f64> = track.free_parameters().iter().map(|p| of(p.name())).collect();
    let mut out = [0.0];
    Sampler::new(track).sample_into(&[t], &parameters, &mut out);
    out[0]
}

#[test]
fn cores_become_tracks() {
    let text = [
        "(FPCore (x) :name \"NMSE example 3.1\" :pre (>= x 0) (- (sqrt (+ x 1)) (sqrt x)))",
        "(FPCore f (a b c) :precision binary64 :pre (and (<= 2 a 3) (< b -1) (!= c 0)) (/ (+ (- b) (sqrt (- (* b b) (* 4 (* a c))))) (* 2 a)))",
        "(FPCore (x y) (let ((x y) (y x)) (- x y)))",
        "(FPCore (x y) (let* ([x y] [y x]) (- x y)))",
        "(FPCore (x) (if (and (< 0 x 1) (not (== x 1/2))) x (! :round nearestEven (* PI x))))",
        "(FPCore (time) :keyfit-clock time :keyfit-starts () (sin (* 0x1.8p1 time)))",
        "(FPCore ((! :precision binary64 x)) :cite (a b) :spec (anything (at all)) (trunc x)) ; a comment (",
        "(FPCore () (if (or) 1 E))",
    ]
    .map(|text| {
        let Core { track, ranges, pre, .. } = one(text);
        format!("{text}\n{}\n{ranges:?}\n{:?}\n", track.describe(), pre.map(|pre| pre.track.describe()))
    });
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn what_is_wrong_is_said_where_it_stands() {
    let text = [
        "",
        "(FPCore (x) (+ x 1)",
        "(FPCore (x) (+ x 1]))",
        "(FPCore (x) (+ x 1)) )",
        "(FPCore (x) (+ x \"1))",
        "x",
        "(FPCore)",
        "(FPCore x)",
        "(FPCore (x x) x)",
        "(FPCore (PI) PI)",
        "(FPCore (2) 2)",
        "(FPCore (x*) x*)",
        "(FPCore ((A 3)) 1)",
        "(FPCore (x))",
        "(FPCore (x) x x)",
        "(FPCore (x) :pre)",
        "(FPCore (x) (+ x))",
        "(FPCore (x) (sin x x))",
        "(FPCore (x) (sine x))",
        "(FPCore (rate) (* 2 rat))",
        "(FPCore (x) (x 1))",
        "(FPCore (x) ((+ 1) x))",
        "(FPCore (x) ())",
        "(FPCore (x) (if x 1 2))",
        "(FPCore (x) (if (< x 1) (< x 2) 2))",
        "(FPCore (x) (if (< x 1) 2))",
        "(FPCore (x) (+ (< x 1) 1))",
        "(FPCore (x) (< x 1))",
        "(FPCore (x) (not))",
        "(FPCore (x) (let (x) x))",
        "(FPCore (x) (+ 1e999 x))",
        "(FPCore (x) (+ 1/0 x))",
        "(FPCore (x) (+ 0x x))",
        "(FPCore (x) (+ 1.5.2 x))",
        "(FPCore (x) :pre (< 2 x 1) x)",
        "(FPCore (x) :pre (< x NAN) x)",
        "(FPCore (x) :pre (+ x 1) x)",
        "(FPCore (x) :precision binary32 x)",
        "(FPCore (x) (! :round toZero (+ x 1)))",
        "(FPCore (x) (while (< x 1) ([x x (+ x 1)]) x))",
        "(FPCore (x) (tensor ([i 3]) x))",
        "(FPCore (x) (cast x))",
        "(FPCore (x) (fma x x x))",
        "(FPCore (x) (round x))",
        "(FPCore (x) (expm1 x))",
        "(FPCore (x) :keyfit-starts x x)",
        "(FPCore (x) (erf x)) (FPCore (x) (log1p x))",
    ]
    .map(|text| {
        let errors = read(text).expect_err(text);
        let tell = |error: &keyfit_ir::SyntaxError| {
            let at = text.get(error.span.range()).unwrap_or("?");
            format!(
                "    {error} (at {:?}: {at}){}",
                error.span.range(),
                if error.is_refusal() { ", refused" } else { "" }
            )
        };
        format!("{text}\n{}", errors.iter().map(tell).collect::<Vec<_>>().join("\n"))
    });
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn numbers_are_those_nearest() {
    for (text, x) in [
        ("1/3", 1.0 / 3.0),
        ("-100001/100000", -1.00001),
        ("+.5", 0.5),
        ("-1e-3", -0.001),
        ("0x10", 16.0),
        ("-0x1.8p-1", -0.75),
        ("0x1.fffffffffffffp1023", f64::MAX),
        ("0x.0000000000001p-1022", f64::from_bits(1)),
        ("0x1p-1074", f64::from_bits(1)),
        ("0x0p9", 0.0),
        ("0x100000000000000000000", 2_f64.powi(80)),
        ("9007199254740993", 9007199254740992.0),
    ] {
        let track = one(&format!("(FPCore () {text})")).track;
        assert!(same_bits(track.sample(0.0), x), "{text}: {}", track.describe());
    }
    for text in [
        "0x1.00000000000001p0",
        "0x1p1024",
        "0x1p-1075",
        "1/9007199254740993",
        "0x1p99999999999999999999",
        "1/2/3",
    ] {
        assert!(read(&format!("(FPCore () {text})")).is_err(), "{text}");
    }
}

/// What C's functions give, by their definitions.
#[test]
fn formulas_of_the_table_have_the_bits_of_c() {
    let c = |word: &str, x: f64, y: f64| match word {
        "trunc" => x.trunc(),
        "fdim" if x > y => x - y,
        "fdim" if x <= y => 0.0,
        "fdim" => f64::NAN,
        "fmod" => x % y,
        other => panic!("no definition of {other}"),
    };
    let mut g = Gen::from_size_and_seed(20, 7);
    for row in WORDS.iter().filter(|row| matches!(row.meaning, Meaning::Formula(_))) {
        let track = one(&format!("(FPCore (x y) ({} {}))", row.word, row.operands.join(" "))).track;
        for _ in 0..20_000 {
            let [x, y] = std::array::from_fn(|_| RandomNumber::arbitrary(&mut g).0);
            let ours = value(&track, 0.0, |name| if name == "x" { x } else { y });
            assert!(same_bits(ours, c(row.word, x, y)), "{}({x:?}, {y:?}) is not {ours:?}", row.word);
        }
    }
}

#[test]
fn every_operation_is_written_or_refused_by_name() {
    let mut refused = Vec::new();
    for &op in Op::ALL {
        let operands: Vec<String> = op.operands().iter().map(|name| format!("?{name}=0.5")).collect();
        let track = Track::parse(&format!("{}({})", op.word(), operands.join(", "))).unwrap();
        match Core::new(None, &track).write() {
            Ok(text) => drop(one(&text)),
            Err(FpcoreRefusal::Operation(refused_op)) => {
                assert_eq!(refused_op, op);
                refused.push(op.name());
            }
            Err(other) => panic!("{}: {other}", op.name()),
        }
    }
    insta::assert_snapshot!(refused.join(" "), @"MOD FRACT PING_PONG");
}

#[test]
fn nothing_overflows_the_stack() {
    const DEEP: usize = 100_000;
    let text = format!("(FPCore (x) {}x{})", "(sin ".repeat(DEEP), ")".repeat(DEEP));
    let core = one(&text);
    assert_eq!(core.track.nodes().len(), DEEP + 1);
    assert_eq!(one(&core.write().unwrap()).track, core.track);
    assert!(read(&"(".repeat(DEEP)).is_err());
    assert!(read(&"(FPCore (x) ".repeat(DEEP)).is_err());
    assert!(read(&format!("{}{}", "(".repeat(DEEP), ")".repeat(DEEP))).is_err());
    let ifs = format!("(FPCore (x) {}x{})", "(if (< x 1) x ".repeat(DEEP), ")".repeat(DEEP));
    assert_eq!(one(&ifs).track.free_parameters().len(), 1);
    let lets = format!("(FPCore (x) {}x{})", "(let ([x (+ x x)]) ".repeat(DEEP), ")".repeat(DEEP));
    let doubled = one(&lets);
    assert_eq!(one(&doubled.write().unwrap()).track, doubled.track);
}

/// Whether a track that can be written reads back to the same starts, and to the same values at random points.
fn reads_back(track: &Track, g: &mut Gen) -> Result<(), String> {
    let core = Core::new(Some("it"), track);
    let text = core.write().map_err(|e| e.to_string())?;
    let back = one(&text);
    for p in track.free_parameters() {
        let same = |q: &&keyfit_ir::Parameter| q.name() == p.name() && same_bits(q.start(), p.start());
        if !back.track.free_parameters().iter().any(same) {
            return Err(format!("the start of {} is lost: {text}", p.name()));
        }
    }
    for _ in 0..30 {
        let salt: Vec<f64> = (0..8).map(|_| RandomNumber::arbitrary(g).0).collect();
        let of = |name: &str| salt[name.bytes().map(usize::from).sum::<usize>() % salt.len()];
        let t = RandomNumber::arbitrary(g).0;
        let [before, after] = [track, &back.track].map(|track| value(track, t, of));
        if !same_bits(before, after) {
            return Err(format!("{before:?} became {after:?} at {t:?}: {} became {text}", track.describe()));
        }
    }
    Ok(())
}

/// Whether FPCore has all that is in a track.
fn sayable(track: &Track) -> bool {
    Core::new(None, track).write().is_ok()
}

#[test]
fn what_is_written_reads_back_to_the_same_bits() {
    let mut g = Gen::from_size_and_seed(30, 11);
    let mut written = 0;
    for _ in 0..4000 {
        let RandomTrack(track) = RandomTrack::arbitrary(&mut g);
        // every subterm: large tracks are seldom without keys
        let last = track.iter().map(|(id, _)| track.subterm(id)).rfind(sayable);
        if let Some(track) = last {
            written += usize::from(track.nodes().len() > 2);
            reads_back(&track, &mut g).unwrap();
        }
    }
    assert!(written > 1000, "{written} tracks were written");
}

#[test]
fn constants_are_correctly_rounded() {
    // their digits, from tables
    for (name, digits) in [
        ("E", "2.71828182845904523536028747135266250"),
        ("LOG2E", "1.44269504088896340735992468100189214"),
        ("LOG10E", "0.434294481903251827651128918916605082"),
        ("LN2", "0.693147180559945309417232121458176568"),
        ("LN10", "2.30258509299404568401799145468436421"),
        ("PI", "3.14159265358979323846264338327950288"),
        ("PI_2", "1.57079632679489661923132169163975144"),
        ("PI_4", "0.785398163397448309615660845819875721"),
        ("M_1_PI", "0.318309886183790671537767526745028724"),
        ("M_2_PI", "0.636619772367581343075535053490057448"),
        ("M_2_SQRTPI", "1.12837916709551257389615890312154517"),
        ("SQRT2", "1.41421356237309504880168872420969808"),
        ("SQRT1_2", "0.707106781186547524400844362104849039"),
    ] {
        let own = CONSTANTS.iter().find(|(own, _)| *own == name).unwrap().1;
        assert_eq!(own, digits.parse::<f64>().unwrap(), "{name}");
    }
}

quickcheck! {
    /// Any text is read or refused.
    fn any_text_is_read_or_refused(text: String, words: Vec<u8>) -> TestResult {
        const PIECES: &[&str] = &["(", ")", "[", "]", "FPCore", " x ", " y ", " let ", "*", "!", ":pre", " 1 ", "<", "if", "\"", ";", "\n", "-", "0x", "/", "é"];
        let pieces: String = words.iter().map(|k| PIECES[usize::from(*k) % PIECES.len()]).collect();
        for text in [text, format!("(FPCore (x y) {pieces})"), pieces] {
            if let Err(errors) = read(&text) {
                assert!(!errors.is_empty() && errors.iter().all(|error| error.span.start <= text.len()));
            }
        }
        TestResult::passed()
    }
}
