//! Tracks as text that reads back to the same track.
//!
//! Operations print as calls of their names, `ADD(MUL(t, ?gain=1.0), ?bias=0.0)`; a keyed track as
//! `linear[0.0=0.0 4.0=?peak=1.0]`, with `(clock)` behind it when it is not read at `t`; numbers with the fewest
//! digits that read back to the same bits. A subterm that is used more than once and is not tiny is printed once, as a
//! definition in front: `s1 := SIN(…); MUL(s1, s1)`; so the text is never longer than a constant times the array.

use std::collections::HashSet;
use std::fmt::Write;

use crate::track::{Children, Id, Node, Track};

/// A shared subterm that prints as at most this many nodes is repeated rather than named; a long name counts as several.
const TINY: usize = 8;
/// So many letters of a name are as long as a node.
const LETTERS: usize = 16;

enum Work {
    Term(Id),
    Text(&'static str),
    Time(f64),
}

impl Track {
    /// The track as text; see the module's documentation. [`Track::parse`] reads it back.
    pub fn describe(&self) -> String {
        let mut uses = vec![0_u32; self.nodes().len()];
        for (_, node) in self.iter() {
            node.children().iter().for_each(|child| uses[child.index()] += 1);
        }
        // names[i]: the number of the definition of node i, 0 if it has none
        let mut names = vec![0_usize; self.nodes().len()];
        let mut size = vec![1_usize; self.nodes().len()];
        let parameters: HashSet<&str> = self.free_parameters().iter().map(|p| p.name()).collect();
        let mut text = String::new();
        let mut defined = 0;
        for (id, node) in self.iter() {
            let i = id.index();
            let own = if let Node::Free(p) = node { 1 + p.name().len() / LETTERS } else { 1 };
            size[i] = own + node.children().iter().map(|child| size[child.index()]).sum::<usize>();
            if uses[i] > 1 && size[i] > TINY {
                // a name that a parameter has would be ambiguous where starts are given apart
                defined += 1;
                while parameters.contains(format!("s{defined}").as_str()) {
                    defined += 1;
                }
                let _ = write!(text, "s{defined} := ");
                self.write_term(id, &names, &mut text);
                text.push_str("; ");
                (names[i], size[i]) = (defined, 1);
            }
        }
        self.write_term(self.root(), &names, &mut text);
        text
    }

    fn write_term(&self, root: Id, names: &[usize], text: &mut String) {
        let mut work = vec![Work::Term(root)];
        while let Some(item) = work.pop() {
            let id = match item {
                Work::Text(s) => {
                    text.push_str(s);
                    continue;
                }
                Work::Time(x) => {
                    let _ = write!(text, "{x:?}=");
                    continue;
                }
                Work::Term(id) => id,
            };
            // writing to a String cannot fail
            let _ = match &self.nodes()[id.index()] {
                _ if names[id.index()] > 0 => write!(text, "s{}", names[id.index()]),
                Node::Constant(x) => write!(text, "{x:?}"),
                Node::Clock => write!(text, "t"),
                Node::Free(p) => write!(text, "?{}={:?}", p.name(), p.start()),
                node @ Node::Apply(op, _) => {
                    work.push(Work::Text(")"));
                    if let Children::Operands(ids) = node.children() {
                        for (k, &operand) in ids.iter().enumerate().rev() {
                            work.push(Work::Term(operand));
                            if k > 0 {
                                work.push(Work::Text(", "));
                            }
                        }
                    }
                    write!(text, "{}(", op.name())
                }
                Node::Keyed(keyed) => {
                    if !matches!(self.node(keyed.clock()), Some(Node::Clock)) {
                        work.extend([Work::Text(")"), Work::Term(keyed.clock()), Work::Text("(")]);
                    }
                    work.push(Work::Text("]"));
                    for (k, key) in keyed.keys().iter().enumerate().rev() {
                        work.extend([Work::Term(key.value), Work::Time(key.time())]);
                        if k > 0 {
                            work.push(Work::Text(" "));
                        }
                    }
                    write!(text, "linear[")
                }
            };
        }
    }
}
