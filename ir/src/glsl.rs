//! Tracks as functions of GLSL (ES 3.00, or 3.30 and later).
//!
//! [`Track::to_glsl`] writes one function; [`functions`] writes several behind one prelude. A track becomes infix
//! operators and calls; a subterm that is used more than once and a keyed track become locals, each computed once, in
//! the track's order. The order of operations is the track's, so that `a + (b + c)` keeps its parentheses.
//!
//! What differs from [`Track::sample`] is the floats: every constant, every key's time and every intermediate value is
//! a `float`. Where GLSL leaves an operation undefined or defines another, a helper `kf_…` of the prelude has keyfit's
//! meaning. GLSL lets an implementation flush subnormal numbers, ignore the sign of zero and treat NaN as it likes; there
//! nothing can be promised. Division by zero and overflow are left to the floats.
//!
//! An `ES` shader needs `precision highp float;` in front.

pub(crate) mod prelude;

use std::collections::HashSet;
use std::fmt::Write;

use thiserror::Error;

use crate::easing::Curve;
use crate::keyed::Keyed;
use crate::keyed::shape::Shape;
use crate::track::{Id, Node, Track};
use prelude::Helper;

/// How GLSL writes an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Glsl {
    /// A sign between two operands, and how tight it binds.
    Infix(char, u8),
    /// The minus in front.
    Minus,
    /// A function of GLSL that means the same.
    Own(&'static str),
    /// A function of the prelude.
    Helper(&'static Helper),
}

impl Glsl {
    pub(crate) const SUM: u8 = 1;
    pub(crate) const PRODUCT: u8 = 2;
    const UNARY: u8 = 3;
    const ATOM: u8 = 4;
}

/// A local is made of a term whose text is longer: lines stay readable, and a shader's compiler never nests deeply.
const LONG: usize = 60;
/// So many pieces of a keyed track are tried in order; more are found by halving.
const CHAIN: usize = 8;
/// A node's text in a refusal is cut here.
const EXCERPT: usize = 120;

/// Why a track does not become GLSL.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum GlslRefusal {
    /// The function's name is not one that GLSL allows, or one that is taken.
    #[error("{name:?} cannot name a function of GLSL: {why}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Two functions have one name.
    #[error("two functions are named {0}")]
    SameName(String),
    /// A constant, a key's time, the span of a segment or a number of its shape is NaN, infinite or too large for a `float`.
    #[error("{value:?} in {node}: {}", .why.text())]
    Number {
        /// The number.
        value: f64,
        /// The text of the node that holds it, as `describe` prints it; a long one is cut.
        node: String,
        /// What is wrong with it.
        why: Unheld,
    },
}

/// Why GLSL has no `float` for a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unheld {
    /// It is NaN.
    NotANumber,
    /// It is infinite.
    Infinite,
    /// It is finite, but rounds to an infinite `float`.
    TooLarge,
}

impl Unheld {
    fn text(self) -> &'static str {
        match self {
            Unheld::NotANumber => "GLSL cannot write NaN",
            Unheld::Infinite => "GLSL cannot write an infinity",
            Unheld::TooLarge => "it is too large for a float",
        }
    }
}

impl GlslRefusal {
    /// Whether another input can close the gap: always, another name or another number.
    pub fn closable(&self) -> bool {
        true
    }

    /// What is missing, in words.
    pub fn missing(&self) -> Vec<String> {
        vec![match self {
            GlslRefusal::Name { .. } => {
                "a name of letters, digits and single _, such as track_x, that GLSL does not use".into()
            }
            GlslRefusal::SameName(_) => "a name of its own for each function".into(),
            GlslRefusal::Number { .. } => format!("a finite number up to {:?} in size", f32::MAX),
        }]
    }
}

impl Track {
    /// The track as a function of GLSL, `float NAME(float t, float params[N])`, behind the helpers that it needs; see
    /// the [module](self). `params` has the free parameters in their order; without any it is left out.
    ///
    /// ```
    /// # use keyfit_ir::Track;
    /// let track = Track::parse("(t - 1) * ?gain=2 + sin(t)")?;
    /// assert_eq!(
    ///     track.to_glsl("x")?,
    ///     "// params[0]: gain, starts at 2.0\n\
    ///      float x(float t, float params[1]) {\n    return (t - 1.0) * params[0] + sin(t);\n}\n",
    /// );
    /// assert!(Track::parse("t + 1e300")?.to_glsl("x").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`GlslRefusal`]: a name that GLSL does not allow, or a number that no `float` is near to.
    pub fn to_glsl(&self, name: &str) -> Result<String, GlslRefusal> {
        functions(&[(name, self)])
    }
}

/// Several tracks as functions of GLSL behind one prelude: names and tracks.
///
/// # Errors
/// As [`Track::to_glsl`], and if two names are the same.
pub fn functions(tracks: &[(&str, &Track)]) -> Result<String, GlslRefusal> {
    let mut names = HashSet::new();
    let mut helpers = Helpers::default();
    let mut text = String::new();
    for (name, track) in tracks {
        check_name(name)?;
        if !names.insert(*name) {
            return Err(GlslRefusal::SameName((*name).into()));
        }
        if !text.is_empty() {
            text.push('\n');
        }
        let body = Writer::new(track, &mut helpers).body()?;
        let parameters = track.free_parameters();
        for (i, p) in parameters.iter().enumerate() {
            // outside ASCII only in comments, and there not on every driver
            let _ =
                writeln!(text, "// params[{i}]: {}, starts at {:?}", p.name().escape_default(), p.start());
        }
        let array =
            if parameters.is_empty() { "".into() } else { format!(", float params[{}]", parameters.len()) };
        let _ = write!(text, "float {name}(float t{array}) {{\n{body}}}\n");
    }
    if !helpers.text.is_empty() {
        helpers.text.push('\n');
    }
    Ok(helpers.text + &text)
}

/// The prelude so far.
#[derive(Default)]
struct Helpers {
    there: HashSet<&'static str>,
    text: String,
}

impl Helpers {
    /// The helper's name, once it and what it needs are there. Helpers are few and need few.
    fn call(&mut self, helper: &'static Helper) -> &'static str {
        if self.there.insert(helper.name) {
            for &need in helper.needs {
                self.call(need);
            }
            self.text.push_str(helper.text);
        }
        helper.name
    }
}

/// An expression.
#[derive(Clone, Debug)]
struct Term {
    text: String,
    /// How tight its outermost operator binds.
    level: u8,
}

impl Term {
    fn atom(text: impl Into<String>) -> Term {
        Term { text: text.into(), level: Glsl::ATOM }
    }

    /// The text, in parentheses if it binds less tight than `level`.
    fn within(&self, level: u8) -> String {
        if self.level < level { format!("({})", self.text) } else { self.text.clone() }
    }

    fn infix(&self, sign: char, level: u8, right: &Term) -> Term {
        // the right operand keeps parentheses where its own sign binds no tighter, and where it begins with a minus
        let tight = if right.level == Glsl::UNARY { Glsl::ATOM } else { level + 1 };
        Term { text: format!("{} {sign} {}", self.within(level), right.within(tight)), level }
    }

    fn minus(&self) -> Term {
        Term { text: format!("-{}", self.within(Glsl::ATOM)), level: Glsl::UNARY }
    }

    fn sub(&self, right: &Term) -> Term {
        self.infix('-', Glsl::SUM, right)
    }

    fn call(name: &str, operands: &[Term]) -> Term {
        let texts: Vec<&str> = operands.iter().map(|term| term.text.as_str()).collect();
        Term::atom(format!("{name}({})", texts.join(", ")))
    }
}

/// The nearest `float`, with the fewest digits that read back to it, never without a point or an exponent.
fn literal(x: f64) -> Result<Term, Unheld> {
    let y = x as f32;
    if x.is_nan() {
        Err(Unheld::NotANumber)
    } else if x.is_infinite() {
        Err(Unheld::Infinite)
    } else if y.is_infinite() {
        Err(Unheld::TooLarge)
    } else {
        Ok(Term {
            text: format!("{y:?}"),
            level: if y.is_sign_negative() { Glsl::UNARY } else { Glsl::ATOM },
        })
    }
}

/// Writes one function's body.
struct Writer<'a, 'b> {
    track: &'a Track,
    helpers: &'b mut Helpers,
    /// How often a node's text is needed.
    uses: Vec<u32>,
    terms: Vec<Term>,
    body: String,
    locals: usize,
    parameters: usize,
}

impl<'a, 'b> Writer<'a, 'b> {
    fn new(track: &'a Track, helpers: &'b mut Helpers) -> Writer<'a, 'b> {
        let mut uses = vec![0_u32; track.nodes().len()];
        for node in track.nodes() {
            // a keyed track names its children in several segments
            let more = if matches!(node, Node::Keyed(_)) { 2 } else { 1 };
            node.children().iter().for_each(|child| {
                uses[child.index()] = uses[child.index()].saturating_add(more);
            });
        }
        let terms = Vec::with_capacity(uses.len());
        Writer { track, helpers, uses, terms, body: String::new(), locals: 0, parameters: 0 }
    }

    fn body(mut self) -> Result<String, GlslRefusal> {
        let root = self.track.root();
        for (id, node) in self.track.iter() {
            let term = match node {
                Node::Constant(x) => literal(x.value()).map_err(|why| self.refuse(id, x.value(), why))?,
                Node::Clock => Term::atom("t"),
                Node::Free(_) => {
                    self.parameters += 1;
                    Term::atom(format!("params[{}]", self.parameters - 1))
                }
                Node::Apply(op, operands) => {
                    let operands: Vec<Term> =
                        operands[..op.arity()].iter().map(|id| self.take(*id)).collect();
                    let term = match (op.glsl(), &operands[..]) {
                        (Glsl::Infix(sign, level), [a, b, ..]) => a.infix(sign, level, b),
                        (Glsl::Minus, [x, ..]) => x.minus(),
                        (Glsl::Own(name), _) => Term::call(name, &operands),
                        (Glsl::Helper(helper), _) => Term::call(self.helpers.call(helper), &operands),
                        // a test sees to it that signs have their operands
                        (Glsl::Infix(..) | Glsl::Minus, _) => Term::call(op.word(), &operands),
                    };
                    if id != root && (self.uses[id.index()] > 1 || term.text.len() > LONG) {
                        let local = self.local('s');
                        let _ = writeln!(self.body, "    float {local} = {};", term.text);
                        Term::atom(local)
                    } else {
                        term
                    }
                }
                Node::Keyed(keyed) => self.keyed(id, keyed)?,
            };
            self.terms.push(term);
        }
        let result = self.take(root).text;
        let _ = writeln!(self.body, "    return {result};");
        Ok(self.body)
    }

    /// A node's expression; short, as what is long is a local.
    fn take(&self, id: Id) -> Term {
        self.terms[id.index()].clone()
    }

    fn local(&mut self, letter: char) -> String {
        self.locals += 1;
        format!("{letter}{}", self.locals)
    }

    fn refuse(&self, id: Id, value: f64, why: Unheld) -> GlslRefusal {
        // a lone number says little: the first node that holds it is shown
        let holder = self.track.iter().find(|(_, node)| node.children().iter().any(|child| child == id));
        self.refuse_in(holder.map_or(id, |(holder, _)| holder), value, why)
    }

    fn refuse_in(&self, id: Id, value: f64, why: Unheld) -> GlslRefusal {
        let mut node = self.track.subterm(id).describe();
        if let Some((cut, _)) = node.char_indices().nth(EXCERPT) {
            node.truncate(cut);
            node.push('…');
        }
        GlslRefusal::Number { value, node, why }
    }

    /// The local that holds a keyed track's value.
    fn keyed(&mut self, id: Id, keyed: &Keyed) -> Result<Term, GlslRefusal> {
        let pieces = self.pieces(keyed).map_err(|(value, why)| self.refuse_in(id, value, why))?;
        let clock = self.take(keyed.clock()).text;
        let local = self.local('k');
        let words = match keyed.shapes() {
            [] => "one key".into(),
            [first, rest @ ..] if rest.iter().all(|shape| shape.name() == first.name()) => {
                format!("{first}, {} keys", keyed.keys().len())
            }
            _ => format!("{} keys", keyed.keys().len()),
        };
        // a clock that is NaN passes no test
        let _ = writeln!(self.body, "    float {local} = {clock}; // {words}");
        self.search(&local, &clock, &pieces, 1);
        Ok(Term::atom(local))
    }

    /// The statements that find the piece of `clock`'s time.
    fn search(&mut self, local: &str, clock: &str, pieces: &[Piece], depth: usize) {
        let pad = "    ".repeat(depth);
        if pieces.len() > CHAIN {
            // halving: the depth is the logarithm of the number of keys
            let (left, right) = pieces.split_at(pieces.len() / 2);
            let end = left.last().map_or("", |piece| piece.end.as_deref().unwrap_or(""));
            let _ = writeln!(self.body, "{pad}if ({clock} < {end}) {{");
            self.search(local, clock, left, depth + 1);
            let _ = writeln!(self.body, "{pad}}} else {{");
            self.search(local, clock, right, depth + 1);
            let _ = writeln!(self.body, "{pad}}}");
            return;
        }
        for (i, piece) in pieces.iter().enumerate() {
            let other = if i > 0 { "else " } else { "" };
            let test = match &piece.end {
                Some(end) => format!("{clock} < {end}"),
                None => format!("{clock} >= {}", piece.start),
            };
            let _ = writeln!(self.body, "{pad}{other}if ({test}) {local} = {};", piece.value);
        }
    }

    /// Where the track's formula changes, and what it is there.
    fn pieces(&mut self, keyed: &Keyed) -> Result<Vec<Piece>, (f64, Unheld)> {
        let literal = |x: f64| literal(x).map_err(|why| (x, why));
        let clock = self.take(keyed.clock());
        let keys = keyed.keys();
        let values: Vec<Term> = keys.iter().map(|key| self.take(key.value)).collect();
        let times: Vec<Term> = keys.iter().map(|key| literal(key.time())).collect::<Result<_, _>>()?;
        let [Some(first), Some(last)] = [times.first(), times.last()] else { return Ok(Vec::new()) };
        let before = values.first().map_or("", |value| &value.text);
        let mut pieces =
            vec![Piece { start: first.text.clone(), end: Some(first.text.clone()), value: before.into() }];
        for (k, shape) in keyed.shapes().iter().enumerate() {
            let [start, end] = [keys[k].time() as f32, keys[k + 1].time() as f32];
            if start == end {
                continue; // a jump, or one in floats
            }
            let [a, b] = [values[k].clone(), values[k + 1].clone()];
            if (end - start).is_infinite() {
                return Err((keys[k + 1].time() - keys[k].time(), Unheld::TooLarge));
            }
            let span = literal(f64::from(end - start))?;
            let past = match start {
                0.0 => clock.clone(),
                _ if start < 0.0 => clock.infix('+', Glsl::SUM, &literal(f64::from(-start))?),
                _ => clock.sub(&times[k]),
            };
            let u = if end - start == 1.0 { past } else { past.infix('/', Glsl::PRODUCT, &span) };
            let value = match shape {
                Shape::Hold => a,
                Shape::Linear => Term::call(self.helpers.call(&prelude::LINE), &[a, b, u]),
                Shape::Eased(easing) => {
                    let eased = match easing.curve() {
                        Curve::Op(op) => match op.glsl() {
                            Glsl::Helper(helper) => Term::call(self.helpers.call(helper), &[u]),
                            Glsl::Own(name) => Term::call(name, &[u]),
                            Glsl::Infix(..) | Glsl::Minus => u, // no easing is a sign
                        },
                        Curve::Bezier(points) => {
                            let mut operands = vec![u];
                            for point in points {
                                operands.push(literal(point.value())?);
                            }
                            Term::call(self.helpers.call(&prelude::BEZIER), &operands)
                        }
                        Curve::Steps(n, jump) => {
                            let n = f64::from(n);
                            let (first, jumps) = jump.count(n);
                            let operands = [u, literal(n)?, literal(first)?, literal(jumps)?];
                            Term::call(self.helpers.call(&prelude::STEPS), &operands)
                        }
                    };
                    let line = Term::call(self.helpers.call(&prelude::LINE), &[a.clone(), b, eased]);
                    // the key's own value at its time, also where the easing begins with a jump
                    match easing.curve() {
                        Curve::Steps(_, jump) if jump.count(1.0).0 > 0.0 => Term::atom(format!(
                            "{} == {} ? {} : {}",
                            clock.text, times[k].text, a.text, line.text
                        )),
                        _ => line,
                    }
                }
                Shape::CatmullRom => {
                    let slope =
                        |from: &Term, to: &Term| to.sub(from).infix('/', Glsl::PRODUCT, &Term::atom("2.0"));
                    let m0 = match before_key(keyed, k) {
                        Some(p) => slope(&values[p], &b),
                        None => b.sub(&a),
                    };
                    let m1 = match after_key(keyed, k) {
                        Some(n) => slope(&a, &values[n]),
                        None => b.sub(&a),
                    };
                    Term::call(self.helpers.call(&prelude::CURVE), &[a, b, m0, m1, u])
                }
                Shape::Tcb => {
                    let time = |k: usize| keys[k].time();
                    let span = time(k + 1) - time(k);
                    let own = b.sub(&a);
                    // as `segment` has it, with the numbers put together
                    let slope = |end: usize, side: f64, beyond: Option<(Term, f64)>| {
                        let [tension, continuity, bias] = keyed.tcb(end).values();
                        let tight = 1.0 - tension;
                        let near = tight * (1.0 - continuity) * (1.0 - side * bias);
                        let scaled = |x: f64, d: &Term| -> Result<Term, (f64, Unheld)> {
                            match x as f32 {
                                1.0 => Ok(d.clone()),
                                _ => Ok(literal(x)?.infix('*', Glsl::PRODUCT, d)),
                            }
                        };
                        let Some((other, width)) = beyond else { return scaled(near, &own) };
                        let share = span / (span + width);
                        let far = tight * (1.0 + continuity) * (1.0 + side * bias);
                        Ok(scaled(near * share, &own)?.infix('+', Glsl::SUM, &scaled(far * share, &other)?))
                    };
                    let before = before_key(keyed, k).map(|p| (a.sub(&values[p]), time(k) - time(p)));
                    let after = after_key(keyed, k).map(|n| (values[n].sub(&b), time(n) - time(k + 1)));
                    let operands = [slope(k, 1.0, before)?, slope(k + 1, -1.0, after)?];
                    let [m0, m1] = operands;
                    Term::call(self.helpers.call(&prelude::CURVE), &[a, b, m0, m1, u])
                }
                Shape::Monotone => {
                    let mut slope = |beyond: Option<(usize, usize)>| -> Result<Term, (f64, Unheld)> {
                        let own = b.sub(&a);
                        let Some((from, to)) = beyond else { return Ok(own) };
                        let width = keys[to].time() - keys[from].time();
                        let operands = [own, span.clone(), values[to].sub(&values[from]), literal(width)?];
                        Ok(Term::call(self.helpers.call(&prelude::MONOTONE), &operands))
                    };
                    let m0 = slope(before_key(keyed, k).map(|p| (p, k)))?;
                    let m1 = slope(after_key(keyed, k).map(|n| (k + 1, n)))?;
                    Term::call(self.helpers.call(&prelude::CURVE), &[a, b, m0, m1, u])
                }
                Shape::Cubic { leave, arrive } => {
                    let [m0, m1] = [leave, arrive].map(|id| self.take(*id));
                    let [m0, m1] = match span.text.as_str() {
                        "1.0" => [m0, m1],
                        _ => [m0, m1].map(|m| m.infix('*', Glsl::PRODUCT, &span)),
                    };
                    Term::call(self.helpers.call(&prelude::CURVE), &[a, b, m0, m1, u])
                }
            };
            pieces.push(Piece {
                start: times[k].text.clone(),
                end: Some(times[k + 1].text.clone()),
                value: value.text,
            });
        }
        let value = values.last().map_or(String::new(), |value| value.text.clone());
        pieces.push(Piece { start: last.text.clone(), end: None, value });
        Ok(pieces)
    }
}

/// The key before segment `k`, if no jump hides it.
fn before_key(keyed: &Keyed, k: usize) -> Option<usize> {
    k.checked_sub(1).filter(|p| keyed.keys()[*p].time() < keyed.keys()[k].time())
}

/// The key after segment `k`, if no jump hides it.
fn after_key(keyed: &Keyed, k: usize) -> Option<usize> {
    let next = keyed.keys().get(k + 2)?;
    (next.time() > keyed.keys()[k + 1].time()).then_some(k + 2)
}

/// A stretch of time with one formula.
struct Piece {
    start: String,
    /// None for the last.
    end: Option<String>,
    value: String,
}

/// Words that GLSL ES 3.00 or GLSL 4.60 uses or keeps, and the functions of theirs that could be hidden.
const TAKEN: &str = "attribute const uniform varying layout centroid flat smooth noperspective patch sample break \
    continue do for while switch case default if else subroutine in out inout float double int void bool true false \
    invariant precise discard return struct uint lowp mediump highp precision buffer shared coherent volatile restrict \
    readonly writeonly atomic_uint resource common partition active asm class union enum typedef template this \
    packed goto inline noinline public static extern external interface long short half fixed unsigned superp input \
    output hvec2 hvec3 hvec4 fvec2 fvec3 fvec4 filter sizeof cast namespace using row_major main \
    vec2 vec3 vec4 dvec2 dvec3 dvec4 bvec2 bvec3 bvec4 ivec2 ivec3 ivec4 uvec2 uvec3 uvec4 \
    radians degrees sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh pow exp log exp2 log2 sqrt \
    inversesqrt abs sign floor trunc round roundEven ceil fract mod modf min max clamp mix step smoothstep isnan isinf \
    floatBitsToInt floatBitsToUint intBitsToFloat uintBitsToFloat fma frexp ldexp length distance dot cross normalize \
    faceforward reflect refract matrixCompMult outerProduct transpose determinant inverse lessThan lessThanEqual \
    greaterThan greaterThanEqual equal notEqual any all not texture textureSize textureLod textureOffset texelFetch \
    dFdx dFdy fwidth noise1 noise2 noise3 noise4 barrier bitCount findLSB findMSB t params";

/// Beginnings of GLSL's types.
const TYPES: [&str; 8] = ["mat", "dmat", "sampler", "isampler", "usampler", "image", "iimage", "uimage"];

fn check_name(name: &str) -> Result<(), GlslRefusal> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let why = if !name.chars().all(plain) || name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit())
    {
        "a name is a letter or _, then letters, digits and _"
    } else if name.starts_with("gl_") {
        "names that begin with gl_ are GLSL's"
    } else if name.contains("__") {
        "names with two underscores in a row are GLSL's"
    } else if name.starts_with("kf_") {
        "names that begin with kf_ are the helpers'"
    } else if name.len() > 1024 {
        "a name has at most 1024 letters"
    } else if TAKEN.split_ascii_whitespace().any(|word| word == name) {
        "GLSL, or the function itself, uses it"
    } else if TYPES.iter().any(|begin| {
        name.strip_prefix(begin).is_some_and(|end| end.starts_with(|c: char| c.is_ascii_digit() || c == 'C'))
    }) {
        "it is, or may become, a type of GLSL"
    } else {
        return Ok(());
    };
    Err(GlslRefusal::Name { name: name.into(), why })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Op;

    #[test]
    fn every_operation_calls_what_is_there() {
        for &op in Op::ALL {
            match op.glsl() {
                Glsl::Infix(..) => assert_eq!(op.arity(), 2),
                Glsl::Minus => assert_eq!(op.arity(), 1),
                Glsl::Own(name) => assert!(TAKEN.split_whitespace().any(|word| word == name), "{name}"),
                Glsl::Helper(helper) => {
                    let operands = helper.text.split_once(')').map_or("", |(head, _)| head);
                    assert_eq!(operands.matches("float ").count(), op.arity() + 1, "{op:?}");
                }
            }
        }
        let mut names = HashSet::new();
        for helper in prelude::ALL {
            assert!(names.insert(helper.name), "{}: twice", helper.name);
            for other in prelude::ALL {
                let called = helper.text.contains(&format!("{}(", other.name)) && other.name != helper.name;
                let needed = helper.needs.iter().any(|need| need.name == other.name);
                assert_eq!(called, needed, "{} needs {}", helper.name, other.name);
            }
        }
    }

    #[test]
    fn numbers_are_floats_with_few_digits() {
        for (x, text) in [
            (2.0, "2.0"),
            (-0.0, "-0.0"),
            (0.1, "0.1"),
            (1.0 / 3.0, "0.33333334"),
            (1e16, "1e16"),
            (-1e-7, "-1e-7"),
            (f64::from(f32::MAX), "3.4028235e38"),
            (1e-300, "0.0"),
        ] {
            assert_eq!(literal(x).unwrap().text, text);
        }
        assert_eq!(literal(1e300).unwrap_err(), Unheld::TooLarge);
        assert_eq!(literal(f64::NEG_INFINITY).unwrap_err(), Unheld::Infinite);
        assert_eq!(literal(f64::NAN).unwrap_err(), Unheld::NotANumber);
    }
}
