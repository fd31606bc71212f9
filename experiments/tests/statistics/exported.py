# Reads the study that is kept in study/: its runs as `runs.jsonl` of a report has them (a line is a status and the bits of numbers).
import json, pathlib, struct, tomllib
import numpy as np

here = pathlib.Path(__file__).parent
study = tomllib.loads((here / "study/study.toml").read_text())
solvers = [own["solver"] for own in study["solvers"]]
problems = sorted(study["suites"][0]["problems"])
starts = 3  # two given ones, and a random one
digits, tau = [4, 6, 8, 10], [1e-1, 1e-3, 1e-5, 1e-7]

def real(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]

class Run:
    """A run: trace has columns evaluations, cost and relative error."""
    def __init__(self, line):
        _, words = json.loads(line)
        number, _, _, n, _, *counts = words[:8]
        self.digits, self.initial, self.last, _, *rest = map(real, words[8:])
        self.problem, task = divmod(number, starts * len(solvers))
        self.start, self.solver = divmod(task, len(solvers))
        self.n = n
        points = np.array(rest[n:]).reshape(-1, 9)
        cost = lambda r, j, h: r + n * j + n * (n + 1) / 2 * h
        self.evaluations = cost(*counts)
        self.trace = np.column_stack([cost(points[:, 1], points[:, 2], points[:, 3]), points[:, 4], points[:, 8]])

runs = [Run(line) for line in (here / "study/runs.jsonl").read_text().splitlines()]
assert len(runs) == len(problems) * starts * len(solvers)
certified = [tomllib.loads((here / f"../../suites/nist/{name.lower()}.toml").read_text())["certified"]["sum_of_squares"] for name in problems]
best = list(certified)
for run in runs:
    costs = np.append(run.trace[:, 1], run.last)
    best[run.problem] = min(best[run.problem], np.min(costs[~np.isnan(costs)]))

def first(run, reached, in_the_end):
    """Evaluations until the first point of a run's course that is as wished."""
    if reached.any():
        return max(run.trace[np.argmax(reached), 0], 1.0)
    return max(run.evaluations, 1.0) if in_the_end else np.inf

def to_digits(run, d):
    with np.errstate(divide="ignore"):
        right = np.clip(-np.log10(run.trace[:, 2]), 0, 11)
    return first(run, right >= d, run.digits >= d)

def to_tau(run, t):
    f = best[run.problem] + t * (run.trace[0, 1] - best[run.problem])
    return first(run, run.trace[:, 1] <= f, run.last <= f)

def by_task(value):
    """A row a task (a start of a problem), a column a solver."""
    return np.array([value(run) for run in runs]).reshape(-1, len(solvers))
