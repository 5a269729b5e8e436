"""The index of all results, and the table of all claims with the commands that check them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from mnlearn.runtime.names import counted
from mnlearn_studies.datasets.sample_names import base_of
from mnlearn_studies.plan.planning import Plan
from mnlearn_studies.records.files import read_record, sum_seconds
from mnlearn_studies.report.claims import KINDS
from mnlearn_studies.report.claims.verdicts import GROUPS, SETUP
from mnlearn_studies.report.markdown import bullets, escape, page, pipe_table
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.frames import read_frame
from mnlearn_studies.study.mentions import named_datasets, named_methods

GROUPS_SAID = (
    "Supported: our number agrees with the published one within a tolerance, or the effect is "
    "larger here. Faster here: the paper states a long time, and we need less. A claim that "
    "compares several methods or scores counts once for each comparison. Comparisons beyond the "
    "papers are not counted."
)


def read_claims(folder: Path) -> pd.DataFrame:
    """Return the claims in a study's results, without those about the set-up."""
    claims = read_frame(folder / "claims.csv", ("id", "kind", "statement", "verdict"))
    setups = [name for name, kind in KINDS.items() if kind.is_setup]
    is_setup = claims["kind"].isin(setups) | (claims["verdict"] == SETUP)
    return claims[~is_setup]


def count_groups(claims: pd.DataFrame) -> list[int]:
    """Return the number of claims in each of `GROUPS`."""
    return [int(claims["verdict"].isin(names).sum()) for names in GROUPS.values()]


def link_study(name: str) -> str:
    """Return a link from a page of all results to that of a study."""
    return f"[`{name}`]({name}/README.md)"


def build_index(studies: Mapping[str, Study], results: Path) -> str:
    """Return the index of some studies, each with `claims.csv` in the folder of the results."""
    header = ("study", "what", "datasets", "methods", *GROUPS)
    rows = []
    for name, study in studies.items():
        counts = count_groups(read_claims(results / name))
        sizes = (len(study.bases), len(study.methods))
        numbers = [*map(str, sizes), *(str(n) if any(counts) else "–" for n in counts)]
        rows.append([link_study(name), escape(study.content["title"]), *numbers])
    files = (
        "`STUDY/README.md`: the page of a study, with its figures, tables and claims; `index.html` "
        "beside it is the same page in one file, which a run writes and git does not keep",
        "`STUDY/tables/`, `figures/`, `claims.md`: what the page shows, each in a file of its own",
        "`STUDY/scores.csv`: every number of a study, one a row",
        "`STUDY/cells/` and the folders beside it: the records, from which all others follow",
    )
    return page(
        "# Results",
        "One row for each study. The last columns count the claims of its paper by our verdict on "
        f"them; statements about the set-up of an experiment are left out. {GROUPS_SAID}",
        pipe_table(header, rows, "ll" + "r" * (len(header) - 2)),
        "`mnlearn study NAME` computes what is missing or stale and writes these files anew. The "
        "study `demo` is not kept here; `mnlearn demo` runs it.",
        "[Fidelity](FIDELITY.md): how many of the published numbers, claims and figures are "
        "reproduced, and why others are not. [Conclusions](conclusions.md): which of them survive "
        "a good optimiser. [Record](RECORD.md): which commit and machine made these results, and "
        "in how many hours. [From claim to command](CLAIMS.md): how to check each claim, in how "
        "many minutes.",
        "## Files",
        bullets(files),
    )


def build_claim_page(studies: Mapping[str, Study], results: Path) -> str:
    """Return the page with the command, the minutes and the file of each claim of the papers."""
    rows = [row for name, study in studies.items() for row in _claim_rows(study, results / name)]
    header = ("study", "claim", "in our words", "verdict", "command", "datasets", "minutes")
    return page(
        "# From claim to command",
        "Every claim of the five papers about results: the command that computes what checks it, "
        "and the minutes that the cells of the methods it names took on one core on its datasets, "
        "search and scoring together; `--datasets` computes some of them. The minutes are at least "
        "so many where a method has no cell in the study. A dash stands where the claim names no "
        "method, or no cell is recorded. The file of the study has the numbers.",
        pipe_table(header, rows, "lrlllrr"),
    )


def _claim_rows(study: Study, folder: Path) -> Iterator[tuple[str, ...]]:
    cells = sorted((folder / "cells").glob("*/*.json"))
    seconds = {
        (path.parent.name, path.stem.partition("@")[0]): sum(sum_seconds([read_record(path)]))
        for path in cells
    }
    entries = {(int(e["id"]), str(e["statement"])): e for e in study.content["claims"]}
    for claim in read_claims(folder).itertuples():
        entry = entries.get((int(claim.id), str(claim.statement)))
        # The claims were written with an earlier version of the study.
        if entry is None:
            continue
        datasets = study.expand(named_datasets(entry, study.datasets))
        methods = named_methods(entry)
        needed = [(dataset, method) for method in sorted(methods) for dataset in sorted(datasets)]
        known = [cell for cell in needed if cell in seconds]
        has_all = {method for _, method in known} == methods
        yield (
            f"[`{study.name}`]({study.name}/claims.md)",
            str(claim.id),
            escape(str(claim.statement)),
            str(claim.verdict),
            f"`mnlearn study {study.name}`",
            str(len({base_of(dataset) for dataset in datasets})),
            _minutes([seconds[cell] for cell in known], has_all),
        )


def _minutes(seconds: Sequence[float], has_all: bool) -> str:
    """Return the minutes of some cells; has_all : whether every method has one."""
    if not seconds:
        return "–"
    minutes = sum(seconds) / 60
    shown = f"{minutes:,.0f}" if minutes >= 10 else f"{minutes:.1f}"
    return shown if has_all else f"at least {shown}"


# How many digests of a step the table shows.
_SHOWN = 2
_Records = Sequence[Mapping[str, Any]]


def describe_provenance(paths: Mapping[str, Sequence[Path]]) -> list[str]:
    """Return the paragraphs on the records of a study; paths : those of each kind."""
    records, rows = _load(paths), []
    cells = records.get("cells", [])
    for method in dict.fromkeys(str(cell.get("method")) for cell in cells):
        own = [cell for cell in cells if cell.get("method") == method]
        seconds = (f"{s:,.0f}" if s >= 10 else f"{s:.2g}" for s in sum_seconds(own))
        rows.append((f"cells of `{method}`", str(len(own)), *seconds, _digests(own)))
    for kind, of_kind in records.items():
        if of_kind and kind != "cells":
            rows.append((kind, str(len(of_kind)), "–", "–", _digests(of_kind)))
    head = ("records", "number", "seconds of the search", "seconds of scoring")
    return [
        "Every number comes from a record, a JSON file. The digest covers all code that the record "
        "depends on.",
        pipe_table((*head, "digests of the code"), rows, "lrrrl"),
        bullets(_machines(records)),
    ]


def build_record_page(plans: Mapping[str, Plan], commit: str) -> str:
    """Return the page on all records; commit : that all were made at, empty if at several."""
    counts = {}
    records: dict[str, list[Mapping[str, Any]]] = {}
    for name, plan in plans.items():
        loaded = _load(plan.kept(name))
        for kind, of_kind in loaded.items():
            records.setdefault(kind, []).extend(of_kind)
        hours = [seconds / 3600 for seconds in sum_seconds(loaded.get("cells", ()))]
        sizes = (sum(map(len, loaded.values())), len(plan.all_records(name)))
        counts[f"[`{name}`]({name}/README.md)"] = (*sizes, *hours)
    counts["all"] = tuple(map(sum, zip(*counts.values(), strict=True))) or (0, 0, 0.0, 0.0)
    rows = [
        (name, f"{made:,}", f"{planned:,}", f"{search:.2f}", f"{scoring:.2f}")
        for name, (made, planned, search, scoring) in counts.items()
    ]
    made_at = (
        f"All records were made by the code of commit `{commit}`."
        if commit
        else "Its records were made at several commits. Tables mark numbers of earlier code with "
        "†; `mnlearn study NAME --stale` says of each record what has changed since."
    )
    header = ("study", "records", "planned", "hours of the search", "hours of scoring")
    return page(
        "# The record",
        made_at,
        pipe_table(header, rows, "lrrrr"),
        "## Where it was made",
        bullets(_machines(records)),
        "## How to make and to check it",
        "`make record` computes what is missing or stale of all studies, then the measurements of "
        "`results/bench.csv` and all pages; it goes on where it was interrupted. `make "
        "check-record` lists records that are missing or not current, and compares tables, figures "
        "and pages with those that the records give.",
    )


def _load(paths: Mapping[str, Sequence[Path]]) -> dict[str, list[dict[str, Any]]]:
    return {kind: [read_record(path) for path in of_kind] for kind, of_kind in paths.items()}


def _steps(records: _Records) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each step that made a record, such as "learned", with what the record says of it."""
    for record in records:
        for key, value in sorted(record.items()):
            if key.endswith("_by") and isinstance(value, dict) and "machine" in value:
                yield key.removesuffix("_by"), value


def _digests(records: _Records) -> str:
    """Return the most frequent digests of each step, and how many more there are."""
    counts: dict[str, Counter[str]] = {}
    for step, made in _steps(records):
        counts.setdefault(step, Counter())[str(made.get("code_digest"))] += 1
    texts = []
    for step, of_step in counts.items():
        frequent = sorted(of_step, key=lambda digest: (-of_step[digest], digest))
        listed = ", ".join(f"`{digest}`" for digest in frequent[:_SHOWN])
        n_more = len(of_step) - _SHOWN
        texts.append(f"{step} {listed}" + (f" and {n_more} more" if n_more > 0 else ""))
    return "; ".join(texts) or "–"


def _machines(records: Mapping[str, _Records]) -> Iterator[str]:
    made = [made for of_kind in records.values() for _, made in _steps(of_kind)]
    machines = Counter(str(step["machine"]) for step in made)
    versions: dict[str, set[str]] = {}
    for step in made:
        of_step = step.get("versions")
        for name, version in (of_step if isinstance(of_step, dict) else {}).items():
            versions.setdefault(str(name), set()).add(str(version))
    listed = {
        "Machines": [
            f"{machine} ({counted(machines[machine], 'job')})" for machine in sorted(machines)
        ],
        "Versions": [f"{name} {', '.join(sorted(versions[name]))}" for name in sorted(versions)],
    }
    yield from (escape(f"{what}: {'; '.join(found)}.") for what, found in listed.items() if found)
