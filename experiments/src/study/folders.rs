//! The folders of problem files that a study names, and how copies of them travel with a copy of the study file.

use std::ops::Range;
use std::path::{Component, Path};

/// A folder of problem files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProblemFolder {
    /// Its path as the study file has it.
    pub path: String,
    /// Where in the study file's text that stands, quotation marks included.
    pub span: Range<usize>,
    /// Name and text of each problem file in it.
    pub files: Vec<(String, String)>,
}

impl ProblemFolder {
    /// Its path from the study file, which it lies below; `None` where it lies elsewhere.
    fn below(&self) -> Option<String> {
        let parts = Path::new(&self.path).components().filter(|part| *part != Component::CurDir);
        let parts: Option<Vec<&str>> = parts
            .map(|part| match part {
                Component::Normal(name) => name.to_str(),
                _ => None,
            })
            .collect();
        parts.map(|parts| parts.join("/")).filter(|path| !path.is_empty())
    }
}

/// A study file with copies of its problem files, for a folder of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copies {
    /// The study file, which names the copies of folders that lie elsewhere.
    pub text: String,
    /// Path, with `/` between its parts, and text of each problem file.
    pub files: Vec<(String, String)>,
}

fn first(path: &str) -> Option<&str> {
    path.split('/').next()
}

/// Copies a study. A folder below the study file keeps its path; the others become `elsewhere/1/…` and so on, with the last part of their
/// paths if that is a name, which names the suite where nothing else does. No folder gets the name `reserved`.
pub fn copies(text: &str, folders: &[ProblemFolder], reserved: &str) -> Copies {
    let kept = |folder: &ProblemFolder| folder.below().filter(|path| first(path) != Some(reserved));
    let mut elsewhere = "elsewhere".to_owned();
    while folders.iter().filter_map(kept).any(|path| first(&path) == Some(&elsewhere)) {
        elsewhere.push('_');
    }
    let (mut files, mut places) = (Vec::new(), Vec::new());
    for (i, folder) in folders.iter().enumerate() {
        let kept = kept(folder);
        let last = Path::new(&folder.path).file_name().map(|name| format!("/{}", name.to_string_lossy()));
        let place = format!("{elsewhere}/{}{}", i + 1, last.unwrap_or_default());
        let place = kept.clone().unwrap_or(place);
        files.extend(folder.files.iter().map(|(name, text)| (format!("{place}/{name}"), text.clone())));
        // what stays, stays as it is quoted
        places.push(kept.is_none().then(|| toml::Value::from(place).to_string()));
    }
    Copies { text: rewritten(text, folders, |i| places.get(i).cloned().flatten()), files }
}

/// A study file's text with other paths of its folders, quotation marks included; where there is none, the path stays.
fn rewritten(text: &str, folders: &[ProblemFolder], path: impl Fn(usize) -> Option<String>) -> String {
    let (mut out, mut from) = (String::new(), 0);
    for (i, folder) in folders.iter().enumerate() {
        if let Some(path) = path(i) {
            out += text.get(from..folder.span.start).unwrap_or_default();
            out += &path;
            from = folder.span.end;
        }
    }
    out + text.get(from..).unwrap_or_default()
}
