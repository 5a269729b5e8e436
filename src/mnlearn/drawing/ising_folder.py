"""The folder of an Ising network: its tables, figures and model."""

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from mnlearn.learning.ising.estimate import Estimate
from mnlearn.runtime.atomic import atomic_path
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_json, write_json
from mnlearn.runtime.names import guarded

if TYPE_CHECKING:
    import pandas as pd

# What is written for some options only. Another run into the same folder removes those of these
# files that it does not write itself.
_PARTS = ("stability", "differences", "case_drop", "comparison")
OPTIONAL = (
    *(f"{name}.{kind}" for name in _PARTS for kind in ("pdf", "png")),
    *("differences_edges.csv", "differences_strength.csv", "case_drop.csv"),
    *("comparison_tests.csv", "comparison_edges.csv"),
)
_SUMMARY = "summary.json"
_MODEL = "model.npz"
# All that it may write.
FILES = (
    *("edges.csv", "thresholds.csv", "weights.csv", "centrality.csv"),
    *("network.pdf", "network.png", "centrality.pdf", "centrality.png"),
    *(_MODEL, _SUMMARY, *OPTIONAL),
)


def check_folder(out: Path, *, resampled: bool, dropped: bool, compared: bool) -> None:
    """Refuse a folder that has files of the names that are written, but not from an earlier run."""
    chosen = {"stability": resampled, "differences": resampled}
    chosen |= {"case_drop": dropped, "comparison": compared}
    parts = tuple(part for part, is_written in chosen.items() if is_written)
    own = _written_before(out)
    for name in FILES:
        is_written = name not in OPTIONAL or name.startswith(parts)
        if is_written and name not in own and os.path.lexists(out / name):
            raise InputError(
                f"{out / name}: is not of an earlier `mnlearn ising`, which writes files of this "
                "name; expected another folder."
            )


def _guarded(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table whose texts no spreadsheet takes for formulas."""
    table = table.rename(columns=guarded, index=lambda n: guarded(n) if isinstance(n, str) else n)
    return table.map(lambda cell: guarded(cell) if isinstance(cell, str) else cell)


def write_folder(out: Path, found: Estimate) -> None:
    """Write all files of the folder; they take their places once all of them are written."""
    from mnlearn.drawing.ising import draw_all
    from mnlearn.drawing.style import name_missing_glyphs, render
    from mnlearn.models.io.native import write_npz

    with name_missing_glyphs():
        drawn = {name: render(figure) for name, figure in draw_all(found).items()}
    tables = {
        f"{name}.csv": _guarded(table).to_csv(index=name == "weights", lineterminator="\n")
        for name, table in _tables(found).items()
    }
    pictures = {
        f"{name}.{suffix}": content
        for name, contents in drawn.items()
        for suffix, content in zip(("pdf", "png"), contents, strict=True)
    }
    before = _written_before(out)
    written = {*tables, *pictures, _MODEL, _SUMMARY}
    with ExitStack() as stack:
        places = {
            # The last one takes its place first, and the summary last.
            name: stack.enter_context(atomic_path(out / name))
            for name in (_SUMMARY, _MODEL, *tables, *pictures)
        }
        for name, text in tables.items():
            places[name].write_bytes(text.encode("utf-8"))
        for name, content in pictures.items():
            places[name].write_bytes(content)
        write_npz(found.network.markov_network(found.schema), places[_MODEL])
        write_json(places[_SUMMARY], {**found.summary, "files": sorted(written)})
    for name in before.intersection(OPTIONAL) - written:
        (out / name).unlink(missing_ok=True)


def _written_before(out: Path) -> set[str]:
    """Return the files that an earlier run wrote into the folder."""
    try:
        files = read_json(out / _SUMMARY)["files"]
        return {name for name in FILES if name in files}
    except (InputError, OSError, KeyError, TypeError):
        return set()


def _tables(found: Estimate) -> dict[str, "pd.DataFrame"]:
    """Return the tables by the names of their files."""
    from mnlearn.learning.ising.network import case_drop_frame, differences_frame

    network, coding = found.network, found.coding
    tables = {
        "edges": network.edges_frame(found.stability, coding),
        "thresholds": network.variables_frame(coding),
        "weights": network.weights_frame(coding),
        "centrality": found.item_frame(),
    }
    if found.stability is not None:
        for of in ("edges", "strength"):
            table = differences_frame(network, found.stability, of, coding)
            tables[f"differences_{of}"] = table
    if found.cases is not None:
        tables["case_drop"] = case_drop_frame(found.cases)
    if found.comparison is not None:
        tests, edges = found.comparison.tests.copy(), found.comparison.edges.copy()
        strengths = [name for name in tests if name.startswith("strength: ")]
        tests[["value", *strengths]] *= network.scale(coding)
        weights = [name for name in edges if name.startswith("weight: ")]
        edges[[*weights, "difference"]] *= network.scale(coding)
        tables |= {"comparison_tests": tests, "comparison_edges": edges}
    return tables
