# What COCO's and optimagic's own code says of the study in study/; experiments/tests/statistics/published.rs is held to it. Run with
#     pip install cocopp==2.9.1 optimagic==0.5.3 plotly && python others.py
# which writes others.csv. Each run goes to COCO as a trial in its own file format, with the relative error in the place of f − f_opt, so
# that 1e-6 is six digits; to optimagic as the cost of each task.
import itertools, os, tempfile
import numpy as np, pandas as pd, cocopp
from optimagic.visualization.profile_plot import _extract_profile_plot_lines, create_solution_times
from exported import runs, solvers, problems, digits, to_digits, by_task

out = []
def row(name, *xs):
    out.append(",".join([name, *[x if isinstance(x, str) else repr(float(x)) for x in xs]]))

def coco_files(folder, p, s):
    """The trials of a solver on a problem, as an experiment of COCO on function p + 1 leaves them."""
    trials = [run for run in runs if (run.problem, run.solver) == (p, s)]
    name, folder = f"bbobexp_f{p + 1}", folder / f"s{s}-p{p}"
    (folder / f"data_f{p + 1}").mkdir(parents=True)
    ends = []
    for kind in ("dat", "tdat"):
        with open(folder / f"data_f{p + 1}/{name}_DIM{trials[0].n}.{kind}", "w") as file:
            for run in trials:
                file.write("% f evaluations | g evaluations | best noise-free fitness - Fopt (0.0) + sum g_i+ | measured fitness | best measured fitness or single-digit g-values | x1 | x2...\n")
                least = np.inf
                for evaluations, _, error in run.trace:
                    least = min(least, error)
                    file.write(f"{max(int(evaluations), 1)} 0 {least:+.17e} {error:+.17e} {least:+.17e} {' '.join(['+0.0'] * run.n)}\n")
                if int(run.evaluations) > int(run.trace[-1, 0]):
                    file.write(f"{int(run.evaluations)} 0 {least:+.17e} {least:+.17e} {least:+.17e} {' '.join(['+0.0'] * run.n)}\n")
                ends.append(f"{run.start + 1}:{int(run.evaluations)}|{least:.1e}")
    with open(folder / f"{name}.info", "w") as file:
        file.write(f"suite = 'bbob', funcId = {p + 1}, DIM = {trials[0].n}, Precision = 1.000e-11, algId = '{solvers[s]}', logger = 'bbob', data_format = 'bbob-new2', coco_version = '2.6'\n")
        file.write(f"% {solvers[s]}\ndata_f{p + 1}/{name}_DIM{trials[0].n}.dat, {', '.join(ends[:len(trials)])}\n")
    return folder / f"{name}.info"

import pathlib
cocopp.genericsettings.verbose = False
with tempfile.TemporaryDirectory() as folder:
    for p, s in itertools.product(range(len(problems)), range(len(solvers))):
        [data] = cocopp.load(str(coco_files(pathlib.Path(folder), p, s)))
        targets = [10.0 ** -d for d in digits]
        row("ert", problems[p], solvers[s], *data.detERT(targets))
        for target, evals in zip(digits, data.detEvals(targets)):
            row("trials", problems[p], solvers[s], target, *np.sort(np.where(np.isnan(evals), np.inf, evals)))

names = [f"{run.problem}-{run.start}" for run in runs]
for d in digits:
    costs = pd.DataFrame({"problem": names, "algorithm": [solvers[run.solver] for run in runs],
                          "n_evaluations": [to_digits(run, d) for run in runs]})
    reached = costs.assign(ok=np.isfinite(costs.n_evaluations)).pivot(index="problem", columns="algorithm", values="ok")
    times = create_solution_times(costs, "n_evaluations", reached)
    for line in _extract_profile_plot_lines(times, True, reached, itertools.cycle([""])):
        row("profile", d, line.name, *itertools.chain(*zip(line.x, line.y)))
open(__file__.replace(".py", ".csv"), "w").write("\n".join(out) + "\n")
