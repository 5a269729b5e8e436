"""Tables of a study: built by kind, rendered as CSV, Markdown and LaTeX.

A kind is a function in a file of its own, named in `KINDS`.
"""

import dataclasses
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path

import pandas as pd

from mnlearn.files import write_text
from mnlearn.products import Labels, Options, check_kind, chosen_products
from mnlearn.published import tidy_scores
from mnlearn.study import Study
from mnlearn.tables.compare import compare
from mnlearn.tables.datasets import datasets
from mnlearn.tables.edge_limits import edge_limits
from mnlearn.tables.effects import effects, scores_by_value
from mnlearn.tables.formats import to_csv, to_latex, to_markdown
from mnlearn.tables.paired import paired
from mnlearn.tables.ranks import ranks
from mnlearn.tables.sizes import sizes
from mnlearn.tables.table import Kind, Table, mark_stale
from mnlearn.tables.times import times
from mnlearn.tables.variants import variants, variants_by_dataset

# Imported one by one, so that the digest of this module covers them (see `provenance`).
KINDS: dict[str, Kind] = {
    "compare": compare,
    "variants": variants,
    "variants_by_dataset": variants_by_dataset,
    "times": times,
    "sizes": sizes,
    "datasets": datasets,
    "ranks": ranks,
    "paired": paired,
    "effects": effects,
    "scores_by_value": scores_by_value,
    "edge_limits": edge_limits,
}


def make_table(
    study: Study,
    product: Options,
    scores: pd.DataFrame,
    published: pd.DataFrame,
    labels: Labels,
    stale: AbstractSet[tuple[str, str]] = frozenset(),
) -> Table:
    """Return the table of one entry of a study, with its caption and stale numbers marked.

    Raises
    ------
    InputError
        The entry is of an unknown kind or its options are not what the kind expects.

    """
    check_kind(study, "tables", product, KINDS)
    ordered = {dataset: labels.get(dataset, dataset) for dataset in study.datasets}
    scores = tidy_scores(scores[scores["study"] == study.name])
    table = KINDS[product["kind"]](scores, published, ordered, study.name, product)
    return mark_stale(dataclasses.replace(table, caption=str(product["caption"])), stale)


def write_tables(
    study: Study,
    scores: pd.DataFrame,
    published: pd.DataFrame,
    labels: Mapping[str, str],
    folder: Path,
    stale: AbstractSet[tuple[str, str]] = frozenset(),
    only: list[str] | None = None,
) -> None:
    """Write the tables of a study to `folder` as `<name>.csv`, `.md` and `.tex`.

    scores : as `gather.gather` returns them, or as read from its CSV. labels : names of the
    datasets for readers. stale : pairs (dataset, method). only : names of the tables to write.

    Raises
    ------
    InputError
        See `products.chosen_products` and `make_table`.

    """
    for product in chosen_products(study, "tables", only):
        table = make_table(study, product, scores, published, labels, stale)
        write_text(folder / f"{product['name']}.csv", to_csv(table))
        write_text(folder / f"{product['name']}.md", to_markdown(table))
        write_text(folder / f"{product['name']}.tex", to_latex(table))
