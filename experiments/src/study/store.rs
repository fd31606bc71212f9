//! The run store: one SQLite file with every finished run and its trace.
//!
//! A run is written in a transaction when it has ended, those that ended together in one, so a process that is killed at any moment
//! leaves a store that opens and holds whole runs only. Each transaction is on the disk before it counts (WAL with `synchronous = FULL`): what
//! is in the store also outlives a loss of power, where the disk keeps its word. Seconds stand in a table of their own: everything else is the same
//! on every machine.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Row, params};
use thiserror::Error;

/// The layout of the tables; raised with every change of it.
const FORMAT: &str = "1";

const LAYOUT: &str = "
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE run (
        job INTEGER PRIMARY KEY,
        status TEXT NOT NULL,
        converged INTEGER NOT NULL,
        local_minimum INTEGER NOT NULL,
        digits REAL NOT NULL,
        initial REAL,
        final REAL,
        steps INTEGER NOT NULL,
        residual_evaluations INTEGER NOT NULL,
        jacobian_evaluations INTEGER NOT NULL,
        hessian_evaluations INTEGER NOT NULL,
        parameters BLOB NOT NULL,
        trace BLOB NOT NULL
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

    /// Points out of the numbers of many.
    pub(crate) fn all(numbers: &[f64]) -> Vec<Point> {
        numbers.as_chunks::<NUMBERS>().0.iter().copied().map(Point::of).collect()
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
    #[error("{path} holds runs of another study (or of other problem files, or another version of keyfit); give the study a new --store", path = .path.display())]
    OtherStudy {
        /// The store.
        path: PathBuf,
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

/// A store that is open.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    connection: Connection,
    /// Held as long as the store is written to.
    _lock: Option<File>,
}

impl Store {
    /// Opens the store of the study with this hash for writing; makes it if it is not there. Only one process can have it.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn create(path: &Path, study: &str) -> Result<Store, StoreError> {
        Store::make(path, study, |lock| {
            lock.try_lock().map_err(|error| match error {
                TryLockError::WouldBlock => StoreError::InUse { path: path.into() },
                TryLockError::Error(source) => StoreError::Io { path: path.into(), source },
            })
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
        let mut name = path.as_os_str().to_owned();
        name.push(".lock");
        let lock = File::options().create(true).truncate(false).write(true).open(&name).map_err(io)?;
        take(&lock)?;
        let mut store = Store::connect(path, Some(lock))?;
        store.sql(|connection| {
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "FULL")?;
            let transaction = connection.transaction()?;
            let made: bool = transaction.query_row(
                "SELECT count(*) FROM sqlite_master WHERE type = 'table'",
                [],
                |row| row.get::<_, i64>(0),
            )? > 0;
            if !made {
                transaction.execute_batch(LAYOUT)?;
                transaction.execute(
                    "INSERT INTO meta VALUES ('format', ?1), ('study', ?2)",
                    params![FORMAT, study],
                )?;
            }
            transaction.commit()
        })?;
        store.check(study)?;
        Ok(store)
    }

    /// Opens a store for reading.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn open(path: &Path, study: &str) -> Result<Store, StoreError> {
        if !path.is_file() {
            let source = std::io::Error::from(std::io::ErrorKind::NotFound);
            return Err(StoreError::Io { path: path.into(), source });
        }
        let store = Store::connect(path, None)?;
        store.check(study)?;
        Ok(store)
    }

    fn connect(path: &Path, lock: Option<File>) -> Result<Store, StoreError> {
        let connection =
            Connection::open(path).map_err(|source| StoreError::Sqlite { path: path.into(), source })?;
        Ok(Store { path: path.into(), connection, _lock: lock })
    }

    fn sql<T>(&mut self, act: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        act(&mut self.connection).map_err(|source| StoreError::Sqlite { path: self.path.clone(), source })
    }

    fn meta(&self, key: &str) -> Option<String> {
        let row = self.connection.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0));
        row.optional().ok().flatten()
    }

    fn check(&self, study: &str) -> Result<(), StoreError> {
        if self.meta("format").as_deref() != Some(FORMAT) {
            return Err(StoreError::Format { path: self.path.clone() });
        }
        match self.meta("study").as_deref() == Some(study) {
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

    /// Writes finished runs with their seconds, all in one transaction. A run that is there already stays as it is.
    ///
    /// # Errors
    /// [`StoreError::Sqlite`]
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
        })
    }

    /// Calls `each` with every finished run and its seconds, in the order of their numbers; only one is in memory at a time.
    ///
    /// # Errors
    /// [`StoreError::Sqlite`]
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
        let fail = |source| StoreError::Sqlite { path: self.path.clone(), source };
        let all = format!("{READ} ORDER BY run.job");
        let mut statement = self.connection.prepare(&all).map_err(fail)?;
        let mut rows = statement.query([]).map_err(fail)?;
        while let Some(row) = rows.next().map_err(fail)? {
            let (job, record, seconds) = read(row).map_err(fail)?;
            each(job, record, seconds)?;
        }
        Ok(())
    }

    /// Takes over the runs of another store of the same study: all of them, or on an error none.
    ///
    /// # Errors
    /// [`StoreError::Disagreement`] where both have a run and it did not end alike.
    pub fn merge(&mut self, other: &Store) -> Result<(), StoreError> {
        let path = self.path.clone();
        let fail = |source| StoreError::Sqlite { path: path.clone(), source };
        let transaction = self.connection.transaction().map_err(fail)?;
        other.visit(|job, record, seconds| match find(&transaction, job).map_err(fail)? {
            None => write(&transaction, job, &record, seconds).map_err(fail),
            Some(known) if fingerprint(&known) == fingerprint(&record) => Ok(()),
            Some(_) => Err(StoreError::Disagreement { path: other.path.clone(), job }),
        })?;
        transaction.commit().map_err(fail)
    }
}

/// Reads rows of [`read`].
const READ: &str = "SELECT run.*, time.seconds FROM run LEFT JOIN time ON run.job = time.job";

fn read(row: &Row<'_>) -> rusqlite::Result<(u64, Record, Option<f64>)> {
    // SQLite keeps NaN as NULL
    let real = |i: usize| row.get::<_, Option<f64>>(i).map(|x| x.unwrap_or(f64::NAN));
    let whole = |i: usize| row.get::<_, i64>(i).map(|n| n as u64);
    let numbers = |i: usize| row.get_ref(i)?.as_blob().map(numbers).map_err(rusqlite::Error::from);
    let record = Record {
        status: row.get(1)?,
        converged: row.get(2)?,
        local_minimum: row.get(3)?,
        digits: real(4)?,
        initial: real(5)?,
        last: real(6)?,
        steps: whole(7)?,
        residual_evaluations: whole(8)?,
        jacobian_evaluations: whole(9)?,
        hessian_evaluations: whole(10)?,
        parameters: numbers(11)?,
        trace: Point::all(&numbers(12)?),
    };
    Ok((whole(0)?, record, row.get(13)?))
}

fn find(connection: &Connection, job: u64) -> rusqlite::Result<Option<Record>> {
    let mut statement = connection.prepare_cached(&format!("{READ} WHERE run.job = ?1"))?;
    statement.query_row([job as i64], |row| read(row).map(|(_, record, _)| record)).optional()
}

fn write(connection: &Connection, job: u64, record: &Record, seconds: Option<f64>) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR IGNORE INTO run VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13)")?
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
            blob(record.parameters.iter().copied()),
            blob(record.trace.iter().flat_map(Point::numbers)),
        ])?;
    if let Some(seconds) = seconds {
        connection
            .prepare_cached("INSERT OR IGNORE INTO time VALUES (?1,?2)")?
            .execute(params![job as i64, seconds])?;
    }
    Ok(())
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
