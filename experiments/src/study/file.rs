//! The study file: what is run, in TOML.
//!
//! Its fields are the rows of one table, [`FIELDS`]: the reader, the commented template and the JSON schema come from it. A file is
//! read as a whole; every fault in it is found at once, with its place.

use std::ops::{Range, RangeInclusive};

use keyfit_ir::text::nearest;
use keyfit_solvers::OPTIONS;
use serde_json::{Map, Value, json};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A string.
    Text,
    /// A list of strings.
    Texts,
    /// A whole number, at least this.
    Whole(u64),
    /// A whole number, at most this.
    UpTo(u64),
    /// A finite number above this.
    Above(f64),
    /// A list of finite numbers above this.
    ListAbove(f64),
    /// `true` or `false`.
    Flag,
    /// A table of a solver's options, each a number.
    Options,
    /// A table of a solver's options, each a list of numbers.
    Grid,
}

impl Kind {
    fn words(self) -> String {
        match self {
            Kind::Text => "a string".into(),
            Kind::Texts => "a list of strings".into(),
            Kind::Whole(least) => format!("a whole number from {least} on"),
            Kind::UpTo(most) => format!("a whole number up to {most}"),
            Kind::Above(bound) => format!("a finite number above {bound}"),
            Kind::ListAbove(bound) => format!("a list of finite numbers above {bound}"),
            Kind::Flag => "true or false".into(),
            Kind::Options => "a table of options, each a number".into(),
            Kind::Grid => "a table of options, each a list of numbers".into(),
        }
    }

    fn schema(self) -> Value {
        let named = |value: &dyn Fn() -> Value| {
            let properties = OPTIONS.iter().map(|option| {
                let mut own = value();
                own["description"] = option.doc.into();
                (option.name.to_owned(), own)
            });
            let properties: Map<String, Value> = properties.collect();
            json!({ "type": "object", "properties": properties, "additionalProperties": false })
        };
        match self {
            Kind::Text => json!({ "type": "string" }),
            Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Kind::Whole(least) => json!({ "type": "integer", "minimum": least }),
            Kind::UpTo(most) => json!({ "type": "integer", "minimum": 0, "maximum": most }),
            Kind::Above(bound) => json!({ "type": "number", "exclusiveMinimum": bound }),
            Kind::ListAbove(_) => json!({ "type": "array", "items": self.item().schema() }),
            Kind::Flag => json!({ "type": "boolean" }),
            Kind::Options => named(&|| json!({ "type": "number" })),
            Kind::Grid => named(&|| json!({ "type": "array", "items": { "type": "number" }, "minItems": 1 })),
        }
    }

    fn item(self) -> Kind {
        match self {
            Kind::ListAbove(bound) => Kind::Above(bound),
            other => other,
        }
    }
}

/// One field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// The table that it stands in; empty for the top.
    pub table: &'static str,
    /// Its name.
    pub key: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Its value if it is left out, in TOML; `None` if there is none.
    pub default: Option<&'static str>,
    /// One line of documentation.
    pub doc: &'static str,
}

const fn field(
    table: &'static str,
    key: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    doc: &'static str,
) -> Field {
    Field { table, key, kind, default, doc }
}

/// The tables: name, whether there may be several, documentation.
pub const TABLES: &[(&str, bool, &str)] = &[
    ("", false, "The study"),
    ("suites", true, "Problems with known answers: an embedded suite, or a folder of problem files"),
    (
        "solvers",
        true,
        "Solvers with their options; a grid makes one entry of each combination. Figures have colours for the first six",
    ),
    ("starts", false, "Where each problem is started from"),
    ("budget", false, "What a run may cost; whatever is used up first ends it"),
    ("accuracy", false, "What the statistics count as solved"),
];

/// Starts are all held in memory, by every worker.
const MOST_STARTS: u64 = 100_000;

/// Every field.
pub const FIELDS: &[Field] = &[
    field("", "name", Kind::Text, None, "how the study is called"),
    field(
        "",
        "seed",
        Kind::Whole(0),
        Some("0"),
        "chooses the random starts, and the runs that verify carries out again",
    ),
    field("suites", "name", Kind::Text, Some("\"\""), "an embedded suite; or how tables call the folder"),
    field(
        "suites",
        "folder",
        Kind::Text,
        Some("\"\""),
        "a folder of problem files (.toml as `keyfit study problem` tells, or NIST's .dat), beside this file",
    ),
    field("suites", "problems", Kind::Texts, Some("[]"), "only these problems; all if empty"),
    field("solvers", "solver", Kind::Text, None, "a solver's name, as `keyfit solvers` lists them"),
    field(
        "solvers",
        "label",
        Kind::Text,
        Some("\"\""),
        "how tables call it; made of name and options if empty",
    ),
    field("solvers", "options", Kind::Options, Some("{}"), "the solver's options"),
    field(
        "solvers",
        "grid",
        Kind::Grid,
        Some("{}"),
        "options with several values, each combination a solver of its own",
    ),
    field("starts", "given", Kind::Flag, Some("true"), "the problems' own starts"),
    field(
        "starts",
        "scaled",
        Kind::ListAbove(0.0),
        Some("[]"),
        "the problems' own starts, times each of these",
    ),
    field(
        "starts",
        "random",
        Kind::UpTo(MOST_STARTS),
        Some("0"),
        "so many random starts a problem, around its first one",
    ),
    field(
        "starts",
        "spread",
        Kind::Above(1.0),
        Some("10.0"),
        "random starts lie between a start's 1/spread and its spread-fold",
    ),
    field("budget", "iterations", Kind::Whole(1), Some("10000"), "iterations"),
    field("budget", "evaluations", Kind::Whole(1), Some("100000"), "evaluations of all residuals"),
    field(
        "budget",
        "seconds",
        Kind::Above(0.0),
        Some("60.0"),
        "seconds; a run that takes longer is stopped and recorded as such",
    ),
    field(
        "budget",
        "megabytes",
        Kind::Whole(64),
        Some("2048"),
        "memory; a run that takes more is stopped and recorded as such",
    ),
    field(
        "accuracy",
        "digits",
        Kind::ListAbove(0.0),
        Some("[4, 6, 8, 10]"),
        "digits right (LRE) that tables count",
    ),
    field(
        "accuracy",
        "tau",
        Kind::ListAbove(0.0),
        Some("[1e-1, 1e-3, 1e-5, 1e-7]"),
        "the tolerances of data profiles, relative to the decrease of the cost",
    ),
];

fn fields(table: &str) -> impl Iterator<Item = &'static Field> {
    FIELDS.iter().filter(move |field| field.table == table)
}

/// What is wrong with a study file, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The bytes at fault.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

/// A checked value.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A string.
    Text(String),
    /// Strings.
    Texts(Vec<String>),
    /// A whole number.
    Whole(u64),
    /// Numbers; one for a number.
    Numbers(Vec<f64>),
    /// A truth value.
    Flag(bool),
    /// Options with their values, in the order of their names.
    Options(Vec<(String, Vec<f64>)>),
}

/// One table of the file, checked against its fields, defaults filled in.
#[derive(Clone, Debug)]
pub struct Checked {
    items: Vec<(&'static str, Item, Range<usize>)>,
}

impl Checked {
    fn item(&self, key: &str) -> Option<&Item> {
        self.items.iter().find(|(own, ..)| *own == key).map(|(_, item, _)| item)
    }

    /// Where the value stands in the file; where its table does if it is left out.
    pub fn span(&self, key: &str) -> Range<usize> {
        self.items.iter().find(|(own, ..)| *own == key).map_or(0..0, |(.., span)| span.clone())
    }

    /// A string.
    pub fn text(&self, key: &str) -> &str {
        match self.item(key) {
            Some(Item::Text(text)) => text,
            _ => "",
        }
    }

    /// A list of strings.
    pub fn texts(&self, key: &str) -> &[String] {
        match self.item(key) {
            Some(Item::Texts(texts)) => texts,
            _ => &[],
        }
    }

    /// A whole number.
    pub fn whole(&self, key: &str) -> u64 {
        match self.item(key) {
            Some(Item::Whole(n)) => *n,
            _ => 0,
        }
    }

    /// A list of numbers.
    pub fn numbers(&self, key: &str) -> &[f64] {
        match self.item(key) {
            Some(Item::Numbers(numbers)) => numbers,
            _ => &[],
        }
    }

    /// A number.
    pub fn number(&self, key: &str) -> f64 {
        self.numbers(key).first().copied().unwrap_or_default()
    }

    /// A truth value.
    pub fn flag(&self, key: &str) -> bool {
        matches!(self.item(key), Some(Item::Flag(true)))
    }

    /// Options with their values.
    pub fn options(&self, key: &str) -> &[(String, Vec<f64>)] {
        match self.item(key) {
            Some(Item::Options(options)) => options,
            _ => &[],
        }
    }
}

/// The tables of a file by name, in the file's order.
#[derive(Clone, Debug)]
pub struct Tables {
    tables: Vec<(&'static str, Checked)>,
}

impl Tables {
    /// Reads a file's text; gives what could be read with every fault of its form.
    pub fn read(text: &str) -> (Tables, Vec<Fault>) {
        let mut reader = Reader { faults: Vec::new() };
        let (root, errors) = DeTable::parse_recoverable(text);
        reader.faults.extend(errors.iter().map(|error| Fault {
            span: error.span().unwrap_or(0..0),
            message: error.message().to_owned(),
            hint: None,
        }));
        let tables = if errors.is_empty() { reader.file(root.get_ref()) } else { Vec::new() };
        (Tables { tables }, reader.faults)
    }

    /// All that the runs depend on, in words that are the same for every way to write it. That is neither how the study, its
    /// folders and its solvers are called nor what is counted as solved.
    pub fn meaning(&self) -> String {
        let is_called = |table: &str, key: &str| {
            [("", "name"), ("suites", "folder"), ("solvers", "label")].contains(&(table, key))
        };
        let mut words = String::new();
        for (name, ..) in TABLES.iter().filter(|(name, ..)| *name != "accuracy") {
            for table in self.all(name) {
                words += &format!("[{name}]\n");
                for (key, item, _) in table.items.iter().filter(|(key, ..)| !is_called(name, key)) {
                    words += &format!("{key} = {item:?}\n");
                }
            }
        }
        words
    }

    /// The tables of that name; at least one where there cannot be several.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Checked> {
        self.tables.iter().filter(move |(own, _)| *own == name).map(|(_, table)| table)
    }
}

struct Reader {
    faults: Vec<Fault>,
}

impl Reader {
    fn fault(&mut self, span: Range<usize>, message: String, hint: Option<String>) {
        self.faults.push(Fault { span, message, hint });
    }

    fn file(&mut self, root: &DeTable<'_>) -> Vec<(&'static str, Checked)> {
        let mut tables = Vec::new();
        for &(name, several, _) in TABLES {
            if name.is_empty() {
                tables.push((name, self.table(root, name, 0..0)));
                continue;
            }
            match (root.get(name).map(|value| (value, value.get_ref())), several) {
                (Some((_, DeValue::Table(table))), false) => {
                    tables.push((name, self.table(table, name, 0..0)))
                }
                (Some((_, DeValue::Array(list))), true) => {
                    for entry in list.iter() {
                        match entry.get_ref() {
                            DeValue::Table(table) => {
                                tables.push((name, self.table(table, name, entry.span())))
                            }
                            _ => self.fault(
                                entry.span(),
                                format!("an entry of {name} is a table"),
                                Some(format!("write [[{name}]]")),
                            ),
                        }
                    }
                }
                (Some((value, _)), _) => {
                    let (what, head) = if several {
                        ("a list of tables", format!("[[{name}]]"))
                    } else {
                        ("a table", format!("[{name}]"))
                    };
                    self.fault(value.span(), format!("{name} is {what}"), Some(format!("write {head}")));
                }
                (None, false) => tables.push((name, self.table(&DeTable::new(), name, 0..0))),
                (None, true) => {
                    self.fault(
                        0..0,
                        format!("there is no entry of {name}"),
                        Some(format!("write one under [[{name}]]")),
                    );
                }
            }
        }
        tables
    }

    fn table(&mut self, table: &DeTable<'_>, name: &'static str, span: Range<usize>) -> Checked {
        let is_table =
            |key: &str| name.is_empty() && TABLES.iter().any(|(own, ..)| *own == key && !own.is_empty());
        for (key, _) in table {
            let word = key.get_ref().as_ref();
            if fields(name).all(|field| field.key != word) && !is_table(word) {
                let known: Vec<&str> = fields(name)
                    .map(|field| field.key)
                    .chain(TABLES.iter().map(|(own, ..)| *own).filter(|own| is_table(own)))
                    .collect();
                let hint = nearest(word, known.iter().copied()).map_or_else(
                    || format!("the fields are {}", known.join(", ")),
                    |near| format!("did you mean {near}?"),
                );
                self.fault(key.span(), format!("there is no field {word}{}", within(name)), Some(hint));
            }
        }
        let items = fields(name).filter_map(|field| {
            let Some(value) = table.get(field.key) else {
                let Some(default) = field.default else {
                    self.fault(
                        span.clone(),
                        format!("the field {} is missing{}", field.key, within(name)),
                        Some(field.doc.into()),
                    );
                    return None;
                };
                return Some((field.key, default_item(default, field.kind)?, span.clone()));
            };
            let item = item(value, field.kind);
            if item.is_none() {
                self.fault(
                    value.span(),
                    format!("{}{} is {}", field.key, within(name), field.kind.words()),
                    None,
                );
            }
            Some((field.key, item?, value.span()))
        });
        Checked { items: items.collect() }
    }
}

fn within(table: &str) -> String {
    if table.is_empty() { String::new() } else { format!(" of {table}") }
}

fn default_item(text: &str, kind: Kind) -> Option<Item> {
    item(&DeValue::parse(text).ok()?, kind)
}

fn number(value: &DeValue<'_>, above: f64) -> Option<f64> {
    let x: f64 = match value {
        DeValue::Integer(n) if n.radix() == 10 => n.as_str().parse().ok()?,
        DeValue::Float(x) => x.as_str().parse().ok()?,
        _ => return None,
    };
    (x.is_finite() && x > above).then_some(x)
}

fn list<T>(value: &DeValue<'_>, one: impl Fn(&DeValue<'_>) -> Option<T>) -> Option<Vec<T>> {
    value.as_array()?.iter().map(|entry| one(entry.get_ref())).collect()
}

fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    Some(list).filter(|list| !list.is_empty())
}

fn item(value: &Spanned<DeValue<'_>>, kind: Kind) -> Option<Item> {
    let value = value.get_ref();
    let any = |value: &DeValue<'_>| number(value, f64::NEG_INFINITY);
    let table = |one: &dyn Fn(&DeValue<'_>) -> Option<Vec<f64>>| {
        let entries = value.as_table()?.iter();
        entries
            .map(|(key, value)| Some((key.get_ref().to_string(), one(value.get_ref())?)))
            .collect::<Option<Vec<_>>>()
    };
    let whole = |range: RangeInclusive<u64>| {
        let n = value.as_integer().filter(|n| n.radix() == 10)?;
        n.as_str().parse().ok().filter(|n| range.contains(n)).map(Item::Whole)
    };
    Some(match kind {
        Kind::Text => Item::Text(value.as_str()?.to_owned()),
        Kind::Texts => Item::Texts(list(value, |text| text.as_str().map(str::to_owned))?),
        Kind::Whole(least) => whole(least..=u64::MAX)?,
        Kind::UpTo(most) => whole(0..=most)?,
        Kind::Above(bound) => Item::Numbers(vec![number(value, bound)?]),
        Kind::ListAbove(bound) => Item::Numbers(list(value, |x| number(x, bound))?),
        Kind::Flag => Item::Flag(value.as_bool()?),
        Kind::Options => Item::Options(table(&|value| Some(vec![any(value)?]))?),
        Kind::Grid => Item::Options(table(&|value| some(list(value, any)?))?),
    })
}

/// A study file that says what each field is for, and is a study itself.
pub fn template() -> String {
    let given = |table: &str, key: &str| match (table, key) {
        ("", "name") => Some("\"my-study\""),
        ("suites", "name") => Some("\"nist\""),
        ("solvers", "solver") => Some("\"levenberg-marquardt\""),
        _ => None,
    };
    let mut text = String::from("# A study: every solver on every start of every problem.\n");
    for (table, several, doc) in TABLES {
        match (table.is_empty(), several) {
            (true, _) => {}
            (false, true) => text += &format!("\n# {doc}.\n[[{table}]]\n"),
            (false, false) => text += &format!("\n# {doc}.\n[{table}]\n"),
        }
        for field in fields(table) {
            text += &format!("# {}: {}\n", field.doc, field.kind.words());
            if field.kind == Kind::Options {
                OPTIONS.iter().for_each(|option| text += &format!("#   {}: {}\n", option.name, option.doc));
            }
            text += &match (given(table, field.key), field.default, field.kind) {
                (Some(value), ..) => format!("{} = {value}\n", field.key),
                (None, _, Kind::Options) => format!("# {} = {{ first-step = 0.1 }}\n", field.key),
                (None, _, Kind::Grid) => format!("# {} = {{ first-step = [0.1, 1, 10] }}\n", field.key),
                (None, default, _) => format!("# {} = {}\n", field.key, default.unwrap_or_default()),
            };
        }
    }
    text
}

/// The JSON schema (draft 2020-12) of study files.
pub fn schema() -> Value {
    let table = |name: &str| {
        let properties: Map<String, Value> = fields(name)
            .map(|field| {
                let mut schema = field.kind.schema();
                schema["description"] = field.doc.into();
                if let Some(default) =
                    field.default.and_then(|text| toml::from_str::<toml::Table>(&format!("x = {text}")).ok())
                {
                    schema["default"] = serde_json::to_value(&default["x"]).unwrap_or_default();
                }
                (field.key.to_owned(), schema)
            })
            .collect();
        let required: Vec<&str> =
            fields(name).filter(|field| field.default.is_none()).map(|field| field.key).collect();
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
    };
    let mut root = table("");
    for (name, several, doc) in TABLES.iter().filter(|(name, ..)| !name.is_empty()) {
        let mut own = if *several {
            json!({ "type": "array", "items": table(name), "minItems": 1 })
        } else {
            table(name)
        };
        own["description"] = (*doc).into();
        root["properties"][*name] = own;
        if *several && let Some(required) = root["required"].as_array_mut() {
            required.push((*name).into());
        }
    }
    root["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    root["title"] = "keyfit study".into();
    root
}
