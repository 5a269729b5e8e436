"""Differences of a score from a reference, per variable."""

from __future__ import annotations

from collections.abc import Sequence

from mnlearn_studies.report.figures.canvas import Material
from mnlearn_studies.report.options import SOURCE, TEXT, Options, listed, mapping, needed
from mnlearn_studies.study.published import Source, numbers

# Options of figures that draw such differences.
PANELS = listed(
    {
        "head": TEXT,
        "method": needed(TEXT),
        "reference": needed(mapping(SOURCE)),
    }
)
NAMED_VARIANTS = listed({"name": needed(TEXT), "head": TEXT})


def differences_per_variable(
    material: Material, panel: Options, variants: Sequence[Options], quantity: str, *, where: str
) -> dict[str, dict[str, float]]:
    """Return score less reference, divided by the number of variables, by dataset and variant.

    Datasets without scores are left out.

    Parameters
    ----------
    material : Material
        Scores of the study and numbers of variables.
    panel : mapping
        method, whose variants are compared; reference, the source of the scores to compare with.
    variants : sequence of mapping
        Each with the `name` of a variant.
    quantity : str
        The score, in nats per example.
    where : str
        Name of the figure, for error messages.
    """
    method = str(panel["method"])
    reference = material.numbers(panel["reference"], where)
    out: dict[str, dict[str, float]] = {}
    for variant in variants:
        name = str(variant["name"])
        found = numbers(material.scores, material.published, Source(method, quantity, name))
        for dataset, number in found.items():
            n_vars = material.n_vars(dataset)
            if dataset in reference and n_vars:
                difference = (number.value - reference[dataset].value) / n_vars
                out.setdefault(dataset, {})[name] = difference
    return out
