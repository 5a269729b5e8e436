"""Tables of a study: built by kind, rendered as CSV, Markdown and LaTeX.

Each kind is a function in a file of its own; `KINDS` names them.
"""

import dataclasses
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path

import pandas as pd

from mnlearn.report.products import Labels, Options, check_kind, chosen_products, shown_labels
from mnlearn.report.tables.averages import tabulate_averages
from mnlearn.report.tables.choices import tabulate_choices
from mnlearn.report.tables.compare import tabulate_columns
from mnlearn.report.tables.datasets import tabulate_datasets
from mnlearn.report.tables.edge_limits import tabulate_edge_limits
from mnlearn.report.tables.effects import tabulate_effects, tabulate_scores_by_value
from mnlearn.report.tables.formats import to_csv, to_latex, to_markdown
from mnlearn.report.tables.paired import tabulate_paired
from mnlearn.report.tables.ranks import tabulate_ranks
from mnlearn.report.tables.sizes import tabulate_sizes
from mnlearn.report.tables.stacked import tabulate_stacked
from mnlearn.report.tables.table import Kind, Material, Table, mark_stale
from mnlearn.report.tables.times import tabulate_times
from mnlearn.report.tables.traces import trace_numbers
from mnlearn.report.tables.variants import tabulate_variants, tabulate_variants_by_dataset
from mnlearn.runtime.files import write_text
from mnlearn.runtime.names import one_line
from mnlearn.study.definition import Study
from mnlearn.study.mentions import check_sources
from mnlearn.study.published import tidy_scores

# Imported by name, so that digests of this code cover all kinds (see `runtime.code_digest`).
KINDS: dict[str, Kind] = {
    "compare": tabulate_columns,
    "stacked": tabulate_stacked,
    "variants": tabulate_variants,
    "variants_by_dataset": tabulate_variants_by_dataset,
    "times": tabulate_times,
    "sizes": tabulate_sizes,
    "datasets": tabulate_datasets,
    "ranks": tabulate_ranks,
    "paired": tabulate_paired,
    "effects": tabulate_effects,
    "scores_by_value": tabulate_scores_by_value,
    "averages": tabulate_averages,
    "choices": tabulate_choices,
    "edge_limits": tabulate_edge_limits,
}


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
        See `write_tables`.
    tuning : Path, optional
        Folder of the traces, <dataset>/<method>.csv; needed for the option `traces` only.

    Raises
    ------
    InputError
        The entry is of an unknown kind, its options are not what the kind expects, or it names a
        quantity that there is not.
    """
    check_kind(study, "tables", product, KINDS)
    ordered = {dataset: labels.get(dataset, dataset) for dataset in study.datasets}
    where = f"table {product['name']} of study {study.name}"
    ordered = dict(shown_labels(product, ordered, where))
    scores = scores[scores["study"] == study.name]
    if tuning is not None and "traces" in product:
        found = trace_numbers(product["traces"], study.name, list(ordered), tuning, where=where)
        scores = pd.concat([scores, found]) if len(found) else scores
    check_sources(study.name, study.content, "tables", product, scores=scores, published=published)
    scores = tidy_scores(scores)
    if "datasets" in product:
        scores = scores[scores["dataset"].isin(list(ordered))]
    material = Material(study.name, scores, published, ordered)
    table = KINDS[product["kind"]](material, product)
    return mark_stale(dataclasses.replace(table, caption=one_line(str(product["caption"]))), stale)


def write_tables(
    study: Study,
    scores: pd.DataFrame,
    published: pd.DataFrame,
    labels: Mapping[str, str],
    *,
    folder: Path,
    stale: AbstractSet[tuple[str, str]] = frozenset(),
    only: list[str] | None = None,
    tuning: Path | None = None,
) -> None:
    """Write the tables of a study as `<name>.csv`, `.md` and `.tex`.

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
    folder : Path
        Where the files go.
    stale : set of (str, str)
        Pairs (dataset, method) whose numbers are marked.
    only : list of str, optional
        Names of the tables to write; all if not given.
    tuning : Path, optional
        Folder of the traces of tuning; `folder`/../tuning if not given.

    Raises
    ------
    InputError
        See `report.products.chosen_products` and `make_table`.
    """
    traces = folder.parent / "tuning" if tuning is None else tuning
    for product in chosen_products(study, "tables", only):
        table = make_table(
            study, product, scores, published, labels=labels, stale=stale, tuning=traces
        )
        write_text(folder / f"{product['name']}.csv", to_csv(table))
        write_text(folder / f"{product['name']}.md", to_markdown(table))
        write_text(folder / f"{product['name']}.tex", to_latex(table))
