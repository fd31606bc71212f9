//! The suites are embedded by a macro that does not tell cargo what it reads.

fn main() {
    println!("cargo:rerun-if-changed=suites");
}
