"""What the tests of both engines have in common: a study of half a minute, the run without a cluster, and what reports must agree in."""

import contextlib
import filecmp
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

SHARDS = 4
# Slow solvers, so that something can be killed halfway, whose runs differ in length.
STUDY = """
name = "cluster"
seed = 7
[[suites]]
name = "nist"
problems = ["Misra1a", "DanWood", "Chwirut2", "MGH09", "Thurber"]
[[solvers]]
solver = "gradient-descent"
[[solvers]]
solver = "nelder-mead"
[[solvers]]
solver = "levenberg-marquardt"
[starts]
random = 40
spread = 2.0
[budget]
iterations = 3000
"""


class Folder:
    """A new folder with the study, and the program that runs it."""

    def __init__(self, program, name):
        self.program = str(Path(program).resolve())
        self.path = Path(program).resolve().parent.parent / "cluster" / name
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir(parents=True)
        (self.path / "study.toml").write_text(STUDY)

    def keyfit(self, *line):
        print("keyfit", *line, flush=True)
        subprocess.run([self.program, *line], cwd=self.path, check=True)

    def submit(self, engine, environment):
        line = ["study", "submit", "study.toml", "--engine", engine, "--shards", str(SHARDS)]
        print("keyfit", *line, flush=True)
        return subprocess.Popen([self.program, *line], cwd=self.path, env=environment)

    def finished(self, shard):
        """How many runs of a shard are in its store."""
        store = self.path / f"study.toml.{shard}.runs"
        with contextlib.suppress(sqlite3.OperationalError):
            with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
                return connection.execute("SELECT count(*) FROM run").fetchone()[0]
        return 0

    def compare(self):
        """The report of what the cluster has run against that of a run without it."""
        self.keyfit("study", "report", "study.toml", "--out", "cluster")
        self.keyfit("study", "run", "study.toml", "--store", "alone.runs")
        self.keyfit("study", "report", "study.toml", "--store", "alone.runs", "--out", "alone")
        alone, cluster = files(self.path / "alone"), files(self.path / "cluster")
        demand(alone == cluster, "the reports hold different files")
        _, differ, broken = filecmp.cmpfiles(self.path / "alone", self.path / "cluster", alone, shallow=False)
        demand(not differ and not broken, f"these files differ: {differ + broken}")
        print(f"{len(alone)} files of the report are the same, byte for byte, as without a cluster")


def files(folder):
    """Every file of a report but the times and the machine's."""
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    return [name for name in names if not name.startswith("times/") and name != "machine.json"]


def share():
    """How many runs a shard has."""
    return 5 * 3 * 42 // SHARDS


def demand(holds, otherwise):
    if not holds:
        sys.exit(f"FAILED: {otherwise}")


def wait(what, condition, seconds=120):
    """Asks until there is an answer, and gives it."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        answer = condition()
        if answer:
            return answer
        time.sleep(0.05)
    sys.exit(f"FAILED: {what} did not happen within {seconds} seconds")


def variables(process, names):
    """These variables of a process's environment; None if it has ended or lacks one."""
    try:
        pairs = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    found = dict(pair.decode(errors="replace").split("=", 1) for pair in pairs if b"=" in pair)
    return [found[name] for name in names] if all(name in found for name in names) else None


def children(process):
    """The processes that a process has started."""
    found = []
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(word) for word in path.read_text().split()]
    return found


def stop(processes):
    """Ends these processes of ours, and waits for them."""
    for process in processes:
        with contextlib.suppress(OSError):
            process.kill()
        process.wait()
