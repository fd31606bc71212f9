//! What can be said of a study's runs.
//!
//! Pure functions of numbers, each with its source. No run is left out: what does not reach a target costs infinitely much
//! there, and every statistic of costs is one of ranks or shares that takes infinity as it is. Starts of one problem are not
//! independent of each other, so intervals and tests take the problem as what was sampled. Sums run in a fixed order and
//! transcendental functions are correctly rounded: the same runs give the same bits everywhere.

pub mod interval;
pub mod order;
pub mod paired;
pub mod profile;
pub mod share;
pub mod special;
pub mod table;

pub use interval::Interval;
pub use profile::{Costs, Profile};
pub use table::{Summary, Table};
