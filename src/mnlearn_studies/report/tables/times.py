"""Tables of kind `times`: the seconds of each step of a method."""

from mnlearn_studies.report.options import PLACE, TEXT, Kind, Options, mapping, needed
from mnlearn_studies.report.statistics import geometric_mean
from mnlearn_studies.report.tables.quantities import collect_quantities
from mnlearn_studies.report.tables.table import Cell, Material, Row, Table, value_cell

_SECONDS = {
    "structure": "seconds_structure",
    "features": "seconds_features",
    "weights": "seconds_weights",
    "total": "seconds_learn",
    "tuning": "seconds_tuning",
    "inference": "seconds_inference",
}
_PUBLISHED_SECONDS = ("structure", "weights", "total")


def tabulate_times(material: Material, options: Options) -> Table:
    """Return the seconds of each step of a method, the published ones, and the ratio of the totals.

    Parameters
    ----------
    material : Material
        Scores and published numbers.
    options : mapping
        method; published (study, table and method of the published seconds), if any.
    """
    seconds = collect_quantities(material, options, _SECONDS, _PUBLISHED_SECONDS)
    ours, theirs, method = seconds.ours, seconds.theirs, seconds.method
    ratios: dict[str, float] = {}
    rows = []
    for dataset in (d for d in material.datasets if d in ours["total"]):
        cells = seconds.cells(dataset, material.label_cell(dataset), {})
        if theirs:
            total = theirs["total"].get(dataset)
            if total is not None and ours["total"][dataset].value > 0:
                ratios[dataset] = total.value / ours["total"][dataset].value
            ratio = ratios.get(dataset)
            cells.append(Cell() if ratio is None else value_cell(ratio, None, method))
        rows.append(Row(tuple(cells), (dataset,)))
    if ratios:
        mean = value_cell(geometric_mean(list(ratios.values())), None, method)
        blank = [Cell()] * (len(_SECONDS) + len(theirs))
        cells = [Cell(f"geometric mean of {len(ratios)}"), *blank, mean]
        rows.append(Row(tuple(cells), tuple(ratios), footer=True))
    notes = [
        "Seconds of one thread. Structure, features (their conversion and preparation), weights "
        "and total: the chosen model alone. Tuning: the search over the whole grid."
    ]
    if theirs:
        notes.append("The published seconds were measured on another machine.")
    return seconds.table("seconds", ("published_over_ours", "published / ours"), rows, notes)


TIMES = Kind(
    tabulate_times,
    {"method": needed(TEXT), "published": mapping({**PLACE, "method": needed(TEXT)})},
)
