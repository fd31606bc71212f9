//! The run store: one SQLite file with every finished run and its trace.
//!
//! A run is written in a transaction when it has ended, those that ended together in one, so a process that is killed at any moment
//! leaves a store that opens and holds whole runs only. Each transaction is on the disk before it counts (WAL with `synchronous = FULL`): what
//! is in the store also outlives a loss of power, where the disk keeps its word. Each run carries a checksum: one that a disk or a person has
//! changed is not taken for what it was. Seconds stand in a table of their own: everything else is the same on every machine.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, params};
use thiserror::Error;

/// The layout of the tables; raised with every change of it.
const FORMAT: &str = "2";

const LAYOUT: &str = "
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE run (
        job INTEGER PRIMARY KEY,
        status TEXT NOT NULL,
        converged INTEGER NOT NULL,
        local_minimum INTEGER NOT NULL,
        digits REAL,
        initial REAL,
        final REAL,
        steps INTEGER NOT NULL,
        residual_evaluations INTEGER NOT NULL,
        jacobian_evaluations INTEGER NOT NULL,
        hessian_evaluations INTEGER NOT NULL,
        parameters BLOB NOT NULL,
        trace BLOB NOT NULL,
        checksum INTEGER NOT NULL
    );
    CREATE TABLE time (job INTEGER PRIMARY KEY, seconds REAL NOT NULL);
";

/// One point of a run's course.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// 0 for the start.
    pub iteration: u64,
    /// Evaluations of all residuals so far.
    pub residual_evaluations: u64,
    /// Evaluations of the Jacobian so far.
    pub jacobian_evaluations: u64,
    /// Evaluations of the Hessian so far.
    pub hessian_evaluations: u64,
    /// The sum of squared residuals.
    pub cost: f64,
    /// The length of its gradient.
    pub gradient: f64,
    /// The length of the step that led here; 0 for the start.
    pub step: f64,
    /// The solver's trust radius; NaN if it has none.
    pub radius: f64,
    /// The greatest relative error of a parameter against the certified ones; NaN if there are none.
    pub distance: f64,
}

/// How many numbers a point is.
const NUMBERS: usize = 9;

impl Point {
    /// All numbers of a point, in the order of its fields.
    pub fn numbers(&self) -> [f64; NUMBERS] {
        [
            self.iteration as f64,
            self.residual_evaluations as f64,
            self.jacobian_evaluations as f64,
            self.hessian_evaluations as f64,
            self.cost,
            self.gradient,
            self.step,
            self.radius,
            self.distance,
        ]
    }

    /// Points out of the numbers of many; `None` where some are too few for one.
    pub(crate) fn all(numbers: &[f64]) -> Option<Vec<Point>> {
        let (points, rest) = numbers.as_chunks::<NUMBERS>();
        rest.is_empty().then(|| points.iter().copied().map(Point::of).collect())
    }

    fn of(
        [iteration, residuals, jacobians, hessians, cost, gradient, step, radius, distance]: [f64; NUMBERS],
    ) -> Point {
        Point {
            iteration: iteration as u64,
            residual_evaluations: residuals as u64,
            jacobian_evaluations: jacobians as u64,
            hessian_evaluations: hessians as u64,
            cost,
            gradient,
            step,
            radius,
            distance,
        }
    }
}

/// A finished run.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// How it ended: a termination's name, or what went wrong.
    pub status: String,
    /// Whether the solver says that it converged.
    pub converged: bool,
    /// Whether it ended at a known minimum that is not the least.
    pub local_minimum: bool,
    /// Digits right (LRE).
    pub digits: f64,
    /// The sum of squared residuals at the start; NaN if it is unknown.
    pub initial: f64,
    /// The sum of squared residuals at the end; NaN if it is unknown.
    pub last: f64,
    /// Iterations.
    pub steps: u64,
    /// Evaluations of all residuals.
    pub residual_evaluations: u64,
    /// Evaluations of the Jacobian.
    pub jacobian_evaluations: u64,
    /// Evaluations of the Hessian.
    pub hessian_evaluations: u64,
    /// The parameters at the end, in the problem's order.
    pub parameters: Vec<f64>,
    /// Its course.
    pub trace: Vec<Point>,
}

impl Record {
    /// A run that gave nothing, and why.
    pub fn failed(status: impl Into<String>) -> Record {
        Record {
            status: status.into(),
            converged: false,
            local_minimum: false,
            digits: 0.0,
            initial: f64::NAN,
            last: f64::NAN,
            steps: 0,
            residual_evaluations: 0,
            jacobian_evaluations: 0,
            hessian_evaluations: 0,
            parameters: Vec::new(),
            trace: Vec::new(),
        }
    }

    /// Whether a limit of time or memory or a crash ended it, which on another machine may end it elsewhere.
    pub fn is_cut_off(&self) -> bool {
        ["time-limit", "memory-limit"].contains(&self.status.as_str()) || self.status.starts_with("crashed")
    }

    /// Whether its evaluations are not known.
    pub fn is_uncounted(&self) -> bool {
        self.is_cut_off() || self.status.starts_with("panicked")
    }
}

/// Why a store cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// SQLite says no.
    #[error("{path}: {source}", path = .path.display())]
    Sqlite {
        /// The store.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// The file cannot be opened or locked.
    #[error("{path}: {source}", path = .path.display())]
    Io {
        /// The store.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It was not closed, and its log cannot be taken into it where nothing can be written.
    #[error("{path} was left as its study was killed, and must be opened once where it can be written; `keyfit study run` does that", path = .path.display())]
    Unclosed {
        /// The store.
        path: PathBuf,
    },
    /// It was there when it was opened.
    #[error("{path} is not there any more, or another file is: what is run now would be lost", path = .path.display())]
    Gone {
        /// The store.
        path: PathBuf,
    },
    /// Another process runs the study.
    #[error("{path} is in use: another process runs this study", path = .path.display())]
    InUse {
        /// The store.
        path: PathBuf,
    },
    /// It is another program's, or of another version.
    #[error("{path} is not a run store of this version of keyfit", path = .path.display())]
    Format {
        /// The store.
        path: PathBuf,
    },
    /// It holds another study.
    #[error("{path} holds runs of another study: of other problems or files, starts, solvers, budgets or seeds, or of another version of keyfit; give the study a new --store", path = .path.display())]
    OtherStudy {
        /// The store.
        path: PathBuf,
    },
    /// What SQLite cannot read, or reads in disorder.
    #[error("{path} is damaged ({what}); move it away and run the study again, or merge copies of it", path = .path.display())]
    Damaged {
        /// The store.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// A run that is not what was written.
    #[error("run {job} in {path} is damaged; `study run` carries out such runs again", path = .path.display())]
    DamagedRun {
        /// The store.
        path: PathBuf,
        /// The run's number.
        job: u64,
    },
    /// Two stores disagree about a run.
    #[error("run {job} ended otherwise in {path} than in the store that it is merged into", path = .path.display())]
    Disagreement {
        /// The store.
        path: PathBuf,
        /// The run's number.
        job: u64,
    },
}

impl StoreError {
    fn sqlite(path: &Path, source: rusqlite::Error) -> StoreError {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged { path, what: source.to_string() },
            Some(ErrorCode::NotADatabase) => StoreError::Format { path },
            _ => StoreError::Sqlite { path, source },
        }
    }
}

/// The path of a file without links; of one that is not there yet too. It begins at the root, where no name means anything else.
fn real(path: &Path) -> io::Result<PathBuf> {
    let found = match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            fs::canonicalize(folder.unwrap_or(Path::new(".")))?.join(path.file_name().ok_or(error)?)
        }
        found => found?,
    };
    match fs::metadata(&found).is_ok_and(|there| !there.is_file()) {
        true => Err(io::Error::other("it is not a regular file")),
        false => Ok(found),
    }
}

/// Which file it is, however it is called.
fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|there| (there.dev(), there.ino()))
}

/// A store that is open.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    connection: Connection,
    /// Device and number of the file; a temporary store has none.
    file: Option<(u64, u64)>,
    /// Held as long as the store is written to.
    lock: Option<File>,
}

/// So often and so long is waited for a lock that a process that was killed may hold for a moment yet: one that it was just starting.
const TRIES: u32 = 20;
const TRY: Duration = Duration::from_millis(50);

impl Drop for Store {
    fn drop(&mut self) {
        // one that was refused may be another program's
        if self.lock.is_some() && self.file.is_some() {
            // a store with a log cannot be read where nothing can be written; one that somebody reads now keeps its log
            let _ = self.connection.pragma_update(None, "journal_mode", "DELETE");
        }
    }
}

impl Store {
    /// Opens the store of the study with this hash for writing; makes it if it is not there. Only one process can have it.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn create(path: &Path, study: &str) -> Result<Store, StoreError> {
        Store::make(path, study, |lock| {
            for _ in 0..TRIES {
                match lock.try_lock() {
                    Ok(()) => return Ok(()),
                    Err(TryLockError::WouldBlock) => thread::sleep(TRY),
                    Err(TryLockError::Error(source)) => {
                        return Err(StoreError::Io { path: path.into(), source });
                    }
                }
            }
            Err(StoreError::InUse { path: path.into() })
        })
    }

    /// Like [`Store::create`], but waits while another process has it.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn create_when_free(path: &Path, study: &str) -> Result<Store, StoreError> {
        Store::make(path, study, |lock| {
            lock.lock().map_err(|source| StoreError::Io { path: path.into(), source })
        })
    }

    fn make(
        path: &Path,
        study: &str,
        take: impl FnOnce(&File) -> Result<(), StoreError>,
    ) -> Result<Store, StoreError> {
        let io = |source| StoreError::Io { path: path.into(), source };
        // a link to a store is that store, and has its lock
        let real = real(path).map_err(io)?;
        let mut name = real.as_os_str().to_owned();
        name.push(".lock");
        let lock = File::options().create(true).truncate(false).write(true).open(&name).map_err(io)?;
        take(&lock)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut store = Store::connect(path, &real, flags)?;
        store.lock = Some(lock);
        let pages = store.sql(|connection| {
            connection.pragma_query_value(None, "page_count", |row| row.get::<_, i64>(0))
        })?;
        // before anything is written: it may be another program's
        match pages {
            0 => store.lay_out(study)?,
            _ => store.check(study)?,
        }
        store.sql(|connection| {
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "FULL")
        })?;
        store.file = identity(&real);
        Ok(store)
    }

    /// A store that is gone with this process, however that ends.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn temporary(study: &str) -> Result<Store, StoreError> {
        // SQLite's name for a file that has none
        let nameless = Path::new("");
        let mut store = Store::connect(nameless, nameless, OpenFlags::default())?;
        store.lay_out(study)?;
        Ok(store)
    }

    fn lay_out(&mut self, study: &str) -> Result<(), StoreError> {
        self.sql(|connection| {
            let transaction = connection.transaction()?;
            transaction.execute_batch(LAYOUT)?;
            transaction
                .execute("INSERT INTO meta VALUES ('format', ?1), ('study', ?2)", params![FORMAT, study])?;
            transaction.commit()
        })
    }

    /// Opens a store for reading.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn open(path: &Path, study: &str) -> Result<Store, StoreError> {
        let real = fs::canonicalize(path)
            .and_then(|_| real(path))
            .map_err(|source| StoreError::Io { path: path.into(), source })?;
        let store = Store::connect(path, &real, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        store.check(study).map_err(|error| match error {
            StoreError::Sqlite { path, source }
                if [Some(ErrorCode::CannotOpen), Some(ErrorCode::ReadOnly)]
                    .contains(&source.sqlite_error_code()) =>
            {
                StoreError::Unclosed { path }
            }
            other => other,
        })?;
        Ok(store)
    }

    /// `path` is how it is called; the flags leave out that a name may be an address or stand for memory.
    fn connect(path: &Path, real: &Path, flags: OpenFlags) -> Result<Store, StoreError> {
        let flags = (flags | OpenFlags::SQLITE_OPEN_NO_MUTEX) - OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(real, flags);
        let connection = connection.map_err(|source| StoreError::sqlite(path, source))?;
        Ok(Store { path: path.into(), connection, file: None, lock: None })
    }

    fn sql<T>(&mut self, act: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        act(&mut self.connection).map_err(|source| StoreError::sqlite(&self.path, source))
    }

    fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        let row = self.connection.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0));
        match row.optional().map_err(|source| StoreError::sqlite(&self.path, source)) {
            // no such table or column, or not of this kind
            Err(StoreError::Sqlite { source: rusqlite::Error::SqlInputError { .. }, .. }) => Ok(None),
            Err(StoreError::Sqlite { source, .. })
                if source.sqlite_error_code() == Some(ErrorCode::Unknown) =>
            {
                Ok(None)
            }
            other => other,
        }
    }

    fn check(&self, study: &str) -> Result<(), StoreError> {
        if self.meta("format")?.as_deref() != Some(FORMAT) {
            return Err(StoreError::Format { path: self.path.clone() });
        }
        match self.meta("study")?.as_deref() == Some(study) {
            true => Ok(()),
            false => Err(StoreError::OtherStudy { path: self.path.clone() }),
        }
    }

    /// The numbers of the runs that have ended, ascending.
    ///
    /// # Errors
    /// [`StoreError::Sqlite`]
    pub fn finished(&mut self) -> Result<Vec<u64>, StoreError> {
        self.sql(|connection| {
            let mut statement = connection.prepare("SELECT job FROM run ORDER BY job")?;
            let rows = statement.query_map([], |row| row.get::<_, i64>(0))?;
            rows.map(|row| row.map(|job| job as u64)).collect()
        })
    }

    /// How many of them gave no answer: they were refused, stopped, or crashed.
    ///
    /// # Errors
    /// [`StoreError::Sqlite`]
    pub fn unanswered(&mut self) -> Result<u64, StoreError> {
        let count = "SELECT count(*) FROM run WHERE length(parameters) = 0";
        self.sql(|connection| connection.query_row(count, [], |row| row.get::<_, i64>(0)))
            .map(|count| count.unsigned_abs())
    }

    /// Writes finished runs with their seconds, all in one transaction. A run that is there already stays as it is.
    ///
    /// # Errors
    /// [`StoreError::Sqlite`], [`StoreError::Gone`]
    pub fn insert(
        &mut self,
        runs: impl IntoIterator<Item = (u64, Record, Option<f64>)>,
    ) -> Result<(), StoreError> {
        self.sql(|connection| {
            let transaction = connection.transaction()?;
            for (job, record, seconds) in runs {
                write(&transaction, job, &record, seconds)?;
            }
            transaction.commit()
        })?;
        match self.file.is_none() || self.file == identity(&self.path) {
            true => Ok(()),
            false => Err(StoreError::Gone { path: self.path.clone() }),
        }
    }

    /// Takes out the runs that are not what was written, so that they are carried out again; gives their numbers.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] where more is damaged than runs.
    pub fn discard_damaged(&mut self) -> Result<Vec<u64>, StoreError> {
        let mut damaged = Vec::new();
        self.rows(|job, run| {
            damaged.extend(run.is_none().then_some(job));
            Ok(())
        })?;
        self.sql(|connection| {
            let transaction = connection.transaction()?;
            for job in &damaged {
                transaction.execute("DELETE FROM run WHERE job = ?1", [*job as i64])?;
                transaction.execute("DELETE FROM time WHERE job = ?1", [*job as i64])?;
            }
            transaction.commit()
        })?;
        if !damaged.is_empty() {
            let found: String =
                self.sql(|connection| connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)))?;
            if found != "ok" {
                return Err(StoreError::Damaged { path: self.path.clone(), what: found });
            }
        }
        Ok(damaged)
    }

    /// Calls `each` with every finished run and its seconds, in the order of their numbers; only one is in memory at a time.
    ///
    /// # Errors
    /// [`StoreError::DamagedRun`], and what [`StoreError`] says of files.
    pub fn for_each(&mut self, mut each: impl FnMut(u64, Record, Option<f64>)) -> Result<(), StoreError> {
        self.visit(|job, record, seconds| {
            each(job, record, seconds);
            Ok(())
        })
    }

    /// Like [`Store::for_each`], until the first error.
    fn visit(
        &self,
        mut each: impl FnMut(u64, Record, Option<f64>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.rows(|job, run| match run {
            Some((record, seconds)) => each(job, record, seconds),
            None => Err(StoreError::DamagedRun { path: self.path.clone(), job }),
        })
    }

    /// Calls `each` with the number of every run, ascending, and what it is, unless that is damaged.
    fn rows(
        &self,
        mut each: impl FnMut(u64, Option<(Record, Option<f64>)>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let fail = |source| StoreError::sqlite(&self.path, source);
        let all = format!("{READ} ORDER BY run.job");
        let mut statement = self.connection.prepare(&all).map_err(fail)?;
        let mut rows = statement.query([]).map_err(fail)?;
        let mut last = None;
        while let Some(row) = rows.next().map_err(fail)? {
            let job = row.get::<_, i64>(0).map_err(fail)? as u64;
            if last.replace(job).is_some_and(|last| last >= job) {
                return Err(StoreError::Damaged {
                    path: self.path.clone(),
                    what: "runs are not in order".into(),
                });
            }
            each(job, read(row, job))?;
        }
        Ok(())
    }

    /// Takes over the runs of another store of the same study: all of them, or on an error none.
    ///
    /// # Errors
    /// [`StoreError::Disagreement`] where both have a run and it did not end alike, [`StoreError::DamagedRun`].
    pub fn merge(&mut self, other: &Store) -> Result<(), StoreError> {
        let path = self.path.clone();
        let fail = |source| StoreError::sqlite(&path, source);
        let transaction = self.connection.transaction().map_err(fail)?;
        other.visit(|job, record, seconds| match find(&transaction, job).map_err(fail)? {
            None => write(&transaction, job, &record, seconds).map_err(fail),
            Some(None) => Err(StoreError::DamagedRun { path: path.clone(), job }),
            Some(Some((known, _))) if fingerprint(&known) == fingerprint(&record) => Ok(()),
            Some(_) => Err(StoreError::Disagreement { path: other.path.clone(), job }),
        })?;
        transaction.commit().map_err(fail)
    }
}

/// Reads rows of [`read`].
const READ: &str = "SELECT run.*, time.seconds FROM run LEFT JOIN time ON run.job = time.job";

/// The run of that number, `None` if the row is not what was written.
fn read(row: &Row<'_>, job: u64) -> Option<(Record, Option<f64>)> {
    // SQLite keeps NaN as NULL
    let real = |i: usize| row.get::<_, Option<f64>>(i).ok().map(|x| x.unwrap_or(f64::NAN));
    let whole = |i: usize| row.get::<_, i64>(i).ok().map(|n| n as u64);
    let bytes = |i: usize| row.get_ref(i).ok()?.as_blob().ok();
    let (parameters, trace) = (bytes(11)?, bytes(12)?);
    let record = Record {
        status: row.get(1).ok()?,
        converged: row.get(2).ok()?,
        local_minimum: row.get(3).ok()?,
        digits: real(4)?,
        initial: real(5)?,
        last: real(6)?,
        steps: whole(7)?,
        residual_evaluations: whole(8)?,
        jacobian_evaluations: whole(9)?,
        hessian_evaluations: whole(10)?,
        parameters: numbers(parameters),
        trace: Point::all(&numbers(trace))?,
    };
    let seconds = row.get(14).ok()?;
    (whole(13)? == checksum(job, &record, seconds, parameters, trace)).then_some((record, seconds))
}

type Known = Option<(Record, Option<f64>)>;

fn find(connection: &Connection, job: u64) -> rusqlite::Result<Option<Known>> {
    let mut statement = connection.prepare_cached(&format!("{READ} WHERE run.job = ?1"))?;
    statement.query_row([job as i64], |row| Ok(read(row, job))).optional()
}

fn write(connection: &Connection, job: u64, record: &Record, seconds: Option<f64>) -> rusqlite::Result<()> {
    let parameters = blob(record.parameters.iter().copied());
    let trace = blob(record.trace.iter().flat_map(Point::numbers));
    let checksum = checksum(job, record, seconds, &parameters, &trace);
    let written = connection
        .prepare_cached(
            "INSERT INTO run VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14) ON CONFLICT (job) DO NOTHING",
        )?
        .execute(params![
            job as i64,
            record.status,
            record.converged,
            record.local_minimum,
            record.digits,
            record.initial,
            record.last,
            record.steps as i64,
            record.residual_evaluations as i64,
            record.jacobian_evaluations as i64,
            record.hessian_evaluations as i64,
            parameters,
            trace,
            checksum as i64,
        ])?;
    if let (1, Some(seconds)) = (written, seconds) {
        connection
            .prepare_cached("INSERT OR REPLACE INTO time VALUES (?1,?2)")?
            .execute(params![job as i64, seconds])?;
    }
    Ok(())
}

/// The CRC-32 of a run, which finds what a disk or a hand changes, not who wants to deceive.
fn checksum(job: u64, record: &Record, seconds: Option<f64>, parameters: &[u8], trace: &[u8]) -> u64 {
    let counts = [
        job,
        record.status.len() as u64,
        record.converged.into(),
        record.local_minimum.into(),
        record.steps,
        record.residual_evaluations,
        record.jacobian_evaluations,
        record.hessian_evaluations,
        parameters.len() as u64,
        seconds.is_some().into(),
    ];
    // SQLite has one NaN and one zero
    let numbers = [record.digits, record.initial, record.last, seconds.unwrap_or(0.0)]
        .map(|x| if x.is_nan() { f64::NAN } else { x + 0.0 });
    let mut hasher = crc32fast::Hasher::new();
    counts.iter().for_each(|count| hasher.update(&count.to_le_bytes()));
    hasher.update(&blob(numbers.into_iter()));
    [record.status.as_bytes(), parameters, trace].iter().for_each(|bytes| hasher.update(bytes));
    hasher.finalize().into()
}

fn blob(numbers: impl Iterator<Item = f64>) -> Vec<u8> {
    numbers.flat_map(f64::to_le_bytes).collect()
}

fn numbers(blob: &[u8]) -> Vec<f64> {
    blob.as_chunks::<8>().0.iter().copied().map(f64::from_le_bytes).collect()
}

/// What two runs that ended alike have in common, bit for bit.
fn fingerprint(record: &Record) -> (String, Vec<u64>) {
    let counts = [record.residual_evaluations, record.jacobian_evaluations, record.hessian_evaluations];
    let bits = record.parameters.iter().chain([&record.last]).map(|x| x.to_bits());
    (record.status.clone(), bits.chain(counts).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stores that disagree are not joined in part.
    #[test]
    fn a_merge_is_whole_or_is_not() {
        let folder = std::env::temp_dir().join(format!("keyfit-merge-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let store = |name: &str, runs: &[(u64, &str)]| {
            let mut store = Store::create(&folder.join(name), "study").unwrap();
            store.insert(runs.iter().map(|(job, status)| (*job, Record::failed(*status), None))).unwrap();
            store
        };
        let mut own = store("own", &[(1, "time-limit"), (4, "panicked: \n")]);
        let other = store("other", &[(0, "x"), (1, "memory-limit"), (2, "x")]);
        let refused = own.merge(&other).unwrap_err();
        assert!(matches!(refused, StoreError::Disagreement { job: 1, .. }), "{refused}");
        assert_eq!(own.finished().unwrap(), [1, 4]);
        // and it can still be merged into
        own.merge(&store("third", &[(3, "x"), (4, "panicked: \n")])).unwrap();
        assert_eq!(own.finished().unwrap(), [1, 3, 4]);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
