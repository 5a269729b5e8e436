"""A random sample of records, made again in a copy of the checkout and compared with those kept."""

import dataclasses
import itertools
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mnlearn_studies.datasets.sample_names import base_of
from mnlearn_studies.plan.configuration import configuration, planned
from mnlearn_studies.plan.planning import Plan
from mnlearn_studies.plan.resources import JobResources, load_laws
from mnlearn_studies.records.kind import BESIDE
from mnlearn_studies.records.kinds import KINDS
from mnlearn_studies.records.record import Job, Record
from mnlearn_studies.study.definition import shipped_studies
from workflow import comparison

# A record may take this share of the time, so that one does not take the place of all others.
MOST = 0.15
# Lines that are shown of the differences of a file, and of the output of a job that fails.
_SHOWN = 10
# The workflow gives its jobs these variables too.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
_Say = Callable[[str], None]
# The contents of kept files, each with its record.
_Kept = dict[Path, tuple[Record, Any]]


def recompute(
    root: Path, copy: Path, *, n: int, minutes: float, seed: int, say: _Say = print
) -> bool:
    """Make a sample of records again and compare them; return whether all are as they should be.

    root, copy : the checkout, from which data that were fetched are taken; and a clone of it, in
    which records are replaced. n, minutes : most records to draw, and the time to make them in.
    """
    config = {**configuration(), "parts": 1, "recorded": False}
    plan = planned(list(shipped_studies()), [], config, copy / "results", {})
    expected = JobResources(plan, load_laws()).recorded_seconds
    drawn = draw_sample(plan, n, 60 * minutes, seed, expected)
    say(
        f"recompute: {len(drawn)} records, drawn with seed {seed} from those that take at most "
        f"{MOST * minutes:.3g} minutes by the costs that are recorded"
    )
    made, deadline = Recomputation(plan, root, copy, say), time.monotonic() + 60 * minutes
    for number, record in enumerate(drawn, start=1):
        seconds = sum(map(expected, plan.in_order([record])))
        title = f"[{number}/{len(drawn)}] {name_of(record)}"
        if time.monotonic() + seconds > deadline:
            say(f"{title}: left out, since it takes about {seconds:.0f} s and the time is over")
            continue
        say(f"{title}: begins, about {seconds:.0f} s")
        made.make(record, title)
    made.conclude()
    return not made.faults


def name_of(record: Record) -> str:
    """Return a record as reports name it."""
    words = (record.study, record.dataset, "-".join(record.names), record.kind)
    return " ".join(word for word in words if word)


@dataclass
class Recomputation:
    """Makes records again in a copy of the checkout, and notes which of them differ.

    plan : of the copy. compared : what was made again: records that were drawn, and kept ones that
    these need. faults : those that differ by more than they may, or could not be made. elsewhere :
    what records and this machine say of their arithmetic, where the two differ.
    """

    plan: Plan
    root: Path
    copy: Path
    say: _Say
    compared: set[Record] = field(default_factory=set)
    faults: set[Record] = field(default_factory=set)
    elsewhere: set[str] = field(default_factory=set)

    def make(self, record: Record, title: str) -> None:
        """Make a record and what it lacks, and say whether they are those that are kept."""
        began = time.monotonic()
        kept = self._take(record)
        jobs = self.plan.in_order([record])
        for job in jobs:
            kept |= self._take(job)
            if not self._run(job):
                self.faults.add(job)
                return
        verdict = self._compare(kept)
        n_values = sum(comparison.count_values(content) for _, content in kept.values())
        self.say(f"{title}: {verdict}, {n_values} values, {time.monotonic() - began:.0f} s")

    def _take(self, record: Record) -> _Kept:
        """Remove the files of a record that git keeps, and return their contents."""
        paths = (self.plan.path(record, name) for name in KINDS[record.kind].files)
        texts = (path for path in paths if path.suffix in (".json", ".csv") and path.exists())
        taken = {path: (record, comparison.read_content(path)) for path in texts}
        for path in taken:
            path.unlink()
        return taken

    def job(self, record: Record) -> Job:
        """Return the job of a record, which may make another model than those that stay have."""
        job = self.plan.job(record)
        given = {key: value for key, value in job.given.items() if key != BESIDE}
        return dataclasses.replace(job, given=given)

    def _run(self, record: Record) -> bool:
        """Run the job of a record, and return whether it could."""
        if record.kind == "data":
            self._bring_data(base_of(record.dataset))
        sources = [str(self.copy / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, **_ONE_THREAD, "PYTHONPATH": os.pathsep.join(sources)}
        job = ("step", "record", self.job(record).to_json())
        done = subprocess.run(
            [sys.executable, "-c", "from mnlearn.cli import main; main()", *job],
            cwd=self.copy, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            self.say(f"{name_of(record)}: failed with status {done.returncode}")
            self._list(done.stderr.splitlines()[-_SHOWN:])
        return done.returncode == 0

    def _bring_data(self, base: str) -> None:
        """Copy the files of a dataset that were fetched, and not what was made of them."""
        fetched = self.root / "results" / "data" / base
        if fetched.is_dir():
            ignored = shutil.ignore_patterns("*@*", ".*", "unavailable.txt")
            place = self.copy / "results" / "data" / base
            shutil.copytree(fetched, place, ignore=ignored, dirs_exist_ok=True)

    def _compare(self, kept: _Kept) -> str:
        """Compare files with those that were kept, and return the verdict."""
        made = {path: comparison.read_content(path) for path in kept}
        changed = {
            f"{before} in the record, {after} here"
            for path, (_, content) in kept.items()
            if (before := comparison.arithmetic(content))
            != (after := comparison.arithmetic(made[path]))
        }
        self.elsewhere |= changed
        verdict = "equal"
        for path, (record, content) in kept.items():
            self.compared.add(record)
            found = comparison.differences(content, made[path])
            # What is made from records of other arithmetic is of other arithmetic too.
            beyond = [each for each in found if not (changed and each.is_within_limits())]
            if found:
                verdict = "within the limits" if verdict != "DIFFERS" else verdict
                place = path.relative_to(self.copy)
                more = f", {len(beyond)} by more than they may" if changed else ""
                self.say(f"{place}: {len(found)} values differ{more}")
            if beyond:
                self._list([str(each) for each in beyond[:_SHOWN]])
                self.faults.add(record)
                verdict = "DIFFERS"
        return verdict

    def _list(self, lines: list[str]) -> None:
        for line in lines:
            self.say(f"    {line}")

    def conclude(self) -> None:
        """Say how many records were compared, by which rule, and which are at fault."""
        if self.elsewhere:
            self.say(
                f"This machine rounds otherwise than that of the record: "
                f"{'; '.join(sorted(self.elsewhere))}. So iterations, sizes and single weights may "
                f"differ, and scores by {comparison.SCORE_LIMIT:g} nats per example."
            )
        rule = "within these limits" if self.elsewhere else "equal to the last digit"
        n_right = len(self.compared - self.faults)
        self.say(f"recompute: {n_right} records {rule}, {len(self.faults)} at fault")
        self._list(sorted(map(name_of, self.faults)))


def draw_sample(
    plan: Plan, n: int, seconds: float, seed: int, expected: Callable[[Record], float]
) -> list[Record]:
    """Draw current records such that each kind, and within a kind each study, comes up in turn.

    n, seconds : most records, and the time of all with what they lack. expected : returns the
    seconds of one job.
    """
    rng = random.Random(seed)
    kinds = [_shuffled(plan, kind, rng) for kind in sorted(KINDS)]
    rng.shuffle(kinds)
    drawn: list[Record] = []
    jobs: set[Record] = set()
    left, most = seconds, MOST * seconds
    while kinds and len(drawn) < n:
        for kind in list(kinds):
            for record in kind:
                more = set(plan.in_order([record])) - jobs
                cost = sum(map(expected, more))
                # What others need is compared anyway.
                if record in more and cost <= min(left, most):
                    break
            else:
                kinds.remove(kind)
                continue
            drawn.append(record)
            jobs |= more
            left -= cost
            if len(drawn) == n:
                break
    return drawn


def _shuffled(plan: Plan, kind: str, rng: random.Random) -> Iterator[Record]:
    """Return the current records of a kind in random order, one of each study in turn."""
    by_study = []
    for study in plan.running:
        records = [r for r in plan.records(study, kind) if plan.path(r) in plan.versions(r)]
        rng.shuffle(records)
        by_study.append(records)
    rng.shuffle(by_study)
    turns = itertools.zip_longest(*by_study)
    return iter([record for turn in turns for record in turn if record is not None])
