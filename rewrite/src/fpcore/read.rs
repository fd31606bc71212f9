//! FPCore as tracks.

use std::collections::HashMap;

use keyfit_ir::text::nearest;
use keyfit_ir::{BuildError, Builder, Id, Node, Op, Parameter, Span, SyntaxError, SyntaxErrorKind, Track};

use super::number;
use super::range::ranges;
use super::sexp::{Forest, Place};
use super::words::{self, CONSTANTS, Meaning, Word};
use super::{Core, Precondition, Ranges};

/// So many numbers may be said to differ from each other.
const MOST_DIFFERENT: usize = 100;

/// Reads every core of a text.
///
/// # Errors
/// The first fault of each core: where the text is no FPCore, or asks for what a track cannot be
/// ([`SyntaxErrorKind::Refused`]).
pub fn read(text: &str) -> Result<Vec<Core>, Vec<SyntaxError>> {
    let forest = Forest::parse(text).map_err(|error| vec![error])?;
    let (mut cores, mut errors) = (Vec::new(), Vec::new());
    for root in &forest.roots {
        match core(&forest, text, *root) {
            Ok(core) => cores.push(core),
            Err(error) => errors.push(error),
        }
    }
    if cores.is_empty() && errors.is_empty() {
        let span = Span { start: text.len(), end: text.len() };
        errors.push(SyntaxError {
            kind: SyntaxErrorKind::UnexpectedEnd { expected: "(FPCore (x …) …)" },
            span,
        });
    }
    if errors.is_empty() { Ok(cores) } else { Err(errors) }
}

/// The parts of a core, before anything is built.
struct Parts<'a, 'f> {
    arguments: Vec<(&'a str, Span)>,
    properties: HashMap<&'a str, Place>,
    body: Place,
    forest: &'f Forest<'a>,
}

fn core(forest: &Forest<'_>, text: &str, root: Place) -> Result<Core, SyntaxError> {
    let parts = parts(forest, root)?;
    let pre = parts.properties.get(":pre").copied();
    let ranges = pre.map_or_else(HashMap::new, |pre| ranges(forest, pre));
    let clock = parts.property(":keyfit-clock").and_then(|place| forest.word(place));
    let starts = parts.starts()?;
    let mut reader = Reader { forest, builder: Builder::new(), scope: HashMap::new(), values: Vec::new() };
    let mut known = Ranges::new();
    for &(name, span) in &parts.arguments {
        let [low, high] = ranges.get(name).copied().unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        if low.is_nan() || high.is_nan() || low > high {
            return Err(SyntaxError { kind: SyntaxErrorKind::EmptyRange { name: name.into() }, span });
        }
        if low > f64::NEG_INFINITY || high < f64::INFINITY {
            known.insert(name.into(), [low, high]);
        }
        let start = starts.get(name).copied().unwrap_or(1.0_f64.max(low).min(high));
        let id = if clock == Some(name) {
            reader.builder.clock()
        } else {
            Parameter::new(name, start).map_err(BuildError::from).and_then(|p| reader.builder.free(p))
        };
        let id = id.map_err(|e| SyntaxError { kind: e.into(), span })?;
        reader.scope.insert(name, vec![Value::Number(id)]);
    }
    let pre = pre
        .map(|place| {
            let id = reader.evaluate(place)?.truth(forest, place)?;
            let text = text.get(forest.span(place).range()).unwrap_or_default().to_owned();
            Ok(Precondition { track: reader.finish(id, place)?, text })
        })
        .transpose()?;
    let body = reader.evaluate(parts.body)?.number(forest, parts.body)?;
    Ok(Core {
        name: parts.property(":name").and_then(|place| forest.string(place)).map(str::to_owned),
        arguments: parts.arguments.iter().map(|(name, _)| (*name).to_owned()).collect(),
        clock: clock.filter(|clock| parts.arguments.iter().any(|(name, _)| name == clock)).map(str::to_owned),
        track: reader.finish(body, parts.body)?,
        ranges: known,
        pre,
    })
}

fn parts<'a, 'f>(forest: &'f Forest<'a>, root: Place) -> Result<Parts<'a, 'f>, SyntaxError> {
    let expected = "(FPCore (x …) …)";
    let Some([head, rest @ ..]) = forest.list(root) else { return Err(forest.unexpected(expected, root)) };
    if forest.word(*head) != Some("FPCore") {
        return Err(forest.unexpected("FPCore", *head));
    }
    // a core may have a name that others call it by
    let rest = match rest {
        [name, rest @ ..] if forest.word(*name).is_some() => rest,
        _ => rest,
    };
    let [arguments, rest @ ..] = rest else { return Err(forest.unexpected(expected, root)) };
    let mut named: Vec<(&str, Span)> = Vec::new();
    for place in
        forest.list(*arguments).ok_or_else(|| forest.unexpected("a list of arguments", *arguments))?
    {
        let name = argument(forest, *place)?;
        let span = forest.span(*place);
        if words::is_reserved(name) || named.iter().any(|(other, _)| *other == name) {
            let what = if words::is_reserved(name) { "constant" } else { "variable" };
            return Err(SyntaxError { kind: SyntaxErrorKind::Taken { what, name: name.into() }, span });
        }
        named.push((name, span));
    }
    let (properties, body) = properties(forest, rest)?;
    match body {
        [body] => Ok(Parts { arguments: named, properties, body: *body, forest }),
        [] => Err(SyntaxError {
            kind: SyntaxErrorKind::UnexpectedEnd { expected: "an expression" },
            span: forest.span(root),
        }),
        [_, second, ..] => Err(forest.unexpected("the core's end", *second)),
    }
}

/// The name of an argument, which may carry properties: `(! :precision binary64 x)`.
fn argument<'a>(forest: &Forest<'a>, place: Place) -> Result<&'a str, SyntaxError> {
    let inner = match forest.list(place) {
        None => place,
        Some([head, rest @ ..]) if forest.word(*head) == Some("!") => match properties(forest, rest)?.1 {
            [name] => *name,
            _ => return Err(forest.unexpected("an argument's name", place)),
        },
        Some(_) => return Err(refused(forest, "argument", place, "a track is one number, not an array")),
    };
    let word = forest.word(inner).filter(|word| !number::looks_like_one(word) && !word.starts_with(':'));
    word.ok_or_else(|| forest.unexpected("an argument's name", inner))
}

type Properties<'a> = HashMap<&'a str, Place>;

/// The properties in front of what follows them. What changes how numbers are rounded must be what it is here.
fn properties<'a, 'f>(
    forest: &Forest<'a>,
    mut rest: &'f [Place],
) -> Result<(Properties<'a>, &'f [Place]), SyntaxError> {
    let mut properties = HashMap::new();
    while let [name, more @ ..] = rest
        && let Some(word) = forest.word(*name)
        && word.starts_with(':')
    {
        let [value, more @ ..] = more else {
            let kind = SyntaxErrorKind::UnexpectedEnd { expected: "the property's value" };
            return Err(SyntaxError { kind, span: forest.span(*name) });
        };
        let needed = match word {
            ":precision" => Some(("binary64", "precision", "all numbers are binary64")),
            ":round" => Some(("nearestEven", "rounding", "it is to nearest, ties to even")),
            ":overflow" => Some(("infinity", "overflow", "what overflows is infinite")),
            _ => None,
        };
        if let Some((own, what, why)) = needed
            && forest.word(*value) != Some(own)
        {
            return Err(refused(forest, what, *value, why));
        }
        properties.insert(word, *value);
        rest = more;
    }
    Ok((properties, rest))
}

impl<'a> Parts<'a, '_> {
    fn property(&self, name: &str) -> Option<Place> {
        self.properties.get(name).copied()
    }

    /// What `:keyfit-starts ((x 1.0) …)` says.
    fn starts(&self) -> Result<HashMap<&'a str, f64>, SyntaxError> {
        let Some(place) = self.property(":keyfit-starts") else { return Ok(HashMap::new()) };
        let expected = "((name number) …)";
        let unexpected = |place| self.forest.unexpected(expected, place);
        let mut starts = HashMap::new();
        for pair in self.forest.list(place).ok_or_else(|| unexpected(place))? {
            let Some([name, value]) = self.forest.list(*pair) else { return Err(unexpected(*pair)) };
            let word = |place: Place| self.forest.word(place).ok_or_else(|| unexpected(place));
            let constant = CONSTANTS.iter().find(|(own, _)| Some(*own) == self.forest.word(*value));
            let value = match (constant, word(*value)?) {
                (Some((_, x)), _) => *x,
                (None, "-INFINITY") => f64::NEG_INFINITY,
                (None, text) => number::read(text, self.forest.span(*value))?,
            };
            starts.insert(word(*name)?, value);
        }
        Ok(starts)
    }
}

#[derive(Clone, Copy, Debug)]
enum Value {
    Number(Id),
    /// 0 or 1, or NaN where NaN was compared.
    Truth(Id),
}

impl Value {
    fn number(self, forest: &Forest<'_>, place: Place) -> Result<Id, SyntaxError> {
        match self {
            Value::Number(id) => Ok(id),
            Value::Truth(_) => Err(forest.unexpected("a number", place)),
        }
    }

    fn truth(self, forest: &Forest<'_>, place: Place) -> Result<Id, SyntaxError> {
        match self {
            Value::Truth(id) => Ok(id),
            Value::Number(_) => Err(forest.unexpected("a truth value", place)),
        }
    }
}

/// What is left to do; expressions may nest as deeply as memory allows.
enum Work<'a> {
    Expression(Place),
    /// To apply the list's head to its operands, whose values stand last.
    Apply(Place),
    /// To give the last values these names.
    Bind(Vec<&'a str>),
    Unbind(Vec<&'a str>),
}

struct Reader<'a, 'f> {
    forest: &'f Forest<'a>,
    builder: Builder,
    /// What each name means, the innermost meaning last.
    scope: HashMap<&'a str, Vec<Value>>,
    values: Vec<Value>,
}

impl<'a> Reader<'a, '_> {
    fn finish(&self, id: Id, place: Place) -> Result<Track, SyntaxError> {
        self.builder.finish(id).map_err(|e| self.fault(e, place))
    }

    fn fault(&self, error: BuildError, place: Place) -> SyntaxError {
        SyntaxError { kind: error.into(), span: self.forest.span(place) }
    }

    fn evaluate(&mut self, root: Place) -> Result<Value, SyntaxError> {
        let mut work = vec![Work::Expression(root)];
        while let Some(item) = work.pop() {
            match item {
                Work::Expression(place) => self.expression(place, &mut work)?,
                Work::Apply(place) => {
                    let value = self.apply(place)?;
                    self.values.push(value);
                }
                Work::Bind(names) => {
                    let values = self.values.split_off(self.values.len().saturating_sub(names.len()));
                    for (name, value) in names.into_iter().zip(values) {
                        self.scope.entry(name).or_default().push(value);
                    }
                }
                Work::Unbind(names) => names.iter().for_each(|name| {
                    self.scope.get_mut(name).map(Vec::pop);
                }),
            }
        }
        self.values.pop().ok_or_else(|| self.forest.unexpected("an expression", root))
    }

    fn expression(&mut self, place: Place, work: &mut Vec<Work<'a>>) -> Result<(), SyntaxError> {
        if let Some(word) = self.forest.word(place) {
            let value = self.leaf(word, place)?;
            self.values.push(value);
            return Ok(());
        }
        let Some([head, rest @ ..]) = self.forest.list(place) else {
            return Err(self.forest.unexpected("an expression", place));
        };
        let word = self.forest.word(*head).ok_or_else(|| self.forest.unexpected("an operation", *head))?;
        match word {
            "let" | "let*" => self.bindings(place, word == "let*", rest, work),
            "!" => match properties(self.forest, rest)?.1 {
                [inner] => {
                    work.push(Work::Expression(*inner));
                    Ok(())
                }
                _ => Err(self.forest.unexpected("properties and one expression", place)),
            },
            _ => {
                self.check(word, *head, rest.len())?;
                work.push(Work::Apply(place));
                work.extend(rest.iter().rev().map(|operand| Work::Expression(*operand)));
                Ok(())
            }
        }
    }

    fn bindings(
        &self,
        place: Place,
        one_by_one: bool,
        rest: &[Place],
        work: &mut Vec<Work<'a>>,
    ) -> Result<(), SyntaxError> {
        let [bindings, body] = rest else {
            return Err(self.forest.unexpected("(let ([name expression] …) expression)", place));
        };
        let unexpected = |place| self.forest.unexpected("[name expression]", place);
        let mut names: Vec<&str> = Vec::new();
        let mut values: Vec<Place> = Vec::new();
        for binding in self.forest.list(*bindings).ok_or_else(|| unexpected(*bindings))? {
            let Some([name, value]) = self.forest.list(*binding) else { return Err(unexpected(*binding)) };
            let word = self.forest.word(*name).filter(|word| !number::looks_like_one(word));
            names.push(word.ok_or_else(|| unexpected(*name))?);
            values.push(*value);
        }
        work.push(Work::Unbind(names.clone()));
        work.push(Work::Expression(*body));
        if one_by_one {
            for (name, value) in names.iter().zip(&values).rev() {
                work.push(Work::Bind(vec![name]));
                work.push(Work::Expression(*value));
            }
        } else {
            work.push(Work::Bind(names));
            work.extend(values.iter().rev().map(|value| Work::Expression(*value)));
        }
        Ok(())
    }

    fn leaf(&mut self, word: &str, place: Place) -> Result<Value, SyntaxError> {
        if let Some(value) = self.scope.get(word).and_then(|values| values.last()) {
            return Ok(*value);
        }
        let span = self.forest.span(place);
        let truth = |x: f64| (x, Value::Truth as fn(Id) -> Value);
        let (x, kind) = match word {
            "TRUE" => truth(1.0),
            "FALSE" => truth(0.0),
            _ => {
                let constant = CONSTANTS.iter().find(|(name, _)| *name == word);
                let x = match constant {
                    Some((_, x)) => *x,
                    None if number::looks_like_one(word) => number::read(word, span)?,
                    None => return Err(self.unknown("name", word, span)),
                };
                (x, Value::Number as fn(Id) -> Value)
            }
        };
        self.builder.constant(x).map(kind).map_err(|e| self.fault(e, place))
    }

    fn unknown(&self, what: &'static str, word: &str, span: Span) -> SyntaxError {
        let near = if what == "name" {
            let known = self.scope.keys().copied().chain(CONSTANTS.iter().map(|(name, _)| *name));
            let mut known: Vec<&str> = known.collect();
            known.sort_unstable();
            nearest(word, known)
        } else {
            nearest(word, words::all())
        };
        SyntaxError {
            kind: SyntaxErrorKind::Unknown { what, word: keyfit_ir::text::excerpt(word), near },
            span,
        }
    }

    /// Whether there is such a word, and it takes so many operands.
    fn check(&self, word: &str, head: Place, given: usize) -> Result<(), SyntaxError> {
        let span = self.forest.span(head);
        let takes = |takes| {
            let kind = SyntaxErrorKind::Operands { word: word.into(), takes, given };
            Err(SyntaxError { kind, span })
        };
        match word {
            "if" if given == 3 => return Ok(()),
            "if" => return takes("a condition and two expressions"),
            "not" if given == 1 => return Ok(()),
            "not" => return takes("1 operand"),
            "and" | "or" => return Ok(()),
            // each pair is compared
            "!=" if given > MOST_DIFFERENT => return takes("at most 100 operands"),
            _ if words::COMPARISONS.contains(&word) && given >= 1 => return Ok(()),
            _ if words::COMPARISONS.contains(&word) => return takes("2 operands or more"),
            _ => {}
        }
        let rows: Vec<&Word> = words::rows(word).collect();
        match rows[..] {
            [] => Err(self.unknown("operation", word, span)),
            [Word { meaning: Meaning::Refused(why), .. }, ..] => {
                Err(refused(self.forest, "operation", head, why))
            }
            _ if rows.iter().any(|row| row.operands.len() == given) => Ok(()),
            [Word { operands: [_], .. }] => takes("1 operand"),
            [_] => takes("2 operands"),
            _ => takes("1 or 2 operands"),
        }
    }

    fn apply(&mut self, place: Place) -> Result<Value, SyntaxError> {
        let (Some(forms), forest) = (self.forest.list(place), self.forest) else {
            return Err(self.forest.unexpected("an expression", place));
        };
        let [head, operands @ ..] = forms else { return Err(forest.unexpected("an expression", place)) };
        let values = self.values.split_off(self.values.len().saturating_sub(operands.len()));
        let word = forest.word(*head).unwrap_or_default();
        let given = || values.iter().zip(operands);
        let numbers =
            || given().map(|(value, place)| value.number(forest, *place)).collect::<Result<Vec<Id>, _>>();
        let truths =
            || given().map(|(value, place)| value.truth(forest, *place)).collect::<Result<Vec<Id>, _>>();
        let fail = |e: BuildError| SyntaxError { kind: e.into(), span: forest.span(place) };
        let b = &mut self.builder;
        match (word, &values[..]) {
            ("if", [c, Value::Number(yes), Value::Number(no)]) => {
                let c = c.truth(forest, operands[0])?;
                b.apply(Op::SELECT, &[c, *yes, *no]).map(Value::Number).map_err(fail)
            }
            ("if", [c, yes, no]) => {
                let c = c.truth(forest, operands[0])?;
                let (yes, no) = (yes.truth(forest, operands[1])?, no.truth(forest, operands[2])?);
                b.apply(Op::SELECT, &[c, yes, no]).map(Value::Truth).map_err(fail)
            }
            ("not", _) => join(b, &truths()?, word).map(Value::Truth).map_err(fail),
            ("and" | "or", _) => join(b, &truths()?, word).map(Value::Truth).map_err(fail),
            _ if words::COMPARISONS.contains(&word) => {
                compare(b, word, &numbers()?).map(Value::Truth).map_err(fail)
            }
            _ => {
                let numbers = numbers()?;
                let row = words::rows(word).find(|row| row.operands.len() == numbers.len());
                let row = row.ok_or_else(|| forest.unexpected("an operation", *head))?;
                call(b, row, &numbers).map(Value::Number).map_err(fail)
            }
        }
    }
}

/// A word that is known and refused.
fn refused(forest: &Forest<'_>, what: &'static str, place: Place, why: &'static str) -> SyntaxError {
    let kind = SyntaxErrorKind::Refused { what, word: forest.shown(place), why };
    SyntaxError { kind, span: forest.span(place) }
}

fn call(b: &mut Builder, row: &Word, operands: &[Id]) -> Result<Id, BuildError> {
    if let Meaning::Op(op) = row.meaning {
        return b.apply(op, operands);
    }
    // a test sees to it that every formula of the table can be read
    let Some(track) = super::words::read_formula(row) else { return Err(BuildError::Empty) };
    put(b, track, |name| operands.get(row.operands.iter().position(|own| *own == name)?).copied())
}

/// A track in another, with the terms of these names for its free parameters.
pub(super) fn put(b: &mut Builder, track: &Track, of: impl Fn(&str) -> Option<Id>) -> Result<Id, BuildError> {
    let mut new: Vec<Id> = Vec::with_capacity(track.nodes().len());
    for node in track.nodes() {
        let children: Vec<Id> = node.children().iter().map(|child| new[child.index()]).collect();
        new.push(match node {
            Node::Free(p) if let Some(id) = of(p.name()) => id,
            node => crate::head::Head::of(node).build(b, &children)?,
        });
    }
    Ok(new[track.root().index()])
}

/// Truth values joined; each is 0 or 1.
fn join(b: &mut Builder, truths: &[Id], word: &str) -> Result<Id, BuildError> {
    let one = b.constant(1.0)?;
    let (op, none) = match word {
        "not" => return b.apply(Op::SUB, &[one, *truths.first().unwrap_or(&one)]),
        "or" => (Op::MAX, b.constant(0.0)?),
        _ => (Op::MIN, one),
    };
    let mut truths = truths.iter().copied();
    let first = truths.next().unwrap_or(none);
    truths.try_fold(first, |all, truth| b.apply(op, &[all, truth]))
}

/// Whether every number compares so with the next one; with every later one where all must differ.
fn compare(b: &mut Builder, word: &str, numbers: &[Id]) -> Result<Id, BuildError> {
    let mut truths = Vec::new();
    for (k, x) in numbers.iter().enumerate() {
        let reach = if word == "!=" { numbers.len() } else { k + 2 };
        for y in numbers.iter().take(reach).skip(k + 1) {
            let mut at_most = |x: &Id, y: &Id| b.apply(Op::STEP, &[*x, *y]);
            let truth = match word {
                "<=" => at_most(x, y)?,
                ">=" => at_most(y, x)?,
                "<" => {
                    let other = at_most(y, x)?;
                    join(b, &[other], "not")?
                }
                ">" => {
                    let other = at_most(x, y)?;
                    join(b, &[other], "not")?
                }
                _ => {
                    let both = [at_most(x, y)?, at_most(y, x)?];
                    let equal = join(b, &both, "and")?;
                    if word == "==" { equal } else { join(b, &[equal], "not")? }
                }
            };
            truths.push(truth);
        }
    }
    join(b, &truths, "and")
}
