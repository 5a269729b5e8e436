"""Tables of a study: built by kind, rendered as CSV, Markdown and LaTeX.

Each kind is a dataclass in a file of this package, whose fields are its options; a table that only
one study has is a function in the file of this study. See `KINDS` and `OF_STUDIES`.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from mnlearn.runtime.files import write_text
from mnlearn.runtime.names import one_line
from mnlearn_studies.datasets.sample_names import base_of
from mnlearn_studies.records.kinds import KINDS as RECORDS
from mnlearn_studies.report.products import Labels, Material, chosen_products, read_entry
from mnlearn_studies.report.tables.compare import Compare, Stacked
from mnlearn_studies.report.tables.datasets import Datasets
from mnlearn_studies.report.tables.edge_limits import EdgeLimits
from mnlearn_studies.report.tables.formats import to_csv, to_latex, to_markdown
from mnlearn_studies.report.tables.of_gssl import (
    tabulate_choices,
    tabulate_cmll_by_value,
    tabulate_effects,
    tabulate_weight_seconds,
)
from mnlearn_studies.report.tables.of_lem import tabulate_times, tabulate_units
from mnlearn_studies.report.tables.over_methods import Spread
from mnlearn_studies.report.tables.paired import Paired
from mnlearn_studies.report.tables.ranks import Ranks
from mnlearn_studies.report.tables.table import Table, TableEntry, mark_stale
from mnlearn_studies.report.tables.time_notes import time_notes
from mnlearn_studies.report.tables.traces import trace_numbers
from mnlearn_studies.report.tables.variants import Variants, VariantsByDataset
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.mentions import check_sources
from mnlearn_studies.study.published import tidy_scores
from mnlearn_studies.study.reading import walk
from mnlearn_studies.study.samples import list_means

# Tables that one study has; they take no options.
OF_STUDIES: dict[str, Callable[[Material], Table]] = {
    "gssl.choices": tabulate_choices,
    "gssl.effects": tabulate_effects,
    "gssl.cmll_by_value": tabulate_cmll_by_value,
    "gssl.weight_seconds": tabulate_weight_seconds,
    "lem.times": tabulate_times,
    "lem.units": tabulate_units,
}
# Imported by name, so that digests of this code cover all kinds (see `runtime.code_digest`).
KINDS: dict[str, type[TableEntry]] = {
    "compare": Compare,
    "stacked": Stacked,
    "variants": Variants,
    "variants_by_dataset": VariantsByDataset,
    "datasets": Datasets,
    "ranks": Ranks,
    "paired": Paired,
    "spread": Spread,
    "edge_limits": EdgeLimits,
    **dict.fromkeys(OF_STUDIES, TableEntry),
}
# Records besides cells that tables of a kind show without naming their quantities.
SHOWN = {"paired": ("paired",), "lem.times": ("times",), "lem.units": ("likelihoods",)}
# The pairs (dataset, method) with a record that is not current, by the kind of the record.
Stale = Mapping[str, AbstractSet[tuple[str, str]]]


def make_table(
    study: Study,
    product: Mapping[str, Any],
    scores: pd.DataFrame,
    published: pd.DataFrame,
    *,
    labels: Labels,
    stale: AbstractSet[tuple[str, str]] = frozenset(),
    tuning: Path | None = None,
) -> Table:
    """Return the table of one entry of a study, with its caption and with stale numbers marked.

    Parameters
    ----------
    study : Study
        The study.
    product : mapping
        The entry. The option `datasets` restricts the table to these datasets; `traces` adds
        numbers of the traces of tuning (see `traces.trace_numbers`).
    scores, published, labels, stale
        See `make_tables`.
    tuning : Path, optional
        Folder of the traces, <dataset>/<method>.csv; needed for the option `traces` only.

    Raises
    ------
    InputError
        The entry is of an unknown kind, its options are not what the kind expects, or it names a
        quantity that there is not.
    """
    entry = read_entry(study, "tables", product, KINDS)
    scores = scores[scores["study"] == study.name]
    material = Material(study, scores, published, study.labels(labels)).shown(entry, "tables")
    if tuning is not None and entry.traces:
        found = trace_numbers(entry.traces, study.name, list(material.labels), tuning)
        scores = pd.concat([scores, found]) if len(found) else scores
    check_sources(study.name, study.content, "tables", product, scores=scores, published=published)
    material = dataclasses.replace(material, scores=tidy_scores(scores))
    material = material.shown(entry, "tables")
    of_study = OF_STUDIES.get(entry.kind)
    table = entry.tabulate(material) if of_study is None else of_study(material)
    # Tables of samples have rows of means, and of the datasets that the samples are drawn from.
    marked = stale | {(of, method) for d, method in stale for of in (*list_means([d]), base_of(d))}
    caption = one_line(entry.caption)
    notes = (*table.notes, *time_notes(material.scores, product))
    named = dataclasses.replace(table, name=entry.name, caption=caption, notes=notes)
    return mark_stale(named, marked)


def make_tables(
    study: Study,
    scores: pd.DataFrame,
    published: pd.DataFrame,
    labels: Mapping[str, str],
    *,
    tuning: Path,
    stale: Stale = MappingProxyType({}),
    only: list[str] | None = None,
) -> list[Table]:
    """Return the tables of a study, in its order.

    Parameters
    ----------
    study : Study
        The study.
    scores : pandas.DataFrame
        As `study.gather.gather` returns them, or as read from its CSV.
    published : pandas.DataFrame
        See `study.published.load_published`.
    labels : mapping of str to str
        Names of the datasets for readers.
    tuning : Path
        Folder of the traces of tuning, <dataset>/<method>.csv.
    stale : mapping of str to set of (str, str)
        By the kind of record, the pairs (dataset, method) whose numbers are marked.
    only : list of str, optional
        Names of the tables to make; all if not given.

    Raises
    ------
    InputError
        See `report.products.chosen_products` and `make_table`.
    """
    made = []
    for product in chosen_products(study, "tables", only):
        marked = {cell for kind in kinds_read(product) for cell in stale.get(kind, ())}
        made.append(
            make_table(
                study, product, scores, published, labels=labels, stale=marked, tuning=tuning
            )
        )
    return made


def kinds_read(product: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the kinds of records that the numbers of a table may come from."""
    quantities = [
        str(options["quantity"])
        for _, options in walk(product)
        if "study" not in options and "quantity" in options
    ]
    found = [name for name, kind in RECORDS.items() if any(map(kind.shows, quantities))]
    return ("cells", *dict.fromkeys((*found, *SHOWN.get(str(product["kind"]), ()))))


def write_tables(made: Iterable[Table], folder: Path) -> None:
    """Write tables as `<name>.csv`, `.md` and `.tex`."""
    for table in made:
        write_text(folder / f"{table.name}.csv", to_csv(table))
        write_text(folder / f"{table.name}.md", to_markdown(table))
        write_text(folder / f"{table.name}.tex", to_latex(table))
