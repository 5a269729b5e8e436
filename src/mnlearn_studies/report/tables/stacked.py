"""Tables of kind `stacked`: the columns of a published table, with our numbers in a row above."""

import dataclasses
from collections.abc import Mapping, Sequence

from mnlearn_studies.report.column_options import COLUMN
from mnlearn_studies.report.options import (
    DECIMALS,
    NAMES,
    PAIRS,
    PLACE,
    TEXT,
    Kind,
    Options,
    listed,
    mapping,
    needed,
)
from mnlearn_studies.report.tables.columns import (
    Column,
    Data,
    check_names,
    column,
    column_cells,
    column_data,
    mean_row,
    published_notes,
    titles,
    wilcoxon_notes,
)
from mnlearn_studies.report.tables.table import Cell, Material, Row, Table
from mnlearn_studies.study.published import Number, Source


def tabulate_stacked(material: Material, options: Options) -> Table:
    """Return two rows per dataset under the same columns: ours and the published numbers.

    The best of each rank is bold in each row.

    Parameters
    ----------
    material : Material
        Scores and published numbers.
    options : mapping
        published (study and table of the published numbers); columns (see `columns.column`), each
        with `method`, which are ours, and with `published_quantity` where the published number has
        another name; decimals of all; mean or geometric_mean; tests (pairs of names of columns,
        compared by our numbers); matches (names of columns: a note counts how often the two rows
        are equal).
    """
    where = material.where(options)
    specs = options["columns"]
    columns = [column(c, where, int(options.get("decimals", 3))) for c in specs]
    check_names(columns, options, where)
    theirs = _published_columns(columns, options)
    data = column_data(columns, material)
    published = column_data(theirs, material)
    datasets = [d for d in material.datasets if any(d in found for found in data.values())]
    body = []
    for dataset in datasets:
        label = material.label_cell(dataset)
        body.append(Row((label, *_side("ours"), *column_cells(dataset, columns, data)), (dataset,)))
        if any(dataset in found for found in published.values()):
            cells = column_cells(dataset, theirs, published)
            body.append(Row((label, *_side("published"), *cells), (dataset,)))
    for kind in ("mean", "geometric_mean"):
        if kind in options and datasets:
            for side, shown, found in (("ours", columns, data), ("published", theirs, published)):
                body.append(
                    mean_row(datasets, shown, found, options[kind], kind=kind, before=_side(side))
                )
    return Table(
        columns=("dataset", "numbers", *(c.name for c in columns)),
        header=(("", "", *(c.group for c in columns)), ("dataset", "", *(c.head for c in columns))),
        alignment="ll" + "r" * len(columns),
        body=tuple(body),
        notes=(
            *_match_notes(columns, data, published, options.get("matches", []), datasets=datasets),
            *wilcoxon_notes(columns, data, options.get("tests", []), datasets),
            *published_notes(theirs, published, datasets, material.labels),
        ),
        with_stderr=tuple(c.name for c in columns if c.stderr),
    )


def _side(name: str) -> tuple[Cell, ...]:
    return (Cell(name, name),)


def _published_columns(columns: Sequence[Column], options: Options) -> list[Column]:
    """Return the columns with the published numbers as their source."""
    place = options["published"]
    study, table = (str(place[key]) for key in ("study", "table"))
    out = []
    for spec, c in zip(options["columns"], columns, strict=True):
        method = str(spec["method"])
        quantity = str(spec.get("published_quantity", spec.get("quantity", "")))
        found = Source(method, quantity, study=study, table=table)
        out.append(dataclasses.replace(c, source=found, computed=None, stderr=False))
    return out


def _match_notes(
    columns: Sequence[Column],
    data: Data,
    published: Data,
    names: Sequence[str],
    *,
    datasets: Sequence[str],
) -> list[str]:
    title = titles(columns)
    out = []
    for name in names:
        equal = [_equal(data[name], published[name], d) for d in datasets if d in published[name]]
        if equal:
            out.append(
                f"{title[name]}: ours is equal to the published number on {sum(equal)} of "
                f"{len(equal)} datasets."
            )
    return out


def _equal(ours: Mapping[str, Number], theirs: Mapping[str, Number], dataset: str) -> bool:
    return dataset in ours and round(ours[dataset].value, theirs[dataset].decimals or 0) == round(
        theirs[dataset].value, theirs[dataset].decimals or 0
    )


STACKED = Kind(
    tabulate_stacked,
    {
        "published": needed(mapping(PLACE)),
        "columns": needed(listed({**COLUMN, "method": needed(TEXT), "published_quantity": TEXT})),
        "decimals": DECIMALS,
        "mean": NAMES,
        "geometric_mean": NAMES,
        "tests": PAIRS,
        "matches": NAMES,
    },
)
