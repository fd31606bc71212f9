//! FPCore on the command line.

use crate::folder::{Folder, transcript};

const QUADRATIC: &str = r#"; the positive root
(FPCore (a b c)
 :name "NMSE p42, positive"
 :pre (and (<= 1 a 2) (<= 4 b 8) (<= 0 c 1))
 (/ (+ (- b) (sqrt (- (* b b) (* 4 (* a c))))) (* 2 a)))
"#;

#[test]
fn cores_are_described_simplified_and_written() {
    let folder = Folder::new("fpcore");
    folder.write("quadratic.fpcore", QUADRATIC);
    folder.write("two.fpcore", "(FPCore (x) :name \"first\" (+ (exp x) 0)) (FPCore (x) (- (fabs x) (- 1)))");
    folder.write("wrong.fpcore", "(FPCore (x)\n  (let ([y (sine x)]) y))\n(FPCore (x) (erf x))");
    folder.write("refused.fpcore", "(FPCore (x) (while (< x 1) ([x x (+ x 1)]) x))");
    folder.write("deep.fpcore", format!("(FPCore (x) {}", "(sin ".repeat(100_000)));
    let lines: [&[&str]; 12] = [
        &["describe", "quadratic.fpcore"],
        &["describe", "quadratic.fpcore", "--format", "fpcore", "--start", "c=0.5"],
        &["simplify", "quadratic.fpcore", "--format", "fpcore"],
        &["describe", "two.fpcore", "--json"],
        &["simplify", "two.fpcore", "--format", "fpcore", "--json"],
        &["describe", "smoothstep(0, ?w=2, t)", "--format", "fpcore"],
        &["describe", "linear[0=0 1=2]", "--format", "fpcore"],
        &["simplify", "mod(t, 2)", "--format", "fpcore"],
        &["describe", "wrong.fpcore"],
        &["describe", "refused.fpcore"],
        &["describe", "deep.fpcore"],
        &["describe", "missing.fpcore"],
    ];
    let shown = lines.map(|line| {
        let text = transcript(line, &folder.run(line));
        // the proofs have tests of their own
        text.lines().filter(|line| line.len() < 300).collect::<Vec<_>>().join("\n") + "\n"
    });
    insta::assert_snapshot!(shown.join("\n"));
}
