//! Which parameters a problem is linear in, read off its tracks.
//!
//! Two parameters *meet* where an operation may give them a second derivative that is not zero: a product of what depends on the
//! one and what depends on the other, or any operation that is not linear and sees both. That is decided by the tracks alone,
//! not by numbers, so it holds everywhere; what cancels (`a*b - a*b`) counts as met.

use keyfit_ir::{Keyed, Node, Op, Shape, Track};

use super::FitProblem;

/// A set of parameters, a bit each.
#[derive(Clone, Default)]
struct Set(Vec<u64>);

impl Set {
    fn of(index: usize) -> Set {
        let mut bits = vec![0; index / 64 + 1];
        bits[index / 64] = 1 << (index % 64);
        Set(bits)
    }

    fn add(&mut self, other: &Set) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    fn union<'a>(sets: impl IntoIterator<Item = &'a Set>) -> Set {
        let mut all = Set::default();
        sets.into_iter().for_each(|set| all.add(set));
        all
    }

    fn has(&self, index: usize) -> bool {
        self.0.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    fn members(&self) -> impl Iterator<Item = usize> {
        (0..64 * self.0.len()).filter(|index| self.has(*index))
    }
}

/// For each parameter, those that it meets.
struct Meetings(Vec<Set>);

impl Meetings {
    fn note(&mut self, a: &Set, b: &Set) {
        for (one, other) in [(a, b), (b, a)] {
            if other.is_empty() {
                continue;
            }
            for index in one.members() {
                if let Some(met) = self.0.get_mut(index) {
                    met.add(other);
                }
            }
        }
    }

    /// What an operation makes meet, given what its operands depend on.
    fn apply(&mut self, op: Op, operands: &[&Set]) {
        match (op, operands) {
            (Op::ADD | Op::SUB | Op::NEG, _) => {}
            (Op::MUL, [a, b]) => self.note(a, b),
            (Op::DIV, [a, b]) => {
                self.note(a, b);
                self.note(b, b);
            }
            (Op::MIX, [a, b, u]) => self.note(&Set::union([*a, *b]), u),
            (Op::SELECT, [c, a, b]) => {
                self.note(&Set::union([*c, *a, *b]), c);
            }
            _ => {
                let all = Set::union(operands.iter().copied());
                self.note(&all, &all);
            }
        }
    }

    /// A keyed track is linear in its values and tangents, but for the monotone shape, which compares them.
    fn keyed(&mut self, keyed: &Keyed, depends: &[Set]) {
        let set = |id: &keyfit_ir::Id| depends.get(id.index());
        let all = Set::union(keyed.children().filter_map(set));
        if let Some(clock) = set(&keyed.clock()) {
            self.note(clock, &all);
        }
        if keyed.shapes().iter().any(|shape| shape.name() == Shape::Monotone) {
            self.note(&all, &all);
        }
    }

    /// `columns[k]` is the problem's name for the track's k-th parameter.
    fn track(&mut self, track: &Track, columns: &[usize]) {
        let mut columns = columns.iter();
        let mut depends: Vec<Set> = Vec::with_capacity(track.nodes().len());
        for node in track.nodes() {
            let set = match node {
                Node::Constant(_) | Node::Clock => Set::default(),
                Node::Free(_) => columns.next().map_or_else(Set::default, |column| Set::of(*column)),
                Node::Apply(op, operands) => {
                    let operands: Vec<&Set> =
                        operands[..op.arity()].iter().filter_map(|id| depends.get(id.index())).collect();
                    self.apply(*op, &operands);
                    Set::union(operands)
                }
                Node::Keyed(keyed) => {
                    self.keyed(keyed, &depends);
                    Set::union(keyed.children().filter_map(|id| depends.get(id.index())))
                }
            };
            depends.push(set);
        }
    }
}

/// Parameters no two of which meet, none with itself: those that meet the fewest others first.
pub(super) fn independent(problem: &FitProblem) -> Vec<usize> {
    let mut meetings = Meetings(vec![Set::default(); problem.parameters.len()]);
    for p in problem.channels.iter().filter(|p| !p.targets.is_empty()) {
        meetings.track(&p.channel.track, &p.columns);
    }
    let met = |index: usize| meetings.0[index].members().count();
    let mut candidates: Vec<usize> =
        (0..meetings.0.len()).filter(|index| !meetings.0[*index].has(*index)).collect();
    candidates.sort_by_key(|index| (met(*index), *index));
    let mut linear = Vec::new();
    for index in candidates {
        if linear.iter().all(|other: &usize| !meetings.0[index].has(*other)) {
            linear.push(index);
        }
    }
    linear.sort_unstable();
    linear
}

#[cfg(test)]
mod tests {
    use keyfit_ir::{Channel, Target, Track};

    use super::*;

    fn linear(formula: &str) -> String {
        let track = Track::parse(formula).unwrap();
        let targets = vec![Target::new(0.5, 1.0)];
        let problem = FitProblem::new(vec![Channel { name: "y".into(), track, targets }], None).unwrap();
        let names: Vec<&str> =
            independent(&problem).into_iter().map(|k| problem.free_parameters()[k].name()).collect();
        names.join(" ")
    }

    #[test]
    fn linear_parameters_are_read_off_the_track() {
        for (formula, names) in [
            ("?a=1 + ?b=1*t", "a b"),
            ("?a=1*exp(-?b=1*t) + ?c=1", "a c"),
            ("?a=1*?b=1*t", "a"),
            ("?a=1*?b=1 + ?b=1*?c=1", "a c"),
            ("?a=1*?a=1", ""),
            ("t/?a=1 + ?b=1/t", "b"),
            ("(?a=1 + ?b=1*t)/(1 + ?c=1*t)", "a b"),
            ("abs(?a=1) + max(?b=1, t) + floor(?c=1) + ?d=1", "d"),
            ("mix(?a=0, ?b=1, ?c=0.5)", "a b"),
            ("select(?c=1, ?a=1, ?b=2)", "a b"),
            ("linear[0=?a=0 1=?b=1](t - ?c=0)", "a b"),
            ("monotone[0=?a=0 1=?b=1 2=4] + ?c=1", "c"),
            ("cubic[0=5{out=?m=0} 1=5{in=?n=0}]", "m n"),
            ("tcb[0=0 1=?p=0.2 2=0]*sin(?w=1*t)", "p"),
            ("?a=1^1", ""),
        ] {
            assert_eq!(linear(formula), names, "{formula}");
        }
    }
}
