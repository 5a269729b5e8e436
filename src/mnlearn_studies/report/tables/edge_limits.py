"""Tables of kind `edge_limits`: what a lower limit on the edges of a circuit costs."""

from collections.abc import Mapping, Sequence

import numpy as np

from mnlearn_studies.report.options import DECIMALS, TEXT, WHOLES, Kind, Options, needed
from mnlearn_studies.report.tables.table import Cell, Material, Row, Table, value_cell
from mnlearn_studies.study.published import Number, Source


def tabulate_edge_limits(material: Material, options: Options) -> Table:
    """Return the score at the largest limit of edges, and the loss at every smaller limit.

    The last column has the limit of the model that validation chose.

    Parameters
    ----------
    material : Material
        Scores of the study.
    options : mapping
        method; limits (whole numbers, each the name of a variant); quantity (`ll`); decimals.
    """
    method = str(options["method"])
    limits = sorted((int(limit) for limit in options["limits"]), reverse=True)
    quantity, decimals = str(options.get("quantity", "ll")), int(options.get("decimals", 3))

    def found(name: str, variant: str) -> dict[str, Number]:
        return material.numbers(Source(method, name, variant))

    by_limit = {limit: found(quantity, str(limit)) for limit in limits}
    chosen = found("chosen_max_edges", "")
    datasets = [d for d in material.datasets if any(d in by_limit[k] for k in limits)]
    rows = []
    for dataset in datasets:
        largest = by_limit[limits[0]].get(dataset)
        values = [None if largest is None else largest.value]
        values += [_loss(by_limit, limits[0], limit, dataset) for limit in limits[1:]]
        cells = [Cell() if v is None else value_cell(v, decimals, method) for v in values]
        limit_chosen = Cell()
        if dataset in chosen:
            edges = int(chosen[dataset].value)
            limit_chosen = Cell(f"{edges:,}", edges, method=method)
        rows.append(Row((material.label_cell(dataset), *cells, limit_chosen), (dataset,)))
    heads = [f"{limit:,}" for limit in limits]
    return Table(
        columns=("dataset", str(limits[0]), *(f"loss_{n}" for n in limits[1:]), "chosen"),
        header=(
            ("", "score at", *["loss at"] * (len(limits) - 1), "limit"),
            ("dataset", *heads, "chosen"),
        ),
        alignment="l" + "r" * (len(limits) + 1),
        body=(*rows, *_means(by_limit, limits, datasets, method, decimals=decimals)),
    )


def _loss(
    by_limit: Mapping[int, Mapping[str, Number]], largest: int, limit: int, dataset: str
) -> float | None:
    if dataset not in by_limit[largest] or dataset not in by_limit[limit]:
        return None
    return by_limit[largest][dataset].value - by_limit[limit][dataset].value


def _means(
    by_limit: Mapping[int, Mapping[str, Number]],
    limits: Sequence[int],
    datasets: Sequence[str],
    method: str,
    *,
    decimals: int,
) -> list[Row]:
    """Return the mean losses over the datasets that have all limits: in nats, and in per cent."""
    complete = [d for d in datasets if all(d in by_limit[limit] for limit in limits)]
    if not complete:
        return []
    largest = np.array([by_limit[limits[0]][d].value for d in complete])
    nats = [Cell(f"mean of {len(complete)}"), value_cell(float(largest.mean()), decimals, method)]
    per_cent = [Cell("mean, % of the score"), Cell()]
    for limit in limits[1:]:
        loss = largest - np.array([by_limit[limit][d].value for d in complete])
        nats.append(value_cell(float(loss.mean()), decimals, method))
        per_cent.append(value_cell(float((100 * loss / np.abs(largest)).mean()), 2, method))
    return [Row((*cells, Cell()), tuple(complete), footer=True) for cells in (nats, per_cent)]


EDGE_LIMITS = Kind(
    tabulate_edge_limits,
    {"method": needed(TEXT), "limits": needed(WHOLES), "quantity": TEXT, "decimals": DECIMALS},
)
