//! SMT solvers that are found on the machine.
//!
//! `KEYFIT_SOLVER` may hold a command to which the file's path is added. Else bitwuzla is sought (as a program, or as the
//! Python package), then z3, then cvc5.

mod model;

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Reads a file with bitwuzla's Python package.
const PYTHON: &str = "import sys, bitwuzla\n\
    o = bitwuzla.Options()\n\
    o.set(bitwuzla.Option.PRODUCE_MODELS, True)\n\
    bitwuzla.Parser(bitwuzla.TermManager(), o).parse(sys.argv[1])";

/// A solver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solver {
    /// Its name.
    pub name: String,
    command: Vec<String>,
}

/// What a solver says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There is no assignment.
    Unsat,
    /// There is one: this.
    Sat(String),
    /// It takes longer than allowed.
    TimeOut,
    /// Something else.
    Unclear(String),
}

impl Solver {
    /// Every solver that is there, the preferred one first.
    pub fn all() -> Vec<Solver> {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
        let own = std::env::var("KEYFIT_SOLVER").ok().filter(|text| !text.trim().is_empty());
        let own = own.map(|text| Solver { name: text.clone(), command: words(&text) });
        let python = ["python3", "-c", PYTHON].map(str::to_owned).to_vec();
        let known = [
            ("bitwuzla", words("bitwuzla --produce-models"), &["bitwuzla", "--version"][..]),
            ("bitwuzla (Python)", python, &["python3", "-c", "import bitwuzla"]),
            // z3 4.8 gives models that are none where functions are unknown; so it says
            ("z3", words("z3 model_validate=true"), &["z3", "--version"]),
            ("cvc5", words("cvc5 --produce-models --fp-exp"), &["cvc5", "--version"]),
        ];
        let found = known.into_iter().filter(|(_, _, probe)| answers(probe));
        own.into_iter().chain(found.map(|(name, command, _)| Solver { name: name.into(), command })).collect()
    }

    /// Asks about one file.
    ///
    /// # Errors
    /// Where the solver cannot be run.
    pub fn ask(&self, file: &Path, limit: Duration) -> io::Result<(Answer, f64)> {
        let begin = Instant::now();
        let Some((program, arguments)) = self.command.split_first() else {
            return Ok((Answer::Unclear("no command".into()), 0.0));
        };
        let mut child = Command::new(program)
            .args(arguments)
            .arg(file)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        // answers are short, so nobody waits for the pipe to be read
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if begin.elapsed() > limit {
                child.kill()?;
                child.wait()?;
                return Ok((Answer::TimeOut, begin.elapsed().as_secs_f64()));
            }
            std::thread::sleep(Duration::from_millis(3));
        };
        let seconds = begin.elapsed().as_secs_f64();
        let mut text = String::new();
        if let Some(out) = child.stdout.as_mut() {
            out.read_to_string(&mut text)?;
        }
        if let Some(answer) = said(&text) {
            return Ok((answer, seconds));
        }
        if let Some(err) = child.stderr.as_mut() {
            err.read_to_string(&mut text)?;
        }
        Ok((Answer::Unclear(format!("{status}: {}", text.trim())), seconds))
    }
}

/// The answer that a solver printed. A model that it finds wrong itself is none.
fn said(text: &str) -> Option<Answer> {
    match text.split_once('\n').unwrap_or((text, "")) {
        ("unsat", _) => Some(Answer::Unsat),
        ("sat", model) if !model.contains("an invalid model was generated") => {
            Some(Answer::Sat(model.trim().into()))
        }
        _ => None,
    }
}

fn answers(probe: &[&str]) -> bool {
    let Some((program, arguments)) = probe.split_first() else { return false };
    let silent = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    silent.is_ok_and(|status| status.success())
}

/// Answers that were given before, by the whole text that they answer.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// A cache in this folder, which is made when there is something to keep.
    pub fn new(folder: &Path) -> Cache {
        Cache { folder: folder.to_owned() }
    }

    /// Asks a solver, if the answer is not there. That a solver took longer than some limit is kept, too, and is an answer
    /// where the limit is no longer than that.
    ///
    /// # Errors
    /// Where files cannot be written or the solver cannot be run.
    pub fn ask(&self, solver: &Solver, text: &str, limit: Duration) -> io::Result<(Answer, f64)> {
        // what is kept holds the question, so that a wrong hash can only miss
        let stem = format!("{:016x}", hash(&format!("{}\n{text}", solver.name)));
        let kept = self.folder.join(format!("{stem}.answer"));
        if let Ok(old) = std::fs::read_to_string(&kept)
            && let Some((head, question)) = old.split_once('\n')
            && question == text
            && let Some((seconds, answer)) = head.split_once(' ')
            && let Ok(seconds) = seconds.parse::<f64>()
        {
            match answer.split_once(' ').unwrap_or((answer, "")) {
                ("unsat", _) => return Ok((Answer::Unsat, seconds)),
                ("sat", model) => return Ok((Answer::Sat(model.into()), seconds)),
                ("longer", _) if limit.as_secs_f64() <= seconds => return Ok((Answer::TimeOut, seconds)),
                _ => {}
            }
        }
        std::fs::create_dir_all(&self.folder)?;
        let file = self.folder.join(format!("{stem}.smt2"));
        std::fs::write(&file, text)?;
        let (mut answer, seconds) = solver.ask(&file, limit)?;
        let constants = model::constants(text);
        if matches!(&answer, Answer::Sat(model) if model.is_empty()) && !constants.is_empty() {
            // asked again only where there are values to be had: else it would be an error
            std::fs::write(&file, format!("{text}(get-value ({}))\n", constants.join(" ")))?;
            if let (Answer::Sat(values), _) = solver.ask(&file, limit)? {
                answer = Answer::Sat(model::readable(&values));
            }
        }
        let word = match &answer {
            Answer::Unsat => Some("unsat".to_owned()),
            Answer::Sat(model) => Some(format!("sat {model}")),
            Answer::TimeOut => Some("longer".to_owned()),
            Answer::Unclear(_) => None,
        };
        if let Some(word) = word {
            let partial = self.folder.join(format!("{stem}.{}.part", std::process::id()));
            std::fs::write(&partial, format!("{seconds:?} {word}\n{text}"))?;
            std::fs::rename(&partial, &kept)?;
        }
        Ok((answer, seconds))
    }
}

/// FNV-1a.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read() {
        assert_eq!(said("unsat\n(error \"no model\")"), Some(Answer::Unsat));
        assert_eq!(said("sat\n((x 1))\n"), Some(Answer::Sat("((x 1))".into())));
        // what z3 4.8.12 says of mix-from-zero, which later versions prove
        assert_eq!(said("sat\n(error \"line 16 column 10: an invalid model was generated\")\n"), None);
        assert_eq!(said("unknown"), None);
    }
}
