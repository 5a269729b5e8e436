"""
What to run: the studies, the datasets, and the plan that says which records are settled.
"""

import json
import os
from pathlib import Path

from snakemake.utils import validate

from mnlearn.runtime.code_digest import code_digest
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.names import one_line
from mnlearn.study.datasets.costs import load_laws
from mnlearn.study.datasets.prepare import (
    label_datasets,
    list_datasets,
    list_unavailable,
)
from mnlearn.study.definition import load_studies
from mnlearn.study.planning import KINDS, Plan, Record
from mnlearn.study.resources import JobResources

validate(config, "../schemas/config.schema.yaml")

WORKFLOW = Path(workflow.basedir) / "workflow"

# Threads of a job are those Snakemake gives it, whatever library would like to start more.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

JOBS = WORKFLOW / "jobs.sh"
shell.prefix("source {JOBS:q}; ")


def read_studies():
    """Return the studies that are run or queried by name; a fault in one ends the planning."""
    try:
        studies = load_studies(config["studies"], WORKFLOW)
        known = list_datasets(config["local"])
        wanted = {d for study in studies.values() for d in study.datasets}
        for name in sorted(wanted | set(config["datasets"])):
            if name not in known:
                raise InputError(
                    f"dataset {name}: expected one of {', '.join(known)}; "
                    "own data are named in config.yaml, under local."
                )
    except InputError as error:
        raise WorkflowError(str(error)) from None
    return studies


STUDIES = read_studies()
LEFT_OUT = list_unavailable(Path("results/data"))
PLAN = Plan(
    studies=STUDIES,
    running=config["studies"],
    results=Path("results"),
    seed=config["seed"],
    local=config["local"],
    datasets=config["datasets"],
    left_out=LEFT_OUT,
    again=config["again"],
    recorded=config["recorded"],
    plans=workflow.is_main_process,
)
RESOURCES = JobResources(PLAN, load_laws(WORKFLOW / "costs.tsv"))
METHODS = "|".join(sorted({m for s in STUDIES.values() for m in s.methods}))


def study_of(wildcards):
    """Return the study of a job."""
    return STUDIES[wildcards.study]


def record_of(kind, wildcards, *names):
    """Return the record that a job makes."""
    return Record(
        kind, wildcards.study, wildcards.dataset, names or (wildcards.method,)
    )


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


wildcard_constraints:
    name=r"[a-z0-9_]+",
    study="|".join(STUDIES),
    dataset=r"[a-z0-9_]+",
    method=METHODS,
    first=METHODS,
    second=METHODS,


onstart:
    for name, reason in LEFT_OUT.items():
        print(f"left out: {reason} (`mnlearn fetch {name}` tries again)")


onsuccess:
    PLAN.orders.seal()


onerror:
    PLAN.orders.seal()
