//! Parameters that occur only in combination, seen from the tracks alone.
//!
//! Where two parameters reach the values only through a·b, no data can tell them apart. [`combinations`] finds them: a
//! sum or product, taken n-ary, that holds parameters, or powers of them, which occur nowhere else. Such a node is, together,
//! one unknown to all that stands above it, and so may be in a combination itself. What is found is an exact statement about the real
//! functions; what is not found may be undetermined still. Sums and products of more than 64 parts are looked at in pieces.
//!
//! ```
//! use keyfit_ir::Track;
//! use keyfit_rewrite::identify::combinations;
//! let track = Track::parse("?a=1 * t * ?b=2 + exp(?c=1 - ?d=1)*?e=2")?;
//! let found: Vec<String> = combinations([&track]).iter().map(ToString::to_string).collect();
//! assert_eq!(found, ["a and b occur only as a*b: only the product is determined",
//!     "c, d and e occur only as exp(c - d)*e: only the product is determined"]);
//! # Ok::<(), keyfit_ir::SyntaxError>(())
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use keyfit_ir::{Op, Track};

use crate::bank::{Bank, Place};
use crate::facts::Bounds;
use crate::head::Head;

/// A combination longer than this many characters is told by its parameters only.
const LONGEST: usize = 80;

/// What a combination is, at its outermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// a·b, a÷b and the like.
    Product,
    /// a + b, a − b and the like.
    Sum,
    /// One of another operation, such as hypot(a, b).
    Function,
}

/// Parameters that occur only through one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combination {
    /// The parameters, at least two, by name.
    pub parameters: Vec<String>,
    /// What they occur as, as a formula of their names.
    pub only_as: String,
    /// What that is.
    pub kind: Kind,
}

impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (last, rest) = match self.parameters.split_last() {
            Some((last, rest)) => (last.as_str(), rest.join(", ")),
            None => ("", String::new()),
        };
        let kind = match self.kind {
            Kind::Product if self.only_as.contains('/') && !self.only_as.contains('*') => "quotient",
            Kind::Product => "product",
            Kind::Sum if self.only_as.contains(" - ") && !self.only_as.contains(" + ") => "difference",
            Kind::Sum => "sum",
            Kind::Function => "value",
        };
        write!(f, "{rest} and {last} occur only as {}: only the {kind} is determined", self.only_as)
    }
}

/// The combinations through which alone parameters reach the tracks' values, each as large as can be; by their parameters.
pub fn combinations<'t>(tracks: impl IntoIterator<Item = &'t Track>) -> Vec<Combination> {
    let mut bank = Bank::new(&Bounds::new());
    let roots: Vec<Place> =
        tracks.into_iter().filter_map(|track| bank.graft(track).last().copied()).collect();
    let normal = Normal::of(&bank, &roots);
    let texts = normal.texts();
    let mut found: Vec<(BTreeSet<usize>, Kind, Option<String>)> = Vec::new();
    for (node, part) in normal.parts.iter().enumerate() {
        let inside = &normal.inside[node];
        if inside.len() > 1 && !normal.varies[node] {
            found.push((inside.clone(), part.kind(), texts[node].clone()));
        }
    }
    found.extend(normal.tied(&texts));
    // the largest first, so that what is part of another is seen to be
    found.sort_by_key(|one| std::cmp::Reverse(one.0.len()));
    let mut kept: Vec<(BTreeSet<usize>, Kind, Option<String>)> = Vec::new();
    for one in found {
        if !kept.iter().any(|other| one.0.is_subset(&other.0)) {
            kept.push(one);
        }
    }
    let mut combinations: Vec<Combination> = kept
        .into_iter()
        .map(|(nodes, kind, text)| {
            let mut parameters: Vec<String> = nodes.iter().filter_map(|k| normal.name(*k)).collect();
            parameters.sort();
            Combination { parameters, only_as: text.unwrap_or_else(|| "one number".into()), kind }
        })
        .collect();
    combinations.sort_by(|a, b| a.parameters.cmp(&b.parameters));
    combinations
}

/// A node in which sums and products are n-ary, and numbers stand beside their terms and factors.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    /// Each term with its number, and a number more.
    Sum(BTreeMap<usize, f64>, f64),
    /// Each factor with its power.
    Product(BTreeMap<usize, f64>),
    Other(Head, Vec<usize>),
}

impl Part {
    fn kind(&self) -> Kind {
        match self {
            Part::Sum(..) => Kind::Sum,
            Part::Product(_) => Kind::Product,
            Part::Other(..) => Kind::Function,
        }
    }

    fn children(&self) -> Vec<usize> {
        match self {
            Part::Sum(parts, _) | Part::Product(parts) => parts.keys().copied().collect(),
            Part::Other(_, children) => children.clone(),
        }
    }

    /// The terms' or factors' numbers.
    fn weights(&self) -> Option<(Kind, &BTreeMap<usize, f64>)> {
        match self {
            Part::Sum(parts, _) => Some((Kind::Sum, parts)),
            Part::Product(parts) => Some((Kind::Product, parts)),
            Part::Other(..) => None,
        }
    }
}

/// A number times a node.
#[derive(Clone, Copy, Debug)]
struct Scaled(f64, usize);

/// Nodes with at most so many parts are merged into what stands above them though others use them too.
const SMALL: usize = 8;
/// Nodes of more parts stay apart, so that a long chain takes no longer than its length asks for.
const LARGE: usize = 64;

struct Normal {
    parts: Vec<Part>,
    varies: Vec<bool>,
    /// For each node the parameters that reach the values through it alone.
    inside: Vec<BTreeSet<usize>>,
    /// Whether it is part of a track still, and not merged into what stands above it.
    reached: Vec<bool>,
}

/// The nodes as they are made.
#[derive(Default)]
struct Maker {
    parts: Vec<Part>,
    known: HashMap<String, usize>,
}

impl Maker {
    fn node(&mut self, part: Part) -> usize {
        // maps of doubles have no hash; their text tells them apart to the last bit
        let key = format!("{part:?}");
        *self.known.entry(key).or_insert_with(|| {
            self.parts.push(part);
            self.parts.len() - 1
        })
    }

    fn number(&self, Scaled(c, id): Scaled) -> Option<f64> {
        matches!(&self.parts[id], Part::Product(factors) if factors.is_empty()).then_some(c)
    }

    /// c₀·x₀ + c₁·x₁, by the first term's number.
    fn sum(&mut self, terms: [Scaled; 2], shared: impl Fn(usize) -> bool) -> Scaled {
        let (mut sum, mut constant) = (BTreeMap::new(), 0.0);
        for term in terms {
            let Scaled(c, id) = term;
            match (self.number(term), &self.parts[id]) {
                (Some(x), _) => constant += x,
                (None, Part::Sum(inner, more)) if inner.len() <= if shared(id) { SMALL } else { LARGE } => {
                    inner.iter().for_each(|(id, x)| *sum.entry(*id).or_insert(0.0) += c * x);
                    constant += c * more;
                }
                (None, _) => *sum.entry(id).or_insert(0.0) += c,
            }
        }
        sum.retain(|_, c| *c != 0.0);
        let Some((&first, &c)) = sum.first_key_value() else { return Scaled(constant, self.one()) };
        if sum.len() == 1 && constant == 0.0 {
            return Scaled(c, first);
        }
        sum.values_mut().for_each(|x| *x /= c);
        Scaled(c, self.node(Part::Sum(sum, constant / c)))
    }

    /// The product of powers.
    fn product(&mut self, factors: [(Scaled, f64); 2], shared: impl Fn(usize) -> bool) -> Scaled {
        let (mut product, mut scale) = (BTreeMap::new(), 1.0);
        for (Scaled(c, id), power) in factors {
            scale *= if power < 0.0 { 1.0 / c } else { c };
            match &self.parts[id] {
                Part::Product(inner) if inner.len() <= if shared(id) { SMALL } else { LARGE } => {
                    inner.iter().for_each(|(id, x)| *product.entry(*id).or_insert(0.0) += power * x);
                }
                _ => *product.entry(id).or_insert(0.0) += power,
            }
        }
        product.retain(|_, power| *power != 0.0);
        let single = product.first_key_value().filter(|(_, power)| product.len() == 1 && **power == 1.0);
        match single {
            Some((id, _)) => Scaled(scale, *id),
            None => Scaled(scale, self.node(Part::Product(product))),
        }
    }

    fn one(&mut self) -> usize {
        self.node(Part::Product(BTreeMap::new()))
    }

    /// A scaled node as a node.
    fn whole(&mut self, Scaled(c, id): Scaled) -> usize {
        if c == 1.0 { id } else { self.node(Part::Sum([(id, c)].into(), 0.0)) }
    }
}

impl Normal {
    fn of(bank: &Bank, roots: &[Place]) -> Normal {
        let mut users = vec![0_usize; bank.cells().len()];
        bank.cells()
            .iter()
            .flat_map(|cell| cell.children.iter())
            .for_each(|child| users[*child as usize] += 1);
        roots.iter().for_each(|root| users[*root as usize] += 1);
        let mut maker = Maker::default();
        let mut now: Vec<Scaled> = Vec::with_capacity(users.len());
        // the nodes that more than one uses
        let mut shared: BTreeSet<usize> = BTreeSet::new();
        for (place, cell) in bank.cells().iter().enumerate() {
            let child = |k: usize| cell.children.get(k).map(|child| now[*child as usize]);
            let is_shared = |id: usize| shared.contains(&id);
            let scaled = match (&cell.head, child(0), child(1)) {
                (Head::Constant(x), ..) if x.value().is_finite() => Scaled(x.value(), maker.one()),
                (Head::Apply(Op::NEG), Some(Scaled(c, id)), _) => Scaled(-c, id),
                (Head::Apply(Op::ADD), Some(a), Some(b)) => maker.sum([a, b], is_shared),
                (Head::Apply(Op::SUB), Some(a), Some(Scaled(c, id))) => {
                    maker.sum([a, Scaled(-c, id)], is_shared)
                }
                (Head::Apply(Op::MUL), Some(a), Some(b)) => maker.product([(a, 1.0), (b, 1.0)], is_shared),
                (Head::Apply(Op::DIV), Some(a), Some(b)) => maker.product([(a, 1.0), (b, -1.0)], is_shared),
                (head, ..) => {
                    let children = cell.children.iter().map(|child| maker.whole(now[*child as usize]));
                    let children: Vec<usize> = children.collect();
                    Scaled(1.0, maker.node(Part::Other(head.clone(), children)))
                }
            };
            if users[place] > 1 {
                shared.insert(scaled.1);
            }
            now.push(scaled);
        }
        let roots: Vec<usize> = roots.iter().map(|root| now[*root as usize].1).collect();
        let parts = maker.parts;
        let mut varies: Vec<bool> = Vec::with_capacity(parts.len());
        for part in &parts {
            let clock = matches!(part, Part::Other(Head::Clock, _));
            varies.push(clock || part.children().iter().any(|child| varies[*child]));
        }
        let (inside, reached) = inside(&parts, &varies, &roots);
        Normal { parts, varies, inside, reached }
    }

    fn name(&self, node: usize) -> Option<String> {
        match &self.parts[node] {
            Part::Other(Head::Free(p), _) => Some(p.name().to_owned()),
            _ => None,
        }
    }

    /// Terms, or factors, that occur in the same sums, or products, in the same proportions, and nowhere else.
    fn tied(&self, texts: &[Option<String>]) -> Vec<(BTreeSet<usize>, Kind, Option<String>)> {
        // for each node where it occurs and with which number; None where it is neither term nor factor
        let mut uses: Vec<Option<Vec<(usize, Kind, f64)>>> = vec![Some(Vec::new()); self.parts.len()];
        for (node, part) in self.parts.iter().enumerate().filter(|(node, _)| self.reached[*node]) {
            match part.weights() {
                Some((kind, weights)) => weights.iter().for_each(|(child, x)| {
                    uses[*child].iter_mut().for_each(|uses| uses.push((node, kind, *x)));
                }),
                None => part.children().iter().for_each(|child| uses[*child] = None),
            }
        }
        let mut groups: BTreeMap<Vec<(usize, Kind, u64)>, Vec<usize>> = BTreeMap::new();
        for (node, uses) in uses.iter().enumerate() {
            let Some([first, ..]) = uses.as_deref() else { continue };
            if self.varies[node]
                || self.inside[node].is_empty()
                || uses.iter().flatten().any(|(_, kind, _)| *kind != first.1)
            {
                continue;
            }
            let key =
                uses.iter().flatten().map(|(at, kind, x)| (*at, *kind, (x / first.2).to_bits())).collect();
            groups.entry(key).or_default().push(node);
        }
        groups
            .into_iter()
            .filter(|(_, nodes)| nodes.len() > 1)
            .map(|(key, nodes)| {
                let kind = key.first().map_or(Kind::Function, |(_, kind, _)| *kind);
                let weight = |node: &usize| {
                    uses[*node].as_ref().and_then(|uses| uses.first()).map_or(1.0, |use_| use_.2)
                };
                // the first stands as it is, the smallest number is 1
                let least = nodes.iter().map(|node| weight(node).abs()).fold(f64::INFINITY, f64::min);
                let scale = least.copysign(nodes.first().map_or(1.0, weight));
                let weighted: BTreeMap<usize, f64> =
                    nodes.iter().map(|node| (*node, weight(node) / scale)).collect();
                let text = match kind {
                    Kind::Sum => sum_text(&weighted, 0.0, texts, &self.parts),
                    _ => product_text(&weighted, texts, &self.parts),
                };
                (nodes.iter().flat_map(|node| self.inside[*node].iter().copied()).collect(), kind, text)
            })
            .collect()
    }

    /// Each node as a formula of names; `None` where that is long.
    fn texts(&self) -> Vec<Option<String>> {
        let mut texts: Vec<Option<String>> = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let text = match part {
                Part::Sum(terms, more) => sum_text(terms, *more, &texts, &self.parts),
                Part::Product(factors) => product_text(factors, &texts, &self.parts),
                Part::Other(Head::Free(p), _) => Some(p.name().to_owned()),
                Part::Other(Head::Clock, _) => Some("t".into()),
                Part::Other(Head::Apply(op), children) => {
                    let operands: Option<Vec<&str>> =
                        children.iter().map(|child| texts[*child].as_deref()).collect();
                    operands.map(|operands| format!("{}({})", op.word(), operands.join(", ")))
                }
                Part::Other(..) => None,
            };
            texts.push(text.filter(|text| text.chars().count() <= LONGEST));
        }
        texts
    }
}

/// For each node the parameters all of whose ways to the roots lead through it: those that it dominates, seen from the roots;
/// and whether a root reaches it.
fn inside(parts: &[Part], varies: &[bool], roots: &[usize]) -> (Vec<BTreeSet<usize>>, Vec<bool>) {
    let top = parts.len();
    // the nearest node through which all ways lead, and how far it is from the top
    let mut above: Vec<Option<usize>> = vec![None; top + 1];
    let mut depth = vec![0_usize; top + 1];
    let meet = |above: &[Option<usize>], depth: &[usize], mut a: usize, mut b: usize| {
        while a != b {
            let lower = if depth[a] >= depth[b] { &mut a } else { &mut b };
            *lower = above[*lower].unwrap_or(top);
        }
        a
    };
    roots.iter().for_each(|root| above[*root] = Some(top));
    for node in (0..top).rev() {
        let Some(own) = above[node] else { continue };
        depth[node] = depth[own] + 1;
        for child in parts[node].children() {
            // what varies with time is no one number, whatever leads through it
            above[child] = match above[child] {
                _ if varies[child] => Some(top),
                Some(other) => Some(meet(&above, &depth, other, node)),
                None => Some(node),
            };
        }
    }
    let mut inside = vec![BTreeSet::new(); top];
    for (node, part) in parts.iter().enumerate() {
        if !matches!(part, Part::Other(Head::Free(_), _)) || above[node].is_none() {
            continue;
        }
        inside[node].insert(node);
        let mut at = above[node];
        // a parameter is looked for in what is near: a combination of hundreds of nodes tells nobody anything
        for _ in 0..NEAR {
            let Some(up) = at.filter(|up| *up != top) else { break };
            inside[up].insert(node);
            at = above[up];
        }
    }
    (inside, above.iter().map(Option::is_some).collect())
}

/// How far up a combination is looked for.
const NEAR: usize = 64;

fn sum_text(
    terms: &BTreeMap<usize, f64>,
    more: f64,
    texts: &[Option<String>],
    parts: &[Part],
) -> Option<String> {
    let mut text = String::new();
    let mut put = |c: f64, term: Option<&str>| {
        let sign = match (text.is_empty(), c < 0.0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        let number = match (term, c.abs()) {
            (Some(_), 1.0) => String::new(),
            (Some(_), c) => format!("{c:?}*"),
            (None, c) => format!("{c:?}"),
        };
        text.push_str(&format!("{sign}{number}{}", term.unwrap_or_default()));
    };
    for (id, c) in terms {
        let own = texts.get(*id)?.as_deref()?;
        let wrapped = if matches!(parts[*id], Part::Sum(..)) { format!("({own})") } else { own.to_owned() };
        put(*c, Some(&wrapped));
    }
    if more != 0.0 {
        put(more, None);
    }
    Some(text)
}

fn product_text(factors: &BTreeMap<usize, f64>, texts: &[Option<String>], parts: &[Part]) -> Option<String> {
    let (mut over, mut under) = (Vec::new(), Vec::new());
    for (id, power) in factors {
        let own = texts.get(*id)?.as_deref()?;
        let own = if matches!(parts[*id], Part::Other(..)) { own.to_owned() } else { format!("({own})") };
        let own = if power.abs() == 1.0 { own } else { format!("{own}^{:?}", power.abs()) };
        if *power < 0.0 { under.push(own) } else { over.push(own) }
    }
    let over = if over.is_empty() { "1".into() } else { over.join("*") };
    Some(under.iter().fold(over, |text, factor| format!("{text}/{factor}")))
}
