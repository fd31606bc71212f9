//! Tracks as text that reads back to the same track.
//!
//! Operations print as calls of their names, `ADD(MUL(t, ?gain=1.0), ?bias=0.0)`; numbers with the fewest digits that
//! read back to the same bits. A keyed track prints as its keys behind its shape, `linear[0.0=0.0 4.0=?peak=1.0]`, or, where
//! its segments differ, as `keys[0.0=1.0 sine-in 1.0=2.0 hold 2.0=3.0]`; with `(clock)` behind it when it is not read at
//! `t`. In braces a key says how TCB segments pass it (`1.0=5.0{t=0.5 c=0.25 b=-0.5}`; what is 0 is left out) and with
//! which tangents cubic ones do (`1.0=5.0{in=-3.0 out=?slope=2.0}`). A subterm that is used more than once and is not tiny is printed once, as a
//! definition in front: `s1 := SIN(…); MUL(s1, s1)`; so the text is never longer than a constant times the array.

use std::collections::HashSet;
use std::fmt::Write;

use crate::keyed::Keyed;
use crate::keyed::shape::{Shape, Tcb};
use crate::text::MIXED;
use crate::track::{Children, Id, Node, Track};

/// A shared subterm that prints as at most this many nodes is repeated rather than named; a long name counts as several.
const TINY: usize = 8;
/// So many letters of a name are as long as a node.
const LETTERS: usize = 16;

enum Work {
    Term(Id),
    Text(&'static str),
    Written(String),
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
                Work::Written(s) => {
                    text.push_str(&s);
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
                    let mut parts = Vec::new();
                    keyed.write(|item| {
                        parts.push(match item {
                            Ok(words) => Work::Written(words),
                            Err(id) => Work::Term(*id),
                        })
                    });
                    work.extend(parts.into_iter().rev());
                    Ok(())
                }
            };
        }
    }
}

impl<C> Keyed<C> {
    /// Gives the key list's text to `put` piece by piece: words, and the children where their texts belong.
    fn write<'a>(&'a self, mut put: impl FnMut(Result<String, &'a C>)) {
        let names: Vec<Shape> = self.shapes().iter().map(Shape::name).collect();
        let first = names.first().copied().unwrap_or(Shape::Linear);
        let mixed = names.iter().any(|name| *name != first);
        put(Ok(if mixed { format!("{MIXED}[") } else { format!("{first}[") }));
        let mut arrive = None;
        for (k, key) in self.keys().iter().enumerate() {
            put(Ok(format!("{}{:?}=", if k > 0 { " " } else { "" }, key.time())));
            put(Err(&key.value));
            let leave = self.shapes().get(k).and_then(Shape::tangents);
            let mut open = "{";
            for (name, x) in Tcb::NAMES.iter().zip(self.tcb(k).values()).filter(|(_, x)| *x != 0.0) {
                put(Ok(format!("{open}{name}={x:?}")));
                open = " ";
            }
            for (name, tangent) in [("in", arrive), ("out", leave.map(|[leave, _]| leave))] {
                let Some(tangent) = tangent else { continue };
                put(Ok(format!("{open}{name}=")));
                put(Err(tangent));
                open = " ";
            }
            if open == " " {
                put(Ok("}".into()));
            }
            if let Some(name) = names.get(k).filter(|_| mixed) {
                put(Ok(format!(" {name}")));
            }
            arrive = leave.map(|[_, arrive]| arrive);
        }
        put(Ok("]".into()));
    }

    /// The key list as `describe` writes it, with a dot for each child.
    pub fn outline(&self) -> String {
        let mut text = String::new();
        self.write(|item| text.push_str(&item.unwrap_or_else(|_| "·".into())));
        text
    }
}
