"""The index of all results, and the table of all claims with the commands that check them."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from mnlearn_studies.datasets.sample_names import base_of
from mnlearn_studies.records.files import read_record
from mnlearn_studies.records.seconds import sum_seconds
from mnlearn_studies.report.claims import KINDS
from mnlearn_studies.report.claims.verdicts import (
    CONTRADICTED,
    FASTER,
    MORE,
    NOISE,
    REPRODUCED,
    SETUP,
    SLIP,
    SMALLER,
    UNKNOWN,
)
from mnlearn_studies.report.markdown import bullets, escape, page, pipe_table
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.frames import read_frame
from mnlearn_studies.study.mentions import named_datasets, named_methods

# Verdicts that pages count together.
GROUPS = {
    "supported": (REPRODUCED, MORE),
    "faster here": (FASTER,),
    "smaller effect": (SMALLER,),
    "contradicted": (CONTRADICTED,),
    "paper contradicts itself": (SLIP,),
    "not checked": (UNKNOWN, NOISE),
}
GROUPS_SAID = (
    "Supported: our number agrees with the published one within a tolerance, or the effect is "
    "larger here. Faster here: the paper states a long time, and we need less. A claim that "
    "compares several methods or scores counts once for each comparison. Comparisons beyond the "
    "papers are not counted."
)


def read_claims(folder: Path) -> pd.DataFrame:
    """Return the claims about results in the file `claims.csv` of a study's results.

    Statements about the set-up are left out.
    """
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
        "reproduced, and why others are not. [Record](RECORD.md): which commit and machine made "
        "these results, and in how many hours. [From claim to command](CLAIMS.md): how to check "
        "each claim, in how many minutes.",
        "## Files",
        bullets(files),
    )


def build_claim_page(studies: Mapping[str, Study], results: Path) -> str:
    """Return the table of all claims of the studies of papers.

    It has the command that checks each claim, its minutes, its file.
    """
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
