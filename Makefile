# Each target is one line of what a person would type; the environment comes first by itself.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/ready
# The site has an environment of its own, so that people and tests do not install Sphinx.
SITE   := .venv-docs
N       = 100
SECONDS = 1500
RECOMPUTE = 20
NIGHTLY = nightly

.DEFAULT_GOAL := help
.PHONY: help demo test golden nightly lint faults mutants bench record check-record wheel archive readme pages docs clean

help:            ## Show the targets
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed 's/:[^#]*##/\t/' | expand -t 15

demo: $(READY)   ## The whole pipeline on embedded data, without network; says what was learned
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/mnlearn demo

test: $(READY)   ## The tests
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pytest -m "not slow and not nightly" -n 3 --dist loadgroup

nightly: $(READY) ## The tests that take minutes; .ci/run leaves out those that are `long`
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pytest -m "$(NIGHTLY)" -n 3 --dist loadgroup

golden: $(READY) ## The golden values on the benchmark data (MNLEARN_DATA_MIRROR)
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pytest -m slow

lint: $(READY)   ## Style, types and workflow
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/snakefmt --check Snakefile workflow

faults: $(READY) ## Kills, full disks, a hostile server, mutated files; N=1000 for the long run
	@PATH="$(CURDIR)/$(BIN):$$PATH" MNLEARN_FAULTS=$(N) $(BIN)/pytest tests/faults

mutants: $(READY) ## Small changes of the code: do the tests notice? SECONDS=1500 of processor time
	@PYTHONPATH=tests nice -n 15 $(BIN)/python -m mutants --seconds $(SECONDS)

bench: $(READY)  ## Speed, beside Libra's figures
	@$(BIN)/python -m benchmarks --out build/bench.csv --figure build/cost.png

record: $(READY) ## All studies from this commit, with their pages; hours
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m workflow.record

check-record: $(READY) ## Is the record complete; do pages follow; are RECOMPUTE=20 records the same again (SEED=)
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m workflow.record --check --recompute $(RECOMPUTE) $(addprefix --seed=,$(SEED))

wheel: $(READY)  ## A wheel for this platform and version of Python, with compiled kernels, in dist/
	@$(BIN)/python -m workflow.compiled build/compiled
	@$(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .

archive: $(READY) ## The checkout and its record as an RO-Crate, in build/
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python workflow/archive.py

readme: $(READY) ## Write the generated tables and the overviews of results/
	@$(BIN)/python workflow/readme.py

pages: $(READY) ## Write what `make readme` writes and the pages of all studies
	@$(BIN)/python workflow/readme.py --pages

docs: $(SITE)/ready ## The documentation site, in build/docs/html
	@$(SITE)/bin/python -m sphinx -W --keep-going -q -c docs -d build/docs/doctrees . build/docs/html
	@echo "open build/docs/html/index.html in a browser"

docs/images/inference.png: docs/gallery/plot_6_inference.py $(READY)
	@MPLBACKEND=Agg $(BIN)/python -c 'import runpy; plt = runpy.run_path("$<")["plt"]; plt.gcf().savefig("$@", dpi=183)'

clean:           ## Remove environments, data, models, logs and the built documentation; the records stay
	rm -rf $(VENV) $(SITE) build/compiled build/docs docs/generated .snakemake results/data results/logs results/benchmarks results/checkpoints results/made results/*/models results/*/parts results/*/per_example results/*/queries

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("mnlearn needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	@echo "creating the environment in $(VENV) (about a minute)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(READY)

$(SITE)/ready: requirements.lock docs/requirements.lock pyproject.toml
	@echo "creating the environment of the site in $(SITE) (about a minute)"
	@$(PYTHON) -m venv $(SITE)
	@$(SITE)/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock --requirement docs/requirements.lock
	@$(SITE)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(SITE)/ready
