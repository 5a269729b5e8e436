"""
What to run and what it depends on: studies, datasets, grids, and which records are settled.
"""

import json
import os
from pathlib import Path

from snakemake.utils import validate

from mnlearn.runtime.code_digest import code_digest
from mnlearn.runtime.errors import InputError
from mnlearn.study.datasets.prepare import list_datasets, list_unavailable
from mnlearn.study.definition import load_studies
from mnlearn.study.planning import KINDS, Plan, Record

validate(config, "../schemas/config.schema.yaml")

WORKFLOW = Path(workflow.basedir) / "workflow"

# Threads of a job are those Snakemake gives it, whatever library would like to start more.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"
if config["mirror"]:
    os.environ["MNLEARN_DATA_MIRROR"] = config["mirror"]


def read_studies():
    """Return the studies that are run or queried by name; a fault in one ends the planning."""
    try:
        studies = load_studies(config["studies"], WORKFLOW)
        known = list_datasets(config["local"])
        wanted = {d for study in studies.values() for d in study.datasets}
        for name in sorted(wanted | set(config["datasets"])):
            if name not in known:
                raise InputError(f"dataset {name}: expected one of {', '.join(known)}.")
    except InputError as error:
        raise WorkflowError(str(error)) from None
    return studies


STUDIES = read_studies()
LEFT_OUT = list_unavailable(Path("results/data"))
PLAN = Plan(
    STUDIES,
    config["studies"],
    Path("results"),
    config["seed"],
    config["local"],
    config["datasets"],
    LEFT_OUT,
    config["again"],
    config["recorded"],
)


def study_of(wildcards):
    """Return the study of a job."""
    return STUDIES[wildcards.study]


def record_of(kind, wildcards, *names):
    """Return the record that a job makes."""
    return Record(
        kind, wildcards.study, wildcards.dataset, names or (wildcards.method,)
    )


def recipe_of(kind, *keys):
    """Return a function that gives the recipe of a job's record as JSON."""

    def recipe(wildcards):
        names = [getattr(wildcards, key) for key in keys or ("method",)]
        record = record_of(kind, wildcards, *names)
        return json.dumps(PLAN.recipe(record), sort_keys=True)

    return recipe


def files(study, kind):
    """Return the records of a kind that there are or that are asked for, as files."""
    return [f"results/{record.path}" for record in PLAN.records(study, kind)]


def data(wildcards, *splits):
    """Return files of a job's dataset by split."""
    return {split: f"results/data/{wildcards.dataset}/{split}.npz" for split in splits}


def models(wildcards, method, study=None):
    """Return the folder of the models of a cell."""
    return f"results/{study or wildcards.study}/models/{wildcards.dataset}/{method}"


def network_of(wildcards):
    """Return the input that is the dependency network a method builds on, if it does."""
    source = study_of(wildcards).network(wildcards.method)
    return {} if source is None else {"network": models(wildcards, source)}


def network_option(wildcards):
    """Return the option that names the dependency network a method builds on, if it does."""
    given = network_of(wildcards)
    return f"--network {given['network']}/chosen.npz" if given else ""


def queries_of(study):
    """Return how a study queries models: examples, percentages, methods, and who samples."""
    nothing = {"examples": 1, "percentages": [], "methods": []}
    return STUDIES[study].content.get("queries", nothing)


def grid_of(wildcards):
    """Return the grid of a cell as JSON with sorted keys; parameters are compared as text."""
    grid = study_of(wildcards).grid(wildcards.method, wildcards.dataset)
    return json.dumps(grid, sort_keys=True)


def tuning_cmll_of(wildcards):
    """Return how validation CMLL is computed if a cell is tuned by it, as JSON."""
    settings = study_of(wildcards).tuning_cmll(wildcards.method, wildcards.dataset)
    return json.dumps(settings, sort_keys=True)


def inference_of(wildcards):
    """Return the inference settings of a cell as JSON."""
    return json.dumps(study_of(wildcards).inference(wildcards.dataset), sort_keys=True)


def order_of(path, content, *code):
    """Return a function that gives the order of a file made from a study.

    content : a function of the wildcards. code : roots of the digest of the code that makes it.
    """

    def order(wildcards):
        place = path.format(**dict(wildcards.items()))
        return PLAN.order(
            place, {"content": content(wildcards), "code": code_digest(*code)}
        )

    return order


def products_of(study, kind, suffixes):
    """Return the files of a study's tables or figures."""
    return [
        f"results/{study}/{kind}/{product['name']}.{suffix}"
        for product in STUDIES[study].content[kind]
        for suffix in suffixes
    ]


def pages_of(study):
    """Return the pages of a study's tables."""
    return [
        f"results/{study}/pages/{product['name']}.html"
        for product in STUDIES[study].content["tables"]
    ]


def appendix_of(study):
    """Return the pages of a study's appendix."""
    return [
        f"results/{study}/appendix/{method}.html"
        for method in STUDIES[study].content.get("appendix", [])
    ]


def product_of(wildcards, kind):
    """Return a table's or figure's entry in its study."""
    for product in STUDIES[wildcards.study].content[kind]:
        if product["name"] == wildcards.name:
            return product
    raise WorkflowError(
        f"study {wildcards.study} has no {wildcards.name} among its {kind}."
    )


def stale_of(study):
    """Return the cells whose numbers tables mark as old, as [dataset, method]."""
    return [
        [record.dataset, *record.names]
        for kind in ("cells", "times")
        for record in PLAN.records(study, kind)
        if PLAN.is_settled(record) and PLAN.stale(record)
    ]


METHODS = "|".join(sorted({m for s in STUDIES.values() for m in s.methods}))


wildcard_constraints:
    name=r"[a-z0-9_]+",
    study="|".join(STUDIES),
    dataset=r"[A-Za-z0-9_.-]+",
    method=METHODS,
    first=METHODS,
    second=METHODS,
    examples=r"\d+",


onstart:
    for name, reason in LEFT_OUT.items():
        print(f"left out: {reason} (`mnlearn fetch {name}` tries again)")
