"""Scores, a study and structures that figures are drawn of."""

import numpy as np
import pandas as pd

from mnlearn.models.features import features_of
from mnlearn.models.io.formats import save_model
from mnlearn.models.markov_network import markov_network
from mnlearn.runtime.files import write_json
from mnlearn_studies.records.kinds.structures import describe_structure
from mnlearn_studies.report.figures import KINDS
from mnlearn_studies.report.material import Material
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.published import COLUMNS, tidy_scores

DATASETS = {f"d{n}": f"Dataset {n}" for n in range(8)}
NO_PUBLISHED = pd.DataFrame(columns=[*COLUMNS, "printed", "decimals"])
SCORE = {
    m: {"method": m, "quantity": "cmll", "head": m.upper()} for m in ("atomic", "dtsl", "trees")
}

PRODUCTS = [
    {"kind": "scatter", "x": SCORE["trees"], "y": SCORE["dtsl"], "per_variable": False},
    {
        "kind": "pareto",
        "series": [
            {"head": m, "score": SCORE[m], "seconds": {"method": m, "quantity": "seconds_learn"}}
            for m in ("dtsl", "trees")
        ],
    },
    {"kind": "reproduction", "a": SCORE["dtsl"], "b": SCORE["trees"]},
    {"kind": "structure", "dataset": "d0", "method": "dtsl", "max_edges": 8},
    {
        "kind": "differences",
        "quantity": "cmll",
        "panels": [{"method": "dtsl", "reference": SCORE["trees"]}],
        "variants": [{"name": v, "head": v} for v in ("default", "prune")],
    },
    {
        "kind": "query_curves",
        "quantity": "cll",
        "y_label": "CLL",
        "series": [{"head": m, "method": m} for m in ("dtsl", "trees")],
    },
    {
        "kind": "growth",
        "x_label": "x",
        "y_label": "y",
        "series": [
            {
                "x": {"method": "dtsl", "quantity": "seconds_learn"},
                "y": {"method": "trees", "quantity": "seconds_learn"},
            }
        ],
    },
    # Those of one study have no options.
    *({"kind": kind} for kind in KINDS if "." in kind),
]
for number, product in enumerate(PRODUCTS):
    product |= {"name": f"f{number}", "caption": ""}
BY_KIND = {product["kind"]: product for product in reversed(PRODUCTS)}


def scores():
    rng = np.random.default_rng(0)
    rows = []
    for dataset in DATASETS:
        base = -float(rng.uniform(2, 100))
        for method, factor in {"atomic": 1.4, "trees": 1.02, "dtsl": 1.0}.items():
            values = {"cmll": base * factor, "seconds_learn": float(rng.uniform(0.1, 100))}
            values |= {f"cll_q{p}": base * factor / p for p in (10, 50)}
            rows += [("s", dataset, method, "", q, v, 0.05) for q, v in values.items()]
        for variant in ("default", "prune"):
            value = base * float(rng.uniform(1, 1.1))
            rows += [
                ("s", dataset, "dtsl", variant, q, value, None) for q in ("cmll", "validation")
            ]
    # What the figures of single studies show.
    for dataset in DATASETS:
        for k, method in enumerate(("dn_tree", "gssl", "l1", "blm", "dn_lr")):
            values = {"cmll": -3.0 - k, "pll": -4.0 - k, "seconds_learn": 1.0 + k}
            rows += [("s", dataset, method, "", q, v, 0.05) for q, v in values.items()]
        for method in ("variants_tree", "variants_lr"):
            rows.append(("s", dataset, method, "mode-one", "pll", -9.0, None))
    columns = ["study", "dataset", "method", "variant", "quantity", "value", "stderr"]
    return pd.DataFrame(rows, columns=columns)


def ring(n_vars=6, extra=()):
    pairs = [tuple(sorted((v, (v + 1) % n_vars))) for v in range(n_vars)]
    conjunctions = [[(u, 1), (v, 1)] for u, v in (*pairs, *extra)]
    weight = np.linspace(1, 2, len(conjunctions)) * np.where(
        np.arange(len(conjunctions)) % 2, 1, -1
    )
    return markov_network(n_vars, features_of(conjunctions), weight)


def record(network, folder):
    """Record the structure of a network as that of `dtsl` on `d0`."""
    save_model(network, folder / "model.npz")
    identity = {"study": "s", "dataset": "d0", "method": "dtsl"}
    structure = describe_structure(folder / "model.npz")
    write_json(folder / "structures" / "d0" / "dtsl@0.json", {**identity, **structure})


def material(structures, frame=None, truths=None):
    content = {"datasets": list(DATASETS), "figures": PRODUCTS, "title": ""}
    study = Study("s", {**content, "queries": {"percentages": [10, 50]}})
    frame = scores() if frame is None else frame
    return Material(study, tidy_scores(frame), NO_PUBLISHED, DATASETS, structures, truths or {})
