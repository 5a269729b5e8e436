"""Tables of kind `choices`: what validation chooses of all grid points and of some of them."""

from collections.abc import Mapping, Sequence

import pandas as pd

from mnlearn.runtime.errors import InputError
from mnlearn_studies.report.options import (
    DECIMALS,
    MAPPING,
    NUMBER_BY_NAME,
    NUMBERS,
    PLACE,
    TEXT,
    Kind,
    Options,
    listed,
    mapping,
    needed,
)
from mnlearn_studies.report.products import list_scored
from mnlearn_studies.report.tables.table import Cell, Material, Row, Table, value_cell
from mnlearn_studies.study.published import Number, Source, lookup, numbers

# Numbers by quantity and dataset.
_Found = Mapping[str, Mapping[str, Number]]


def tabulate_choices(material: Material, options: Options) -> Table:
    """Return the setting that validation chooses of all variants, and of all but some.

    Footers count on how many datasets each value of a setting was chosen.

    Parameters
    ----------
    material : Material
        Scores and published numbers.
    options : mapping
        method; settings (each with a name, a head, the quantity that has its value, and `words` by
        value if words are shown); without (values by quantity: variants that have them all are left
        out); without_head; counted (name of the setting that the footers count, and its `values`);
        published (study, table, method and quantity of the published choices, which the footers
        also count), if any; decimals.
    """
    where = material.where(options)
    method, settings = str(options["method"]), options["settings"]
    names = [str(s["name"]) for s in settings]
    if "counted" in options and str(options["counted"]["name"]) not in names:
        raise InputError(f"{where}, counted, name: expected one of {', '.join(names)}.")
    without = {str(key): float(value) for key, value in options["without"].items()}
    decimals = int(options.get("decimals", 3))
    own = material.scores[
        (material.scores["method"] == method) & (material.scores["variant"] != "")
    ]
    wanted = {"validation", *without, *(str(s["quantity"]) for s in settings)}
    variants = {
        variant: {q: numbers(own, material.published, Source(method, q, variant)) for q in wanted}
        for variant in dict.fromkeys(own["variant"])
    }
    rows, chosen = [], []
    for dataset in list_scored(own, material.labels):
        sides = [
            _best(variants, dataset, {}),
            _best(variants, dataset, without),
        ]
        cells = [material.label_cell(dataset)]
        for side in sides:
            cells += _cells(side, dataset, settings, decimals, method=method, where=where)
        rows.append(Row(tuple(cells), (dataset,)))
        chosen.append((dataset, sides))
    rows += _footer(chosen, settings, options, material.published, method=method)
    heads = [*(str(s["head"]) for s in settings), "validation PLL"]
    names.append("validation")
    width = len(heads)
    return Table(
        columns=("dataset", *names, *(f"{name}_without" for name in names)),
        header=(
            ("", *["all points"] * width, *[_without_head(options)] * width),
            ("dataset", *heads, *heads),
        ),
        alignment="l" + "r" * 2 * width,
        body=tuple(rows),
    )


def _without_head(options: Options) -> str:
    return str(options.get("without_head", "without some"))


def _best(variants: Mapping[str, _Found], dataset: str, without: Mapping[str, float]) -> _Found:
    """Return the quantities of the variant that validation prefers; the first of equals wins."""
    best: _Found = {}
    for found in variants.values():
        if dataset not in found["validation"] or _left_out(found, dataset, without):
            continue
        if not best or found["validation"][dataset].value > best["validation"][dataset].value:
            best = found
    return best


def _left_out(found: _Found, dataset: str, without: Mapping[str, float]) -> bool:
    """Tell whether a variant has all the values that are left out; False if there are none."""
    has = (dataset in found[q] and found[q][dataset].value == v for q, v in without.items())
    return bool(without) and all(has)


def _cells(
    found: _Found,
    dataset: str,
    settings: Sequence[Options],
    decimals: int,
    *,
    method: str,
    where: str,
) -> list[Cell]:
    cells = []
    for setting in settings:
        number = found.get(str(setting["quantity"]), {}).get(dataset)
        if number is None:
            cells.append(Cell(method=method))
        elif "words" in setting:
            if int(number.value) not in setting["words"]:
                raise InputError(
                    f"{where}, setting {setting['name']}, words: expected one for {number.value:g}."
                )
            word = str(setting["words"][int(number.value)])
            cells.append(Cell(word, word, method=method))
        else:
            value = int(number.value) if number.value == int(number.value) else number.value
            cells.append(Cell(f"{value:,}", value, method=method))
    score = found.get("validation", {}).get(dataset)
    cells.append(
        Cell(method=method) if score is None else value_cell(score.value, decimals, method)
    )
    return cells


def _footer(
    chosen: Sequence[tuple[str, Sequence[_Found]]],
    settings: Sequence[Options],
    options: Options,
    published: pd.DataFrame,
    *,
    method: str,
) -> list[Row]:
    """Return a row per value of the counted setting: on how many datasets it was chosen."""
    if "counted" not in options or not chosen:
        return []
    counted = options["counted"]
    place = [str(s["name"]) for s in settings].index(str(counted["name"]))
    quantity, width = str(settings[place]["quantity"]), len(settings) + 1
    theirs = None
    if "published" in options:
        theirs = lookup(published, Source(**{k: str(v) for k, v in options["published"].items()}))
    datasets = tuple(dataset for dataset, _ in chosen)
    rows = []
    for value in counted["values"]:
        head = f"{value:,} chosen on"
        if theirs is not None:
            number = sum(theirs[d].value == value for d in datasets if d in theirs)
            head += f" (published: {number})"
        cells = [Cell(head), *[Cell()] * 2 * width]
        for side in range(2):
            n = sum(
                dataset in sides[side].get(quantity, {})
                and sides[side][quantity][dataset].value == value
                for dataset, sides in chosen
            )
            cells[1 + side * width + place] = Cell(str(n), n, method=method)
        rows.append(Row(tuple(cells), datasets, footer=True))
    return rows


CHOICES = Kind(
    tabulate_choices,
    {
        "method": needed(TEXT),
        "settings": needed(
            listed(
                {
                    **dict.fromkeys(("name", "head", "quantity"), needed(TEXT)),
                    "words": MAPPING,
                }
            )
        ),
        "without": needed(NUMBER_BY_NAME),
        "without_head": TEXT,
        "counted": mapping({"name": needed(TEXT), "values": needed(NUMBERS)}),
        "published": mapping({**PLACE, "method": needed(TEXT), "quantity": needed(TEXT)}),
        "decimals": DECIMALS,
    },
)
