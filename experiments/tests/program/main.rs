//! The program as people run it.

mod cli;
mod folder;
mod readme;
mod rewriting;
mod study;
