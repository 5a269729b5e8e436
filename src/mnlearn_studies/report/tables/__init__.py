"""Tables of a study: built by kind, rendered as CSV, Markdown and LaTeX.

Each kind is a function with its options in a file of its own; `KINDS` names them.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from mnlearn.runtime.files import write_text
from mnlearn.runtime.names import one_line
from mnlearn_studies.datasets.sample_names import base_of
from mnlearn_studies.report.options import Keys, Kind, Options
from mnlearn_studies.report.products import (
    PRODUCT,
    Labels,
    check_entry,
    chosen_products,
    shown_labels,
)
from mnlearn_studies.report.tables.averages import AVERAGES
from mnlearn_studies.report.tables.choices import CHOICES
from mnlearn_studies.report.tables.compare import COMPARE
from mnlearn_studies.report.tables.datasets import DATASETS
from mnlearn_studies.report.tables.edge_limits import EDGE_LIMITS
from mnlearn_studies.report.tables.effects import EFFECTS, SCORES_BY_VALUE
from mnlearn_studies.report.tables.formats import to_csv, to_latex, to_markdown
from mnlearn_studies.report.tables.paired import PAIRED
from mnlearn_studies.report.tables.ranks import RANKS
from mnlearn_studies.report.tables.sizes import SIZES
from mnlearn_studies.report.tables.stacked import STACKED
from mnlearn_studies.report.tables.table import Material, Table, mark_stale
from mnlearn_studies.report.tables.times import TIMES
from mnlearn_studies.report.tables.traces import TRACES, trace_numbers
from mnlearn_studies.report.tables.training_times import TRAINING_TIMES
from mnlearn_studies.report.tables.units import UNITS_OF_AXES
from mnlearn_studies.report.tables.variants import VARIANTS, VARIANTS_BY_DATASET
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.mentions import check_sources, kinds_read
from mnlearn_studies.study.published import tidy_scores
from mnlearn_studies.study.samples import list_means

# Imported by name, so that digests of this code cover all kinds (see `runtime.code_digest`).
KINDS: dict[str, Kind[Material, Table]] = {
    "compare": COMPARE,
    "stacked": STACKED,
    "variants": VARIANTS,
    "variants_by_dataset": VARIANTS_BY_DATASET,
    "times": TIMES,
    "sizes": SIZES,
    "datasets": DATASETS,
    "ranks": RANKS,
    "paired": PAIRED,
    "effects": EFFECTS,
    "scores_by_value": SCORES_BY_VALUE,
    "averages": AVERAGES,
    "choices": CHOICES,
    "edge_limits": EDGE_LIMITS,
    "training_times": TRAINING_TIMES,
    "units": UNITS_OF_AXES,
}
# The pairs (dataset, method) with a record that is not current, by the kind of the record.
Stale = Mapping[str, AbstractSet[tuple[str, str]]]
# Options of every table.
COMMON: Keys = {**PRODUCT, "traces": TRACES}


def make_table(
    study: Study,
    product: Options,
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
    check_entry(study, "tables", product, KINDS, COMMON)
    ordered: Labels = study.labels(labels)
    where = f"study {study.name}, table {product['name']}"
    ordered = shown_labels(product, ordered, where)
    scores = scores[scores["study"] == study.name]
    if tuning is not None and "traces" in product:
        found = trace_numbers(product["traces"], study.name, list(ordered), tuning)
        scores = pd.concat([scores, found]) if len(found) else scores
    check_sources(study.name, study.content, "tables", product, scores=scores, published=published)
    scores = tidy_scores(scores)
    if "datasets" in product:
        scores = scores[scores["dataset"].isin(list(ordered))]
    material = Material(study.name, scores, published, ordered)
    table = KINDS[product["kind"]].make(material, product)
    # Tables of samples have rows of means, and of the datasets that the samples are drawn from.
    marked = stale | {(of, method) for d, method in stale for of in (*list_means([d]), base_of(d))}
    caption = one_line(str(product["caption"]))
    named = dataclasses.replace(table, name=str(product["name"]), caption=caption)
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


def write_tables(made: Iterable[Table], folder: Path) -> None:
    """Write tables as `<name>.csv`, `.md` and `.tex`."""
    for table in made:
        write_text(folder / f"{table.name}.csv", to_csv(table))
        write_text(folder / f"{table.name}.md", to_markdown(table))
        write_text(folder / f"{table.name}.tex", to_latex(table))
