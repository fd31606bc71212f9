//! Stores that disks and hands have changed, and stores that have lost their power.

use std::fs;
use std::path::{Path, PathBuf};

use keyfit::solvers::Random;
use keyfit::study::Store;
use keyfit::study::store::{Point, Record, StoreError};

/// A folder that goes when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("keyfit-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

type Run = (u64, Record, Option<f64>);

/// Made up, with all that is odd: no trace and a long one, NaN, infinities, zeros of either sign, no seconds.
fn made_up(job: u64) -> Run {
    let mut random = Random::new(job);
    let odd = [f64::NAN, f64::INFINITY, -0.0, 0.0, 1e-300, 11.0];
    let mut number = || match random.bits() % 3 {
        0 => odd[random.bits() as usize % odd.len()],
        _ => random.part(),
    };
    let points = if job.is_multiple_of(4) { 0 } else { 1 + job % 200 };
    let trace = (0..points).map(|iteration| Point {
        iteration,
        residual_evaluations: 2 * iteration + 1,
        jacobian_evaluations: iteration + 1,
        hessian_evaluations: 0,
        cost: number(),
        gradient: number(),
        step: number(),
        radius: number(),
        distance: number(),
    });
    let trace = trace.collect();
    let mut record = Record::failed(["converged", "time-limit", "panicked: ü"][job as usize % 3]);
    (record.trace, record.digits, record.initial, record.last) = (trace, number(), number(), number());
    record.parameters = (0..job % 5).map(|_| number()).collect();
    record.steps = job;
    (job, record, (!job.is_multiple_of(7)).then(|| random.part()))
}

/// What is the same of runs that are the same: NaN is the same as NaN, and zeros are the same.
fn text(run: &Run) -> String {
    format!("{run:?}").replace("-0.0", "0.0")
}

fn runs(store: &mut Store) -> Result<Vec<String>, StoreError> {
    let mut all = Vec::new();
    store.for_each(|job, record, seconds| all.push(text(&(job, record, seconds)))).map(|()| all)
}

/// Puts a store with these bytes there.
fn put(path: &Path, bytes: &[u8], log: Option<&[u8]>) {
    for (end, bytes) in [("", Some(bytes)), ("-wal", log), ("-shm", None)] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        let _ = fs::remove_file(&name);
        bytes.into_iter().for_each(|bytes| fs::write(&name, bytes).unwrap());
    }
}

/// Bits turn over, pieces are lost, filled with zeros or with others: no run is taken for what it was not, and the store is
/// whole again once it has been mended, or says that it cannot be.
#[test]
fn damage_is_found() {
    let folder = Folder::new("damage");
    let (path, copy) = (folder.0.join("a.runs"), folder.0.join("b.runs"));
    let made: Vec<Run> = (0..60).map(made_up).collect();
    let mut store = Store::create(&path, "study").unwrap();
    store.insert(made.iter().cloned()).unwrap();
    drop(store);
    let whole: Vec<String> = made.iter().map(text).collect();
    assert_eq!(runs(&mut Store::open(&path, "study").unwrap()).unwrap(), whole);
    let bytes = fs::read(&path).unwrap();
    let mut random = Random::new(5);
    let (mut refused, mut lost, mut mended) = (0, 0, 0);
    for turn in 0..600 {
        let mut other = bytes.clone();
        let at = random.bits() as usize % bytes.len();
        let from = random.bits() as usize % bytes.len();
        let piece = bytes.len() - at.max(from);
        let page = |at: usize| at / 4096 * 4096;
        match turn % 5 {
            0 => other[at] ^= 1 << (random.bits() % 8),
            1 => other.truncate(at),
            2 => other[at..at + piece.min(512)].fill(0),
            3 => other[at..at + piece.min(16)].copy_from_slice(&bytes[from..from + piece.min(16)]),
            _ => other[page(at)..page(at) + 4096].copy_from_slice(&bytes[page(from)..page(from) + 4096]),
        }
        put(&copy, &other, None);
        match Store::open(&copy, "study").and_then(|mut store| runs(&mut store)) {
            Err(_) => refused += 1,
            Ok(found) => {
                assert!(found.iter().all(|run| whole.contains(run)), "turn {turn} changed a run");
                lost += usize::from(found.len() < whole.len());
            }
        }
        let mend = || -> Result<Vec<String>, StoreError> {
            let mut store = Store::create(&copy, "study")?;
            store.discard_damaged()?;
            let there = store.finished()?;
            store.insert(made.iter().filter(|(job, ..)| !there.contains(job)).cloned())?;
            runs(&mut store)
        };
        if let Ok(found) = mend() {
            assert!(found == whole, "turn {turn} was not mended");
            mended += 1;
        }
    }
    assert!(refused > 200 && mended > 200, "{refused} refused, {lost} lost runs, {mended} mended");
}

/// A store's name is that of a file, whatever else it means to SQLite; a link to a store is the store; and what is no store stays as it is.
#[test]
fn a_name_is_a_file() {
    let folder = Folder::new("names");
    let made: Vec<Run> = (0..3).map(made_up).collect();
    for name in [":memory:", "file:a?mode=memory", "file:b.runs", "a b'c"] {
        let path = folder.0.join(name);
        Store::create(&path, "study").unwrap().insert(made.iter().cloned()).unwrap();
        assert_eq!(runs(&mut Store::open(&path, "study").unwrap()).unwrap().len(), 3, "{name}");
    }
    let (path, link) = (folder.0.join("a b'c"), folder.0.join("link"));
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let held = Store::create(&path, "study").unwrap();
    assert!(matches!(Store::create(&link, "study"), Err(StoreError::InUse { .. })));
    drop(held);
    for open in [Store::create, Store::open] {
        let said = open(&folder.0, "study").unwrap_err().to_string();
        assert!(said.ends_with("it is not a regular file"), "{said}");
    }
    for (k, own) in [
        "CREATE TABLE own (x); INSERT INTO own VALUES (1)",
        "PRAGMA journal_mode = WAL; CREATE TABLE own (x)",
        "CREATE VIEW own AS SELECT 1",
        "PRAGMA user_version = 7",
        "CREATE TABLE meta (a, b)",
    ]
    .into_iter()
    .enumerate()
    {
        let foreign = folder.0.join(format!("foreign{k}.db"));
        let connection = rusqlite::Connection::open(&foreign).unwrap();
        connection.execute_batch(own).unwrap();
        drop(connection);
        let before = fs::read(&foreign).unwrap();
        for open in [Store::create, Store::open] {
            let found = open(&foreign, "study");
            assert!(matches!(found, Err(StoreError::Format { .. })), "{own}: {found:?}");
        }
        assert!(fs::read(&foreign).unwrap() == before, "{own}");
    }
}

/// What goes into a store that was removed would be lost.
#[test]
fn a_store_that_is_removed_is_missed() {
    let folder = Folder::new("removed");
    let path = folder.0.join("a.runs");
    let made: Vec<Run> = (0..9).map(made_up).collect();
    let mut store = Store::create(&path, "study").unwrap();
    store.insert(made[..3].iter().cloned()).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(matches!(store.insert(made[3..6].iter().cloned()), Err(StoreError::Gone { .. })));
    fs::write(&path, "another").unwrap();
    assert!(matches!(store.insert(made[6..].iter().cloned()), Err(StoreError::Gone { .. })));
}

/// What no run that is carried out again can mend is told, and not that one must be carried out again.
#[test]
fn what_cannot_be_mended_is_told() {
    let folder = Folder::new("times");
    let path = folder.0.join("a.runs");
    let made: Vec<Run> = (1..40).filter(|job| job % 7 != 0).map(made_up).collect();
    Store::create(&path, "study").unwrap().insert(made.iter().cloned()).unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    let page: usize = connection
        .query_row("SELECT rootpage FROM sqlite_master WHERE name = 'time'", [], |row| row.get::<_, i64>(0))
        .unwrap() as usize;
    drop(connection);
    let mut bytes = fs::read(&path).unwrap();
    // the end of the page, where its rows are
    bytes[page * 4096 - 512..page * 4096].fill(0);
    fs::write(&path, bytes).unwrap();
    let mut store = Store::create(&path, "study").unwrap();
    let found = store.discard_damaged();
    assert!(matches!(found, Err(StoreError::Damaged { .. })), "{found:?}");
}

/// A store that was closed is one file, which can be read where nothing can be written.
#[test]
fn a_closed_store_needs_no_log() {
    let folder = Folder::new("closed");
    let path = folder.0.join("a.runs");
    let made: Vec<Run> = (0..9).map(made_up).collect();
    // the two bytes are 2 for a file with a log and 1 for one without: https://www.sqlite.org/fileformat.html, "File format version numbers"
    let versions = || fs::read(&path).unwrap()[18..20].to_vec();
    for turn in made.chunks(3) {
        let mut store = Store::create(&path, "study").unwrap();
        store.insert(turn.iter().cloned()).unwrap();
        assert_eq!(versions(), [2, 2]);
        drop(store);
        assert_eq!(versions(), [1, 1]);
        assert!(!folder.0.join("a.runs-wal").exists());
    }
    let whole: Vec<String> = made.iter().map(text).collect();
    let mut reader = Store::open(&path, "study").unwrap();
    assert!(runs(&mut reader).unwrap() == whole);
}

/// Power fails while runs are written: whatever has reached the disk of the log, the store opens with the first batches, each whole.
#[test]
fn a_log_cut_anywhere_leaves_whole_batches() {
    const BATCH: usize = 6;
    let folder = Folder::new("power");
    let (path, copy) = (folder.0.join("a.runs"), folder.0.join("b.runs"));
    let made: Vec<Run> = (0..48).map(made_up).collect();
    let mut store = Store::create(&path, "study").unwrap();
    made.chunks(BATCH).for_each(|batch| store.insert(batch.iter().cloned()).unwrap());
    // as it is before the log is taken into the file
    let (bytes, log) = (fs::read(&path).unwrap(), fs::read(folder.0.join("a.runs-wal")).unwrap());
    drop(store);
    let whole: Vec<String> = made.iter().map(text).collect();
    let mut random = Random::new(9);
    let frames = (0..).map(|frame| 32 + frame * (24 + 4096)).take_while(|end| *end <= log.len());
    let anywhere = (0..60).map(|_| random.bits() as usize % log.len());
    let (mut least, mut most) = (whole.len(), 0);
    for cut in frames.chain(anywhere) {
        put(&copy, &bytes, Some(&log[..cut]));
        let mut store = match Store::create(&copy, "study") {
            Ok(store) => store,
            Err(error) => panic!("cut at {cut}: {error}"),
        };
        let found = runs(&mut store).unwrap();
        assert!(
            found.len().is_multiple_of(BATCH) && found == whole[..found.len()],
            "cut at {cut}: {}",
            found.len()
        );
        (least, most) = (least.min(found.len()), most.max(found.len()));
        store.insert(made.iter().skip(found.len()).cloned()).unwrap();
        assert!(runs(&mut store).unwrap() == whole, "cut at {cut}");
    }
    assert_eq!((least, most), (0, whole.len()));
}
