"""Tables of kind `paired`: differences of a method and others, paired by test example."""

from scipy import stats

from mnlearn.learning.ising.comparison import holm
from mnlearn_studies.report.options import DECIMALS, LEVEL, NAMES, TEXT, Kind, Options, needed
from mnlearn_studies.report.tables.table import Cell, Material, Row, Table
from mnlearn_studies.study.published import Source


def tabulate_paired(material: Material, options: Options) -> Table:
    """Return mean differences over test examples with paired standard errors.

    A difference is bold if it differs from 0 at `level` by a two-sided z-test; p-values are
    adjusted by Holm's rule for all differences of the table.

    Parameters
    ----------
    material : Material
        Scores of the study.
    options : mapping
        method; against (labels of other methods, which the study pairs with it); quantity (cmll);
        decimals; level.
    """
    method = str(options["method"])
    others = [str(name) for name in options["against"]]
    quantity, level = str(options.get("quantity", "cmll")), float(options.get("level", 0.05))
    decimals = int(options.get("decimals", 3))
    data = {other: material.numbers(Source(method, f"{quantity}_less_{other}")) for other in others}
    datasets = [d for d in material.datasets if any(d in found for found in data.values())]
    places = [(d, other) for d in datasets for other in others if d in data[other]]
    p = {}
    for dataset, other in places:
        number = data[other][dataset]
        z = number.value / number.stderr if number.stderr else 0.0
        p[dataset, other] = 2 * float(stats.norm.sf(abs(z)))
    adjusted = dict(zip(p, holm(list(p.values())), strict=True))
    rows = []
    for dataset in datasets:
        cells = [material.label_cell(dataset)]
        for other in others:
            if dataset not in data[other]:
                cells.append(Cell(method=method))
                continue
            number = data[other][dataset]
            text = f"{number.value:+.{decimals}f}"
            if number.stderr is not None:
                text += f" ± {number.stderr:.{decimals}f}"
            bold = adjusted[dataset, other] <= level
            cells.append(
                Cell(text, number.value, bold, method=method, stderr=number.stderr, others=(other,))
            )
        rows.append(Row(tuple(cells), (dataset,)))
    notes = []
    for other in others:
        told = [d for d in datasets if adjusted.get((d, other), 1.0) <= level]
        better = sum(data[other][d].value > 0 for d in told)
        notes.append(
            f"Against {other}: significantly better on {better} datasets, worse on "
            f"{len(told) - better}, of {sum(d in data[other] for d in datasets)}."
        )
    return Table(
        columns=("dataset", *(f"less_{other}" for other in others)),
        header=(("dataset", *(f"less {other}" for other in others)),),
        alignment="l" + "r" * len(others),
        body=tuple(rows),
        notes=tuple(notes),
        with_stderr=tuple(f"less_{other}" for other in others),
    )


PAIRED = Kind(
    tabulate_paired,
    {
        "method": needed(TEXT),
        "against": needed(NAMES),
        "quantity": TEXT,
        "decimals": DECIMALS,
        "level": LEVEL,
    },
)
