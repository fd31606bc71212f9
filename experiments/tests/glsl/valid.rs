//! naga, a compiler of GLSL, accepts what is generated. It reads `#version 440` and later only; nothing that is generated
//! is newer than 3.30 and ES 3.00.

use keyfit::ir::arbitrary::RandomTrack;
use keyfit::ir::{GlslRefusal, Op, Shape, Track, shaped};
use naga::front::glsl::{Frontend, Options};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use quickcheck::{Arbitrary, Gen};

/// The function `x` in a fragment shader.
fn check(text: &str, parameters: usize) {
    if let Err(message) = compile(text, parameters) {
        panic!("{message}");
    }
}

fn compile(text: &str, parameters: usize) -> Result<(), String> {
    let zeros = vec!["0.0"; parameters].join(", ");
    let call = match parameters {
        0 => "x(gl_FragCoord.x)".into(),
        n => format!("x(gl_FragCoord.x, float[{n}]({zeros}))"),
    };
    let shader = format!(
        "#version 450\nlayout(location = 0) out vec4 color;\n{text}\nvoid main() {{ color = vec4({call}); }}\n"
    );
    let module = Frontend::default()
        .parse(&Options::from(naga::ShaderStage::Fragment), &shader)
        .map_err(|e| format!("{}\n{shader}", e.emit_to_string(&shader)))?;
    Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .map_err(|e| format!("{e:?}\n{shader}"))?;
    Ok(())
}

#[test]
fn every_operation() {
    for &op in Op::ALL {
        let operands = ["?a=1", "t", "?c=2"][..op.arity()].join(", ");
        let track = Track::parse(&format!("{}({operands})", op.name())).unwrap();
        check(&track.to_glsl("x").unwrap(), track.free_parameters().len());
    }
}

#[test]
fn every_shape() {
    for shape in Shape::all() {
        let keys = [(0.0, 1.0), (1.0, 2.0), (1.0, 5.0), (3.0, 4.0), (3.5, -4.0)];
        check(&shaped(shape, keys).track().unwrap().to_glsl("x").unwrap(), 0);
    }
    let css = "keys[0=0 cubic-bezier(0.25,0.1,0.25,1) 1=1 steps(4,jump-start) 2=?v=5 steps(4,jump-none) 3=1]";
    check(&Track::parse(css).unwrap().to_glsl("x").unwrap(), 1);
}

#[test]
fn random_tracks() {
    let mut g = Gen::from_size_and_seed(40, 1);
    let mut checked = 0;
    for _ in 0..400 {
        let RandomTrack(track) = RandomTrack::arbitrary(&mut g);
        match track.to_glsl("x") {
            Ok(text) => match compile(&text, track.free_parameters().len()) {
                Ok(()) => checked += 1,
                // what is constant naga computes, and it takes no constant that overflows or is NaN (0.0 / 0.0)
                Err(message) => {
                    let folded = ["Float literal is", "operation overflowed"];
                    assert!(folded.iter().any(|words| message.contains(words)), "{message}");
                }
            },
            Err(refusal) => assert!(matches!(refusal, GlslRefusal::Number { .. }), "{refusal}"),
        }
    }
    assert!(checked > 200, "{checked} of 400");
}
