//! The program as people run it.

mod browser;
mod cli;
mod features;
mod folder;
mod fpcore;
mod readme;
mod rewriting;
mod study;
