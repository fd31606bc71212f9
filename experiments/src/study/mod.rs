//! Studies: every solver on every start of every problem, run so that nothing is lost, and what can be said of it.
//!
//! A [study file](mod@file) says what is run; [`Study`] is what was read, with its runs numbered; [`run`](run::run) carries them out and
//! keeps them in a [`Store`]; [`stats`] has what can be said of them, and [`report`](report::report) says it.

pub mod file;
pub mod folders;
pub mod plan;
pub mod report;
pub mod run;
pub mod stats;
pub mod store;
pub mod strd;
pub mod work;

pub use plan::{Shard, Study};
pub use store::{Record, Store};
