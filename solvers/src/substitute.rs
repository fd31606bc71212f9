//! Tracks in the place of free parameters.

use keyfit_ir::{BuildError, Builder, Id, Node, Track};

/// Free parameters become the tracks that `with` gives for their names; those it gives `None` for stay free.
///
/// ```
/// use keyfit_ir::Track;
/// let track = Track::parse("?a=1*t + ?b=2")?;
/// let double = Track::parse("2*?a=1")?;
/// let tied = keyfit_solvers::substitute(&track, |name| (name == "b").then_some(&double))?;
/// assert_eq!(tied.describe(), "ADD(MUL(?a=1.0, t), MUL(2.0, ?a=1.0))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BuildError::TwoValues`] where the tracks disagree about a parameter's start, the error of
/// [`Builder::insert_keyed`] where a key's value would vary with time, and [`BuildError::TooLarge`].
pub fn substitute<'t>(track: &Track, with: impl Fn(&str) -> Option<&'t Track>) -> Result<Track, BuildError> {
    let mut builder = Builder::new();
    let mut new: Vec<Id> = Vec::with_capacity(track.nodes().len());
    for node in track.nodes() {
        let id = match node {
            Node::Constant(x) => builder.constant(x.value())?,
            Node::Clock => builder.clock()?,
            Node::Free(p) => match with(p.name()) {
                Some(track) => builder.graft(track)?,
                None => builder.free(p.as_ref().clone())?,
            },
            Node::Apply(op, operands) => {
                let operands: Vec<Id> = operands[..op.arity()].iter().map(|id| new[id.index()]).collect();
                builder.apply(*op, &operands)?
            }
            Node::Keyed(keyed) => {
                let keyed = keyed.try_map(|id| Ok::<Id, BuildError>(new[id.index()]))?;
                builder.insert_keyed(keyed)?
            }
        };
        new.push(id);
    }
    builder.finish(new[track.root().index()])
}
