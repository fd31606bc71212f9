# Needs a Rust toolchain, a C compiler and make; what else is missing is installed with apt.

CARGO ?= cargo
SUDO := $(shell test "$$(id -u)" = 0 || echo sudo)
KEYFIT := target/release/keyfit
SOLVER := target/solver
HYPERQUEUE := target/hyperqueue
CHECKS := target/checks
UNCHECKED := target/unchecked

.PHONY: demo test setup lint bench rules study instructions alike publication venv cluster hyperqueue slurm

# The main job: fits of the examples, and all solvers on all problems with known answers.
demo: setup
	$(CARGO) build --release --locked -p keyfit
	$(KEYFIT) fit experiments/examples/marker.rectsl --target x:1=-4,3=4
	$(KEYFIT) fit 'b1*(1-exp(-b2*t))' --data experiments/examples/misra1a.csv --start b1=500,b2=0.0001
	$(KEYFIT) compare --out target/demo
	$(KEYFIT) plot experiments/examples/arc.rectsl --out target/demo/arc.svg

# Everything that must hold.
test: setup lint
	$(CARGO) test --locked --workspace --all-features
	$(MAKE) demo
	$(MAKE) alike
	$(MAKE) hyperqueue
	$(MAKE) publication
	$(KEYFIT) verify agreement --triples 5000000
	$(MAKE) rules
	$(KEYFIT) verify simplify --pairs 100000000
	$(KEYFIT) verify proofs
	@cat $(UNCHECKED)

# A debug build and a release build write the same report, but for the revision in the manifest, which a release build has.
alike:
	rm -rf target/alike && mkdir -p target/alike
	for kind in debug release; do \
		target/$$kind/keyfit study run experiments/examples/small.toml --store target/alike/$$kind.runs && \
		target/$$kind/keyfit study report experiments/examples/small.toml --store target/alike/$$kind.runs --out target/alike/$$kind \
		|| exit 1; \
	done
	test ! -e .git || grep "\"revision\": \"$$(git rev-parse HEAD)" target/alike/release/manifest.json
	for kind in debug release; do sed -i '/"revision":/d' target/alike/$$kind/manifest.json; done
	diff -r -x times -x machine.json target/alike/debug target/alike/release

lint: setup
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets --all-features -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --all-features --no-deps

# Asks an SMT solver about every rewrite rule, at binary64: minutes the first time, then answers are kept in target/smt.
rules: setup $(SOLVER)/ready
	$(CARGO) build --release --locked -p keyfit
	PATH="$(CURDIR)/$(SOLVER)/bin:$$PATH" $(KEYFIT) verify rules --rounding-points 2000000 --confirm 2

# bitwuzla's Python package proves and z3's confirms. Where they cannot be had, cvc5 and z3 of Debian, which are slower.
$(SOLVER)/ready: | venv
	rm -rf $(SOLVER)
	{ python3 -m venv $(SOLVER) && $(SOLVER)/bin/python3 -m pip install 'bitwuzla==0.10.*' 'z3-solver==5.*'; } \
		|| { $(SUDO) apt-get update && { $(SUDO) apt-get install -y cvc5 || $(SUDO) apt-get install -y z3; }; }
	mkdir -p $(SOLVER)/bin && touch $@

# What makes Python's environments.
venv:
	@python3 -c 'import ensurepip' 2>/dev/null || { $(SUDO) apt-get update && $(SUDO) apt-get install -y python3-venv; } || true

# Studies on real engines, killed halfway: the reports are those of a run without a cluster.
cluster: hyperqueue slurm

hyperqueue: setup $(HYPERQUEUE)/ready
	$(CARGO) build --release --locked -p keyfit
	$(HYPERQUEUE)/bin/python3 -B experiments/tests/cluster/hq_test.py $(KEYFIT)

# Server and workers of this very version: the test shows its workers where the server is.
$(HYPERQUEUE)/ready: | venv
	rm -rf $(HYPERQUEUE)
	python3 -m venv $(HYPERQUEUE) && $(HYPERQUEUE)/bin/python3 -m pip install 'hyperqueue==0.27.0'
	touch $@

slurm: export PATH := $(PATH):/usr/sbin
slurm: setup
	@command -v slurmd >/dev/null || { $(SUDO) apt-get update && $(SUDO) apt-get install -y --no-install-recommends slurm-wlm munge; }
	$(CARGO) build --release --locked -p keyfit
	python3 -B experiments/tests/cluster/slurm_test.py $(KEYFIT)

# All solvers on all problems as a study with its report, in target/study/report. The README shows one of its figures, without the
# numbers that a page's script reads out.
study: setup
	$(CARGO) build --release --locked -p keyfit
	mkdir -p target/study
	$(KEYFIT) study run experiments/examples/gallery.toml --store target/study/gallery.runs
	rm -rf target/study/report
	$(KEYFIT) study report experiments/examples/gallery.toml --store target/study/gallery.runs --out target/study/report
	$(KEYFIT) study verify target/study/report
	sed -E 's/ data-values="[^"]*"//; /visibility="hidden"/d' target/study/report/figures/performance-6.svg > experiments/docs/gallery.svg

# A report with hostile names, looked at with what its readers use: LaTeX, Poppler, pyarrow and a browser. What cannot be had is
# told, here and at the end of the tests, and not taken for a fault.
publication: setup $(CHECKS)/ready
	$(CARGO) build --release --locked -p keyfit
	rm -rf target/publication && mkdir -p target/publication && : > $(UNCHECKED)
	$(KEYFIT) study run experiments/tests/publication/study.toml --store target/publication/runs
	$(KEYFIT) study report experiments/tests/publication/study.toml --store target/publication/runs --out target/publication/report
	@if test -x $(CHECKS)/bin/python3; then python=$(CHECKS)/bin/python3; else python=python3; fi; \
		$$python experiments/tests/publication/check.py target/publication/report 2> target/publication/said; code=$$?; \
		cat target/publication/said; grep 'NOT CHECKED' target/publication/said >> $(UNCHECKED); test $$code = 0 -o $$code = 3
	@if command -v chromium || command -v chromium-browser || command -v google-chrome; then \
		$(CARGO) test --locked -p keyfit --all-features --test program browser -- --ignored; \
	else echo 'NOT CHECKED, as there is no browser: the report in a browser' | tee -a $(UNCHECKED); fi

$(CHECKS)/ready: | venv
	@command -v pdflatex >/dev/null && command -v pdftoppm >/dev/null && command -v chromium >/dev/null || $(SUDO) apt-get update || true
	@for tool in pdflatex:texlive-latex-recommended pdftoppm:poppler-utils chromium:chromium; do \
		command -v $${tool%:*} >/dev/null || $(SUDO) apt-get install -y --no-install-recommends $${tool#*:} || true; done
	rm -rf $(CHECKS)
	python3 -m venv $(CHECKS) && $(CHECKS)/bin/python3 -m pip install -q pyarrow && touch $@ || true

# Counts instructions under valgrind, which does not know the newest ones.
instructions: setup
	@command -v valgrind >/dev/null || { $(SUDO) apt-get update && $(SUDO) apt-get install -y valgrind; }
	TARGET_CPU=x86-64-v3 $(CARGO) bench --locked --target-dir target/counted -p keyfit --bench instructions > target/instructions.md
	mv target/instructions.md experiments/docs/instructions.md

bench: setup
	$(CARGO) bench --locked -p keyfit -p keyfit-rewrite --bench speed --bench scale --bench study --bench simplify

# GMP's configure script wants m4; the test that runs GLSL compiles it as C++.
setup:
	@command -v m4 >/dev/null || { $(SUDO) apt-get update && $(SUDO) apt-get install -y m4; }
	@command -v c++ >/dev/null || command -v g++ >/dev/null || { $(SUDO) apt-get update && $(SUDO) apt-get install -y g++; }
