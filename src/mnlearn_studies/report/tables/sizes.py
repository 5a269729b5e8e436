"""Tables of kind `sizes`: the number and length of a method's features."""

from collections.abc import Mapping

from mnlearn_studies.report.options import PLACE, TEXT, Kind, Options, mapping, needed
from mnlearn_studies.report.tables.quantities import collect_quantities
from mnlearn_studies.report.tables.table import Cell, Material, Row, Table
from mnlearn_studies.study.published import Number

_SIZES = {
    "generated": "n_features_generated",
    "kept": "n_features",
    "mean length": "mean_length",
}
_DECIMALS = {"generated": 0, "kept": 0, "mean length": 2}


def tabulate_sizes(material: Material, options: Options) -> Table:
    """Return the number and length of a method's features, ours and published.

    Parameters
    ----------
    material : Material
        Scores and published numbers.
    options : mapping
        method; published (study, table and method of the published sizes), if any.
    """
    features = collect_quantities(material, options, _SIZES, tuple(_SIZES))
    ours, theirs = features.ours, features.theirs
    rows = []
    differences = []
    for dataset in (d for d in material.datasets if d in ours["kept"]):
        cells = features.cells(dataset, material.label_cell(dataset), _DECIMALS)
        if theirs:
            cell = _size_difference(
                ours["generated"], theirs["generated"], dataset, features.method
            )
            cells.append(cell)
            differences += [cell.value] if cell.value is not None else []
        rows.append(Row(tuple(cells), (dataset,)))
    notes = ["Generated: before weight learning; kept: weights other than 0 after it."]
    if theirs:
        notes.append(
            f"Difference: generated features, ours less published; = marks the "
            f"{differences.count(0)} exact matches of {len(differences)}."
        )
    return features.table("features", ("difference", "difference"), rows, notes)


def _size_difference(
    ours: Mapping[str, Number], theirs: Mapping[str, Number], dataset: str, method: str
) -> Cell:
    if dataset not in ours or dataset not in theirs:
        return Cell(method=method)
    difference = round(ours[dataset].value - theirs[dataset].value)
    return Cell(f"{difference:+d}" if difference else "=", difference, method=method)


SIZES = Kind(
    tabulate_sizes,
    {"method": needed(TEXT), "published": mapping({**PLACE, "method": needed(TEXT)})},
)
