"""Tables of kind `training_times`: published minutes of learning beside our seconds."""

from mnlearn_studies.report.options import NUMBER, Kind, Options, mapping, needed
from mnlearn_studies.report.tables.table import Cell, Material, Row, Table, number_cell, value_cell
from mnlearn_studies.report.training_times import TIMES, TimeRow, list_times


def tabulate_training_times(material: Material, options: Options) -> Table:
    """Return a row per dataset of the published table; datasets that we do not have are marked.

    Parameters
    ----------
    material : Material
        Scores and published numbers.
    options : mapping
        times (see `training_times.list_times`); limit, the published minutes that stand for an end
        by the time limit.
    """
    spec = options["times"]
    limit = float(options["limit"])
    rows = list_times(material.scores, material.published, material.labels, spec)
    methods = [(str(m["method"]), str(m["head"])) for m in spec["methods"]]
    n = len(methods)
    return Table(
        columns=(
            *("dataset", "features_published", "columns"),
            *(f"{m}_minutes_published" for m, _ in methods),
            *(f"{m}_seconds" for m, _ in methods),
            *(f"{m}_published_over_ours" for m, _ in methods),
        ),
        header=(
            (
                *("", "features", "features"),
                *["minutes, published"] * n,
                *["seconds, ours"] * n,
                *["published / ours"] * n,
            ),
            ("dataset", "published", "ours", *[head for _, head in methods] * 3),
        ),
        alignment="l" + "r" * (2 + 3 * n),
        body=tuple(_row(row, [m for m, _ in methods], limit) for row in rows),
        notes=(*_notes(rows, limit),),
    )


def _row(row: TimeRow, methods: list[str], limit: float) -> Row:
    ours = "" if row.n_vars is None else f"{row.n_vars}"
    cells = [
        Cell(row.label, row.dataset),
        number_cell(row.features, None),
        Cell("not available" if row.unavailable else ours, row.n_vars),
    ]
    for m in methods:
        cell = number_cell(row.published.get(m), None)
        if cell.value == limit:
            cell = Cell(f"{cell.text} (limit)", cell.value)
        cells.append(cell)
    for m in methods:
        found = row.seconds.get(m)
        cells.append(Cell(method=m) if found is None else value_cell(found, None, m))
    for m in methods:
        if m in row.seconds and m in row.published and row.seconds[m] > 0:
            cells.append(value_cell(60 * row.published[m].value / row.seconds[m], None, m))
        else:
            cells.append(Cell(method=m))
    return Row(tuple(cells), (row.dataset,))


def _notes(rows: list[TimeRow], limit: float) -> list[str]:
    notes = [
        f"The paper ended each learner after {limit:,.0f} minutes; where it did, the ratio is a "
        "lower bound. Our seconds are of the chosen model alone, on one thread.",
    ]
    missing = [row.label for row in rows if row.unavailable]
    if missing:
        notes.append(f"{', '.join(missing)}: the data are not public.")
    named: dict[str, list[str]] = {}
    for row in rows:
        for number in row.published.values():
            if number.note and number.value != limit:
                named.setdefault(number.note, []).append(row.label)
    notes += [f"{', '.join(dict.fromkeys(of))}: {note}." for note, of in named.items()]
    return notes


TRAINING_TIMES = Kind(
    tabulate_training_times, {"times": needed(mapping(TIMES)), "limit": needed(NUMBER)}
)
