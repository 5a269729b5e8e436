"""Mutants of the package: how many do the tests notice?

A sample of small changes is made, one at a time, and the tests that run the changed function are
run against each. `make mutants` writes what became of them to build/mutants.csv, and prints the
shares. A mutant that changes no behaviour is listed in equivalent.tsv, with the reason.
"""

import argparse
import csv
import importlib.util
import os
import random
import resource
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from importlib.machinery import SourceFileLoader
from pathlib import Path
from time import process_time  # tests put another one into its place

# Children of a fork have these already.
import hypothesis  # noqa: F401
import numba
import pandas as pd  # noqa: F401
import pytest
import requests  # noqa: F401
import scipy.optimize  # noqa: F401
import scipy.stats  # noqa: F401
import yaml  # noqa: F401

from mutants import pure_kernels
from mutants.forks import in_fork
from mutants.operators import mutants, mutate
from mutants.targets import ROOT, TARGETS

OUT = ROOT / "build/mutants.csv"
EQUIVALENT = Path(__file__).with_name("equivalent.tsv")
# What names a mutant as long as its function stays as it is.
KEY = ("module", "holder", "kind", "before", "after", "nth")
# Of one test while it is noted what it calls, which takes several times as long, and of all that
# are run against one mutant.
MOST_SECONDS_OF_TEST, MOST_SECONDS = 20.0, 60.0
# Of all files of tests of a target with compiled kernels, the time to compile included.
MOST_SECONDS_OF_CONTROL = 300.0
# What those take on an idle machine, more or less; a run that takes longer is looked at twice.
SECONDS_OF_COMPILED = 60.0
# The same of the tests of kernels by themselves, without compilation.
SECONDS_OF_OWN = 15.0
# The tests of kernels by themselves; tests by their names, the quickest first; compiled kernels.
OWN, NAMED, COMPILED = "own", "named", "compiled"
# Of one file of tests while it is noted what it calls.
MOST_SECONDS_OF_FILE = 300.0
OPTIONS = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:randomly"]
# Compiled kernels do not warn of numbers that are out of range.
PLAIN_OPTIONS = [*OPTIONS, "-W", "ignore::RuntimeWarning"]


class Mutated(SourceFileLoader):
    """Loads a module from a syntax tree in the place of its file."""

    def __init__(self, name, path, tree):
        super().__init__(name, str(path))
        self.tree = tree

    def get_code(self, fullname):
        return compile(self.tree, self.path, "exec")


class Finder:
    """Finds one module, mutated."""

    def __init__(self, name, path, tree):
        self.name, self.path, self.tree = name, path, tree

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        loader = Mutated(name, self.path, self.tree)
        return importlib.util.spec_from_file_location(name, self.path, loader=loader)


class Recorder:
    """Notes for each test that passes which functions it calls, and its seconds."""

    def __init__(self, files):
        self.files = {str(path) for path in files}
        self.called, self.tests = set(), {}
        self.began = 0.0

    def trace(self, frame, event, argument):
        code = frame.f_code
        if code.co_filename in self.files:
            self.called.add((code.co_filename, code.co_firstlineno))

    def pytest_runtest_setup(self, item):
        self.called, self.began = set(), process_time()
        threading.settrace(self.trace)
        sys.settrace(self.trace)

    def pytest_runtest_logreport(self, report):
        if report.when == "call":
            sys.settrace(None)
            threading.settrace(None)
            # Processor time, because others may use the machine too.
            seconds = process_time() - self.began
            if report.passed and seconds < MOST_SECONDS_OF_TEST:
                self.tests[report.nodeid] = [seconds, sorted(self.called)]


def prepare(group):
    """Make a fork ready to run tests."""
    from hypothesis import settings

    settings.register_profile("mutants", deadline=None, derandomize=True, database=None)
    settings.load_profile("mutants")
    os.chdir(ROOT)
    if group == "kernels":
        pure_kernels.use()


def record(target):
    """Return the tests of a target by name, with their seconds and the functions they call."""
    recorder = Recorder(target.files())
    options = PLAIN_OPTIONS if target.group == "kernels" else OPTIONS

    def work():
        prepare(target.group)
        status = int(pytest.main([*options, "-m", "not slow", *paths], plugins=[recorder]))
        return recorder.tests, status

    found = {}
    # One file at a time: one that takes too long leaves the others.
    for place in target.tests:
        folder = ROOT / "tests" / place
        for path in sorted(folder.rglob("test_*.py")) if folder.is_dir() else [folder]:
            paths = [str(path)]
            outcome = in_fork(work, MOST_SECONDS_OF_FILE)
            own, status = outcome.value or ({}, 0)
            found |= own
            if outcome.how != "done" or status not in (0, 1):
                how = outcome.how if status == 0 else f"pytest ended with status {status}"
                print(f"{path.relative_to(ROOT)}: {how}, left out", flush=True)
    return found


def choose(tests, path, mutant):
    """Return the tests that call the changed function, the quickest first, within a limit.

    A change outside of all functions is seen by the tests that call any function of the module.
    """
    able = [
        (seconds, name)
        for name, (seconds, called) in tests.items()
        if any(f == str(path) and mutant.function in (0, line) for f, line in called)
    ]
    chosen, total = [], 0.0
    for seconds, name in sorted(able):
        total += seconds
        if total > MOST_SECONDS:
            break
        chosen.append(name)
    return chosen


class Ended:
    """Counts the tests that have ended."""

    def __init__(self):
        self.n = 0

    def pytest_runtest_logfinish(self, nodeid, location):
        self.n += 1


def run_tests(group, chosen, most_seconds, change=None, stage=NAMED):
    """Run tests in a fork, after a change of the package if one is given; return the outcome.

    Its value is the status of pytest and the number of tests up to the first that failed.
    """
    compiled = stage == COMPILED
    with tempfile.TemporaryDirectory() as folder:
        # Other runs of pytest clear the common folder of temporary files.
        options = PLAIN_OPTIONS if group == "kernels" and not compiled else OPTIONS
        options = [*options, f"--basetemp={folder}/tests", "-m", "not slow", "-x"]
        if stage == OWN:
            # They need no fixtures of others, and half of the time would be their import.
            options.append("--noconftest")

        def work():
            if change is not None:
                change()
            if compiled:
                numba.config.CACHE_DIR = f"{folder}/kernels"
            prepare(None if compiled else group)
            ended = Ended()
            return [int(pytest.main([*options, *chosen], plugins=[ended])), ended.n]

        return in_fork(work, most_seconds)


def try_mutant(target, path, mutant, tests, controls):
    """Return what became of a mutant.

    tests : what `record` returns, by target; those of this target are recorded when needed.

    "killed" by a failed test or by time or memory; "survived"; "not run" by any test; "control" if
    its tests do not pass together without it; "error" if pytest or the driver failed.
    """
    name = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
    tree = mutate(path.read_text(), mutant)

    def change():
        sys.meta_path.insert(0, Finder(name.removesuffix(".__init__"), path, tree))

    def judged(chosen, seconds, stage):
        return judge(target.group, chosen, change, controls, seconds, stage)

    if target.own:
        outcome = judged(places(target.own), SECONDS_OF_OWN, OWN)
        if outcome != "survived":
            return outcome
    if target not in tests:
        tests[target] = announced(target)
    chosen = choose(tests[target], path, mutant)
    seconds = sum(tests[target][test][0] for test in chosen)
    outcome = judged(chosen, seconds, NAMED) if chosen else "not run"
    if target.compiled and outcome in ("survived", "not run"):
        # Plain kernels are slow, so that these are only the quick ones of the tests.
        outcome = judged(places(target.compiled), SECONDS_OF_COMPILED, COMPILED)
    return outcome


def places(tests):
    """Return the paths of files and folders of tests."""
    return [str(ROOT / "tests" / place) for place in tests]


def announced(target):
    """Record the tests of a target, and say so."""
    began = time.monotonic()
    found = record(target)
    spent = time.monotonic() - began
    print(f"{target.group} {target.modules[0]}: {len(found)} tests, {spent:.0f} s", flush=True)
    return found


def judge(group, chosen, change, controls, seconds, stage):
    """Return what tests say of a change.

    controls : keeps what they say without a change, and the seconds that they take then.
    seconds : that they take, about.
    """
    outcome = run_tests(group, chosen, 10 + 4 * seconds, change, stage)
    if outcome.how == "done" and outcome.value[0] == 0:
        return "survived"
    if outcome.how == "done" and stage == NAMED:
        # What failed has to pass without the change, after the same tests.
        chosen = chosen[: max(outcome.value[1], 1)]
    key = (group, stage, *chosen)
    if key not in controls:
        began = time.monotonic()
        control = run_tests(group, chosen, MOST_SECONDS_OF_CONTROL, stage=stage)
        controls[key] = control, time.monotonic() - began
    control, seconds_of_control = controls[key]
    if control.how != "done" or control.value[0] != 0:
        return "control"
    if outcome.how == "too long" and seconds_of_control > seconds:
        outcome = run_tests(group, chosen, 10 + 4 * seconds_of_control, change, stage)
    if outcome.how in ("too long", "killed"):
        return "killed"
    # The same tests passed without the change. Statuses 2 and 4 are errors while tests are
    # collected, such as at the import of the mutant; 5 says that no test is there any more.
    by_status = {0: "survived", 1: "killed", 2: "killed", 4: "killed", 5: "killed"}
    return by_status.get(outcome.value[0], "error") if outcome.how == "done" else "error"


def equivalents():
    """Return the mutants that were judged to change no behaviour."""
    with EQUIVALENT.open(newline="") as file:
        return {key_of(row) for row in csv.DictReader(file, delimiter="\t")}


def not_killed(out):
    """Return the mutants that a former run did not kill."""
    with out.open(newline="") as file:
        return {key_of(row) for row in csv.DictReader(file) if row["outcome"] != "killed"}


def key_of(row):
    """Return the name of a mutant."""
    return tuple(str(row[key]) for key in KEY)


def sample(seed):
    """Yield (target, file, mutant) in a random order in which the groups take turns."""
    by_group = {}
    for target in TARGETS:
        for path in target.files():
            found = mutants(path.read_text())
            by_group.setdefault(target.group, []).extend((target, path, m) for m in found)
    for group, rows in by_group.items():
        random.Random(f"{seed} {group}").shuffle(rows)
    while any(by_group.values()):
        for rows in by_group.values():
            if rows:
                yield rows.pop()


def seconds_used():
    own, children = (
        resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1500, help="processor time to use")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--groups", nargs="*", help="of mutants; all if not given")
    parser.add_argument("--count", type=int, help="mutants of each group at most")
    parser.add_argument("--out", type=Path, default=OUT, help="file of what became of each")
    parser.add_argument("--again", type=Path, help="an --out: only what it has as not killed")
    parser.add_argument("--only", nargs="*", default=[""], help="beginnings of paths of modules")
    given = parser.parse_args()
    rows = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        run(given, rows)
    except KeyboardInterrupt:
        print("interrupted")
    report(rows, given.out)


def run(given, rows):
    """Try mutants until the time is over; `rows` gets what became of each."""
    known, tests, controls = equivalents(), {}, {}
    again = None if given.again is None else not_killed(given.again)
    for target, path, mutant in sample(given.seed):
        if seconds_used() > given.seconds:
            break
        n_tried = sum(row["group"] == target.group for row in rows)
        if (given.groups and target.group not in given.groups) or n_tried == given.count:
            continue
        module = str(Path(*path.relative_to(ROOT / "src").parts[1:]))
        if not module.startswith(tuple(given.only)):
            continue
        row = {"group": target.group, "module": module, **vars(mutant)}
        if again is not None and key_of(row) not in again:
            continue
        if key_of(row) in known:
            row["outcome"] = "equivalent"
        else:
            row["outcome"] = try_mutant(target, path, mutant, tests, controls)
        rows.append(row)
        if row["outcome"] not in ("killed", "equivalent"):
            print(*(row[key] for key in ("outcome", "line", *KEY)), sep=" | ", flush=True)
    for key, (outcome, _) in controls.items():
        if outcome.how != "done" or outcome.value[0] != 0:
            print(f"without a mutant: {outcome}: {' '.join(map(str, key))}", flush=True)


def report(rows, out):
    """Write what became of the mutants, and print the shares."""
    if not rows:
        print("no mutant was tried")
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for group in dict.fromkeys(target.group for target in TARGETS):
        count = Counter(row["outcome"] for row in rows if row["group"] == group)
        run = count["killed"] + count["survived"]
        changed = run + count["not run"] + count["control"] + count["error"]
        if not changed:
            print(f"{group}: none run")
            continue
        share, of_all = (100 * count["killed"] / n if n else 0.0 for n in (run, changed))
        print(
            f"{group}: {sum(count.values())} mutants, {share:.1f} % of those that tests run are "
            f"killed, {of_all:.1f} % of all; {dict(count)}"
        )


if __name__ == "__main__":
    main()
