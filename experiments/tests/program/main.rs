//! The program as people run it.

mod browser;
mod cli;
mod features;
mod folder;
mod fpcore;
mod orders;
mod readme;
mod rewriting;
mod stops;
mod study;
