"""Where numbers come from: the records of a study, and the page on those of all studies."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mnlearn_studies.plan.planning import Plan
from mnlearn_studies.records.files import read_record
from mnlearn_studies.records.seconds import sum_seconds
from mnlearn_studies.report.markdown import bullets, escape, page, pipe_table

# How many digests of a step the table shows.
_SHOWN = 2
_Records = Sequence[Mapping[str, Any]]


def describe_provenance(paths: Mapping[str, Sequence[Path]]) -> list[str]:
    """Return the paragraphs on the records of a study.

    paths : the records of each kind; the kind `cells` has a row for each method.
    """
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
    """Return the page on all records: their commit, machines and versions, and the hours.

    commit : that all records were made at; empty if they were made at several.
    """
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
        "Machines": [f"{machine} ({machines[machine]} jobs)" for machine in sorted(machines)],
        "Versions": [f"{name} {', '.join(sorted(versions[name]))}" for name in sorted(versions)],
    }
    yield from (escape(f"{what}: {'; '.join(found)}.") for what, found in listed.items() if found)
