"""Make the record of all studies from one commit, or check it (`make record`, `make check-record`).

The record is made of cells and other records, one JSON file each, in `results/STUDY`. Tables,
figures and pages follow from them. A run that was interrupted goes on where it ended, because
records that are current are not made again.

    python -m workflow.record                                make what is missing or stale
    python -m workflow.record --check                        is it complete; do pages follow from it
    python -m workflow.record --check --recompute 20         and are 20 records the same once more
"""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from mnlearn.runtime.files import write_json
from mnlearn_studies.plan.configuration import plan_of
from mnlearn_studies.records.kinds import ASKED
from mnlearn_studies.report.all_products import NOTE, digest_records
from mnlearn_studies.study.definition import shipped_studies
from workflow.recomputation import recompute

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results"
STUDIES = tuple(shipped_studies())
# What the results and their pages are computed from, beside the data.
SOURCES = ("src", "workflow", "Snakefile", "config.yaml", "requirements.lock", "docs/methods")
# It leaves out what the file has of this code already.
BENCH = (
    *("python", "-m", "benchmarks"),
    *("--out", "results/bench.csv", "--figure", "docs/images/cost.png"),
)


def git(*arguments: str) -> str:
    """Return what a git command prints."""
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def run(*command: str, folder: Path = ROOT) -> None:
    """Run a command, or end with its status."""
    print("+", *command, flush=True)
    if status := subprocess.run(command, cwd=folder, check=False).returncode:
        sys.exit(status)


def clean_commit() -> str:
    """Return the commit of the checkout, or end if it is not the whole of the sources."""
    if changed := git("status", "--porcelain", "--", *SOURCES):
        sys.exit(f"record: expected a clean checkout, but these have changed:\n{changed}")
    return git("rev-parse", "HEAD")


def make() -> None:
    """Run all studies, measure, write all pages, and note the commit."""
    commit = clean_commit()
    hours = {}
    for study in STUDIES:
        began = time.monotonic()
        run("mnlearn", "study", study)
        hours[study] = round((time.monotonic() - began) / 3600, 2)
    if incomplete := [study for study in STUDIES if any(lacking(study))]:
        sys.exit(f"record: not complete: {', '.join(incomplete)}")
    run(*BENCH)
    if clean_commit() != commit:
        sys.exit("record: the checkout has changed while the record was made")
    made = {study: digest_records(plan_of(study, [], left_out={}), study) for study in STUDIES}
    said = {"commit": commit, "records": made, "hours_of_last_run": hours}
    write_json(RESULTS / NOTE, said)
    run(sys.executable, "workflow/costs.py")
    run(sys.executable, "workflow/readme.py", "--pages")


def lacking(study: str) -> tuple[list[str], list[str]]:
    """Return the records of a study that are missing, and those that are not current."""
    plan = plan_of(study, [], left_out={})
    records = plan.all_records(study)
    missing = [str(plan.path(record)) for record in records if not plan.versions(record)]
    stale = [str(plan.versions(record)[0]) for record in records if plan.stale(record)]
    return missing, stale


def unplanned(study: str) -> list[str]:
    """Return the records of a study that its plan does not have, such as those of a former plan."""
    plan = plan_of(study, [], left_out={})
    planned = {path for record in plan.all_records(study) for path in plan.versions(record)}
    found = {path for kind in ASKED for path in (RESULTS / study / kind).glob("*/*.json")}
    return sorted(map(str, found - planned))


def check(n_recomputed: int, minutes: float, seed: int) -> int:
    """Say what is missing, stale or different; return an exit status.

    n_recomputed, minutes, seed : the records to draw and to make again, see `recompute`.
    """
    complete = True
    for study in STUDIES:
        missing, stale = lacking(study)
        more = unplanned(study)
        complete &= not (missing or stale or more)
        print(
            f"{study}: {len(missing)} records are missing, {len(stale)} are not current, "
            f"{len(more)} are in no plan"
        )
        for path in plan_of(study, [], left_out={}).of_other_models(study):
            print(f"{path}: is about another model than the cell of its method")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "checkout"
        run("git", "clone", "--quiet", str(ROOT), str(copy))
        changed = remade_products(copy)
        print(changed or "tables, figures and pages are those that the records give", flush=True)
        say = partial(print, flush=True)
        n = n_recomputed
        same = not n or recompute(ROOT, copy, n=n, minutes=minutes, seed=seed, say=say)
    return 0 if complete and not changed and same else 1


def remade_products(copy: Path) -> str:
    """Make all tables, figures and pages again in a clone, and return which git says differ."""
    for study in STUDIES:
        for products in ("tables", "figures"):
            shutil.rmtree(copy / "results" / study / products, ignore_errors=True)
        remake = "from mnlearn.cli import main; main()"
        arguments = ("study", study, "--recorded")
        environment = ("env", f"PYTHONPATH={copy / 'src'}")
        run(*environment, sys.executable, "-c", remake, *arguments, folder=copy)
    run(*environment, sys.executable, "workflow/readme.py", "--pages", folder=copy)
    command = ["git", "-C", str(copy), "status", "--porcelain"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> None:
    """Read the arguments, and make the record or check it."""
    parser = argparse.ArgumentParser(description="Make the record of all studies, or check it.")
    parser.add_argument("--check", action="store_true", help="check instead of make")
    parser.add_argument(
        "--recompute", type=int, default=0, metavar="N", help="records to make again"
    )
    parser.add_argument("--minutes", type=float, default=20.0, help="in which N records are made")
    parser.add_argument("--seed", type=int, help="of the draw; a random one, which is printed")
    given = parser.parse_args()
    if not given.check:
        if sys.argv[1:]:
            parser.error("--recompute, --minutes and --seed are read with --check")
        make()
        return
    seed = random.randrange(10**6) if given.seed is None else given.seed
    sys.exit(check(given.recompute, given.minutes, seed))


if __name__ == "__main__":
    main()
