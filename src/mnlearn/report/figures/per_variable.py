"""Differences of a score from a reference, per variable."""

from __future__ import annotations

from collections.abc import Sequence

from mnlearn.report.figures.canvas import Material
from mnlearn.report.products import Options, option
from mnlearn.study.published import Source, numbers


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
    method = str(option(panel, "method", where))
    reference = material.numbers(option(panel, "reference", where), where)
    out: dict[str, dict[str, float]] = {}
    for variant in variants:
        name = str(option(variant, "name", where))
        found = numbers(material.scores, material.published, Source(method, quantity, name))
        for dataset, number in found.items():
            n_vars = material.n_vars(dataset)
            if dataset in reference and n_vars:
                difference = (number.value - reference[dataset].value) / n_vars
                out.setdefault(dataset, {})[name] = difference
    return out
