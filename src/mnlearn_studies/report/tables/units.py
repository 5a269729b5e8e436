"""Tables of kind `units`: in which unit our log-likelihoods lie within the axes of a paper."""

from mnlearn_studies.datasets.sample_names import parse_sample
from mnlearn_studies.report.options import (
    NAMES,
    PLACE,
    SOURCE,
    Kind,
    Options,
    listed,
    mapping,
    needed,
)
from mnlearn_studies.report.statistics import UNITS
from mnlearn_studies.report.tables.table import Cell, Material, Row, Table, number_cell
from mnlearn_studies.study.published import Number, Source, lookup


def tabulate_units(material: Material, options: Options) -> Table:
    """Return per dataset the published axis and how many of our means over folds lie within it.

    Parameters
    ----------
    material : Material
        Scores and published numbers.
    options : mapping
        axes (study and table with the quantities `axis_low` and `axis_high`); series (each with
        method, quantity and head); unavailable (datasets that are not public), if any.
    """
    place = {key: str(value) for key, value in options["axes"].items()}
    ends = [
        lookup(material.published, Source("", quantity, **place))
        for quantity in ("axis_low", "axis_high")
    ]
    series = [Source(str(s["method"]), str(s["quantity"])) for s in options["series"]]
    points = [p for source in series for p in _means(material, source)]
    rows = []
    for dataset in ends[0]:
        values = [(method, value) for method, base, value in points if base == dataset]
        low, high = (of[dataset] for of in ends)
        missing = "not available" if dataset in options.get("unavailable", ()) else ""
        rows.append(_row(material, dataset, values, low, high, missing))
    heads = [head for unit in UNITS for head in (f"range, {unit}", f"inside, {unit}")]
    names = [name for unit in UNITS for name in (f"range_{unit}", f"inside_{unit}")]
    return Table(
        columns=("dataset", "axis_low", "axis_high", "points", *names),
        header=(("dataset", "axis from", "to", "points", *heads),),
        alignment="l" + "r" * (3 + len(names)),
        body=tuple(rows),
        notes=(
            "A point is the mean test log-likelihood of one method at one size of the training "
            "data. Of each unit: the lowest and the highest point, and how many points lie within "
            "the published axis.",
        ),
    )


def _means(material: Material, source: Source) -> list[tuple[str, str, float]]:
    """Return the means over folds of a source, as (method, base, value)."""
    found = []
    for dataset, number in material.numbers(source).items():
        sample = parse_sample(dataset)
        if sample is not None and sample.fold is None:
            found.append((source.method, sample.base, number.value))
    return found


def _row(
    material: Material,
    dataset: str,
    values: list[tuple[str, float]],
    low: Number,
    high: Number,
    missing: str,
) -> Row:
    label = Cell(material.labels.get(dataset, dataset), dataset)
    cells = [label, number_cell(low, None), number_cell(high, None)]
    if not values:
        cells += [Cell(missing), *[Cell()] * (2 * len(UNITS))]
        return Row(tuple(cells), (dataset,))
    method, *others = dict.fromkeys(method for method, _ in values)
    cells.append(Cell(str(len(values)), len(values), method=method, others=(*others,)))
    for factor in UNITS.values():
        scaled = [factor * value for _, value in values]
        inside = sum(low.value <= value <= high.value for value in scaled)
        span = f"{min(scaled):.1f} to {max(scaled):.1f}"
        cells += [
            Cell(text, value, method=method, others=(*others,))
            for text, value in ((span, span), (str(inside), inside))
        ]
    return Row(tuple(cells), (dataset,))


UNITS_OF_AXES = Kind(
    tabulate_units,
    {
        "axes": needed(mapping(PLACE)),
        "series": needed(listed(SOURCE)),
        "unavailable": NAMES,
    },
)
