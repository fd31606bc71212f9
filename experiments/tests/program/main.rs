//! The program as people run it.

mod cli;
mod folder;
mod fpcore;
mod readme;
mod rewriting;
mod study;
