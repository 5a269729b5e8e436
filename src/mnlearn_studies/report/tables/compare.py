"""Tables of kind `compare`: a row per dataset; columns ours, published or computed."""

from collections.abc import Sequence

from mnlearn_studies.report.column_options import COLUMN
from mnlearn_studies.report.options import DECIMALS, NAMES, PAIRS, Kind, Options, listed, needed
from mnlearn_studies.report.tables.columns import (
    Column,
    check_names,
    column,
    column_cells,
    column_data,
    exceeding_notes,
    mean_row,
    published_notes,
    wilcoxon_notes,
)
from mnlearn_studies.report.tables.table import Material, Row, Table


def tabulate_columns(material: Material, options: Options) -> Table:
    """Return a table with a row per dataset.

    Parameters
    ----------
    material : Material
        Scores and published numbers.
    options : mapping
        columns (see `columns.column`); decimals of all; mean or geometric_mean (names of the
        columns to average over the datasets that have them all); tests (pairs of names of columns
        to compare).
    """
    where = material.where(options)
    columns = [column(c, where, int(options.get("decimals", 3))) for c in options["columns"]]
    check_names(columns, options, where)
    data = column_data(columns, material)
    ours = [c.name for c in columns if c.source and not c.is_published]
    datasets = [d for d in material.datasets if any(d in data[name] for name in ours)]
    body = [Row((material.label_cell(d), *column_cells(d, columns, data)), (d,)) for d in datasets]
    body += [
        mean_row(datasets, columns, data, options[kind], kind=kind)
        for kind in ("mean", "geometric_mean")
        if kind in options and datasets
    ]
    return Table(
        columns=("dataset", *(c.name for c in columns)),
        header=_header(columns),
        alignment="l" + "r" * len(columns),
        body=tuple(body),
        notes=(
            *wilcoxon_notes(columns, data, options.get("tests", []), datasets),
            *exceeding_notes(columns, data, datasets),
            *published_notes(columns, data, datasets, material.labels),
        ),
        with_stderr=tuple(c.name for c in columns if c.stderr),
    )


def _header(columns: Sequence[Column]) -> tuple[tuple[str, ...], ...]:
    heads = ("dataset", *(c.head for c in columns))
    if any(c.group for c in columns):
        return (("", *(c.group for c in columns)), heads)
    return (heads,)


COMPARE = Kind(
    tabulate_columns,
    {
        "columns": needed(listed(COLUMN)),
        "decimals": DECIMALS,
        "mean": NAMES,
        "geometric_mean": NAMES,
        "tests": PAIRS,
    },
)
