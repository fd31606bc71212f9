//! What every solver of the registry promises, whatever the problem does.

// hand-written models, a judge of their own: accuracy is at stake here, bits are not
#![allow(clippy::disallowed_methods)]

mod faults;
mod problems;
mod promises;
mod second;
