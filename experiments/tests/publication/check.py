"""Looks at a report's tables, figures and data with what their readers use: LaTeX, Poppler and pyarrow.

    python3 check.py REPORT

What is wrong is told, and ends it with 1. A tool that is not there is told, and ends it with 3 once all others are done.
"""
import csv, json, math, pathlib, shutil, struct, subprocess, sys, tempfile

report = pathlib.Path(sys.argv[1]).resolve()
wrong, missing = [], []


def tables():
    """Each table compiles with booktabs, and LaTeX says nothing of characters that it has not."""
    all = sorted(report.glob("tables/*.tex"))
    text = "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{booktabs,longtable}\\begin{document}\\tiny\n"
    text += "".join(f"\\noindent\\input{{{own}}}\\clearpage\n" for own in all) + "\\end{document}\n"
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "all.tex").write_text(text)
        ran = subprocess.run(["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "all.tex"],
                             cwd=folder, capture_output=True, text=True, errors="replace")
        log = pathlib.Path(folder, "all.log").read_text(errors="replace") if ran.returncode == 0 else ""
        if ran.returncode != 0:
            wrong.append("LaTeX: " + "\n".join(ran.stdout.splitlines()[-15:]))
        if "Missing character" in log or "undefined" in log:
            wrong.append("LaTeX: " + next(line for line in log.splitlines() if "Missing" in line or "undefined" in line))
    return f"{len(all)} tables compiled", len(all) >= 7


def figures():
    """Each figure opens, and there is something on it besides the page."""
    all = sorted(report.glob("figures/**/*.pdf"))
    for own in all:
        ran = subprocess.run(["pdftoppm", "-r", "20", "-gray", own], capture_output=True)
        pixels = ran.stdout.split(b"\n", 3)[-1]
        dark = sum(pixel < 160 for pixel in pixels)
        if ran.returncode != 0 or ran.stderr or not 20 < dark < len(pixels) / 2:
            wrong.append(f"{own}: {ran.stderr.decode(errors='replace')} {dark} dark of {len(pixels)}")
    return f"{len(all)} figures opened", len(all) >= 9


def data():
    """Parquet holds the names, the order and the values of CSV: numbers by value, and nothing where CSV has nothing."""
    import pyarrow.parquet
    all, values = sorted(report.glob("data/*.parquet")), 0
    for own in all:
        table = pyarrow.parquet.read_table(own)
        with open(own.with_suffix(".csv"), newline="", encoding="utf-8") as file:
            names, *rows = csv.reader(file)
        if table.column_names != names or table.num_rows != len(rows):
            wrong.append(f"{own}: its columns or rows are not those of CSV")
            continue
        for k, name in enumerate(names):
            for i, (value, text) in enumerate(zip(table[name].to_pylist(), (row[k] for row in rows))):
                if value is None:
                    same = text == ""
                elif isinstance(value, str):
                    same = value == text
                elif isinstance(value, int):
                    same = str(value) == text
                else:
                    same = text != "" and (float(text) == value or math.isnan(value) and math.isnan(float(text)))
                values += 1
                if not same:
                    wrong.append(f"{own}: {name}, row {i + 1}: {value!r} is not {text!r}")
    return f"{len(all)} Parquet files with {values} values are their CSV", len(all) >= 8 and values > 1000


def runs():
    """A line of runs.jsonl says what methods.md says that it does: the counts, digits and cost of the table of runs."""
    with open(report / "data/runs.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    lines = (report / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    real = lambda bits: struct.unpack("d", struct.pack("Q", bits))[0]
    points = 0
    for row, line in zip(rows, lines, strict=True):
        status, words = json.loads(line)
        number, _, _, parameters, _, *counts, digits, _, last, _ = words[:12]
        course = [real(bits) for bits in words[12 + parameters:]]
        said = [str(number), status, *map(str, counts), real(digits), real(last)]
        due = [row[name] for name in ("run", "status", "residuals", "Jacobians", "Hessians")]
        due += [float(row["digits"]), float(row["cost"])]
        same = all(a == b or a != a and b != b for a, b in zip(said, due, strict=True))
        if not same or len(course) % 9 or course and course[-9 + 1] > counts[0]:
            wrong.append(f"run {number}: {said} is not {due}")
        points += len(course) // 9
    return f"{len(lines)} runs with {points} points read as methods.md says", points > 100


def there(tool):
    if tool != "pyarrow":
        return shutil.which(tool) is not None
    try:
        import pyarrow
        return True
    except ImportError:
        return False


for tool, look in [("pdflatex", tables), ("pdftoppm", figures), ("pyarrow", data), ("python3", runs)]:
    if not there(tool):
        missing.append(f"NOT CHECKED, as there is no {tool}: {look.__doc__}")
        continue
    said, enough = look()
    print(said)
    if not enough:
        wrong.append(f"too little to look at: {said}")
for line in wrong + missing:
    print(line, file=sys.stderr)
sys.exit(1 if wrong else 3 if missing else 0)
