//! The command line of keyfit.

fn main() {}
