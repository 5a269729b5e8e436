"""Invented studies and scores for the tests of claims."""

import pandas as pd

from mnlearn_studies.report import claims
from mnlearn_studies.report.material import Material
from mnlearn_studies.study.definition import Study

COLUMNS = ["study", "dataset", "method", "variant", "quantity", "value", "stderr"]
THREE = ("nltcs", "msnbc", "kdd")


def source(method, variant="", quantity="cmll"):
    return {"method": method, "variant": variant, "quantity": quantity}


def scores_of(values, quantity="cmll", study="s"):
    """Scores from {(method, variant): {dataset: value}}."""
    rows = [
        (study, dataset, method, variant, quantity, value, None)
        for (method, variant), by_dataset in values.items()
        for dataset, value in by_dataset.items()
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def scores_on(datasets=THREE, quantity="cmll", **values):
    """Scores from method=[one value for each dataset]."""
    return scores_of(
        {(m, ""): dict(zip(datasets, v, strict=True)) for m, v in values.items()}, quantity
    )


def study_of(*entries, datasets=THREE, **content):
    entries = [
        {"id": n, "statement": "It is so.", **entry} for n, entry in enumerate(entries, start=1)
    ]
    content = {"methods": {}, **content}
    return Study("s", {"title": "T", "datasets": list(datasets), "claims": entries, **content})


def evaluate(study, scores, printed):
    return claims.evaluate(Material.of(study, scores, printed, {}))


def claim(printed, scores=None, /, datasets=THREE, content=None, **entry):
    study = study_of(entry, datasets=datasets, **(content or {}))
    return evaluate(study, scores_of({}) if scores is None else scores, printed)[0]


def outcome(printed, scores=None, /, datasets=THREE, content=None, **entry):
    return claim(printed, scores, datasets=datasets, content=content, **entry).outcome
