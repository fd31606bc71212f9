//! The program `keyfit`: results to stdout, everything else to stderr.

mod commands;
mod data;
mod failure;
mod model;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Say where a value must be, and when; keyfit solves for the numbers.
#[derive(Parser)]
#[command(version, arg_required_else_help = true, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 honest negative (did not converge), 2 bad usage or bad input, 3 refused, \
                          70 a bug in keyfit.";

#[derive(Subcommand)]
enum Command {
    /// Fit a scene's or formula's free parameters to targets
    Fit(commands::fit::Fit),
    /// Print the values of a scene's or formula's channels at many times
    Sample(commands::sample::Sample),
    /// Print a scene or formula in keyfit's own notation
    Describe(commands::describe::Describe),
    /// Print the derivatives of a scene's or formula's channels, as tracks
    Derive(commands::derive::Derive),
    /// Print a cheaper scene or formula that has the same bits everywhere, and why
    Simplify(commands::simplify::Simplify),
    /// Print a form of a scene's or formula's channels that is more accurate, and other bits
    Improve(commands::improve::Improve),
    /// Print a scene's or formula's channels as functions of GLSL
    Glsl(commands::glsl::Glsl),
    /// Lay scene files in RectSL out in the usual way
    Fmt(commands::fmt::Fmt),
    /// Draw a scene, or its channels over time, as SVG or PNG
    Plot(commands::plot::Plot),
    /// Run solvers on problems with known answers and count the digits that are right
    Compare(commands::compare::Compare),
    /// Run many fits, lose nothing, and publish what they show
    Study(commands::study::Study),
    /// Check what keyfit claims
    Verify(commands::verify::Verify),
    /// List the solvers
    Solvers(commands::tables::Solvers),
    /// List the operations
    Ops(commands::tables::Ops),
    /// List the easings
    Easings(commands::tables::Easings),
}

fn main() -> ExitCode {
    let outcome = std::panic::catch_unwind(|| match Cli::parse().command {
        Command::Fit(command) => command.run(),
        Command::Sample(command) => command.run(),
        Command::Describe(command) => command.run(),
        Command::Derive(command) => command.run(),
        Command::Simplify(command) => command.run(),
        Command::Improve(command) => command.run(),
        Command::Glsl(command) => command.run(),
        Command::Fmt(command) => command.run(),
        Command::Plot(command) => command.run(),
        Command::Compare(command) => command.run(),
        Command::Study(command) => command.run(),
        Command::Verify(command) => command.run(),
        Command::Solvers(command) => command.run(),
        Command::Ops(command) => command.run(),
        Command::Easings(command) => command.run(),
    });
    match outcome {
        Ok(Ok(done)) => done,
        Ok(Err(failure)) => failure.report(),
        Err(_) => {
            failure::say("this is a bug in keyfit: please report it with the command line and the input");
            ExitCode::from(failure::BUG)
        }
    }
}
