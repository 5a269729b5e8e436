"""
What to run: the studies, the datasets, and the plan that says which records are settled.
"""

import json
import os
from pathlib import Path

from snakemake.utils import validate

from mnlearn_studies.report.document.summaries import summarise
from mnlearn.runtime.code_digest import code_digest
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import file_digest
from mnlearn.runtime.names import one_line
from mnlearn_studies.study.commit import read_commit
from mnlearn_studies.plan.costs import load_laws
from mnlearn_studies.datasets.prepare import (
    check_dataset,
    label_datasets,
    list_unavailable,
)
from mnlearn_studies.datasets.sample_names import base_of
from mnlearn_studies.study.definition import load_studies, study_path
from mnlearn_studies.study.mentions import kinds_read
from mnlearn_studies.plan.parts import Parts
from mnlearn_studies.plan.planning import KINDS, Plan, Record
from mnlearn_studies.plan.resources import JobResources
from mnlearn_studies.running.locks import mark_run

validate(config, "../schemas/config.schema.yaml")

# Whichever Snakefile includes this one.
WORKFLOW = Path(str(workflow.current_basedir)).parent
# Own studies of a person who runs the installed package are in the folder of the run.
WORKFLOWS = list(dict.fromkeys([Path.cwd() / "workflow", WORKFLOW]))
DOCS = WORKFLOW.parent / "docs"

# Threads of a job are those Snakemake gives it, whatever library would like to start more.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

JOBS = WORKFLOW / "jobs.sh"
shell.prefix("source {JOBS:q}; ")


def read_studies():
    """Return the studies that are run or queried by name; a fault in one ends the planning."""
    try:
        studies = load_studies(config["studies"], *WORKFLOWS)
        wanted = {d for study in studies.values() for d in study.datasets}
        for name in sorted(wanted | set(config["datasets"])):
            check_dataset(name, config["local"])
    except InputError as error:
        raise WorkflowError(str(error)) from None
    return studies


def was_killed(path):
    """Whether Snakemake runs the job of a file again, because its last run did not end."""
    return bool(workflow.persistence._filter_incomplete_keys([path]))


STUDIES = read_studies()
# The pages of these are made. Of the others, models are learned that these query.
RUNNING = config["studies"]
LEFT_OUT = list_unavailable(Path("results/data"))
PLAN = Plan(
    studies=STUDIES,
    running=RUNNING,
    results=Path("results"),
    seed=config["seed"],
    local=config["local"],
    datasets=config["datasets"],
    left_out=LEFT_OUT,
    again=config["again"],
    recorded=config["recorded"],
    plans=workflow.is_main_process,
    was_killed=was_killed,
)
PARTS = Parts(PLAN, config["parts"])
RESOURCES = JobResources(PLAN, load_laws(WORKFLOW / "costs.tsv"))
METHODS = "|".join(sorted({m for s in STUDIES.values() for m in s.methods}))


def kept_studies():
    """Return the studies that the index lists: those with claims, and those that are run."""
    listed = [name for name in RUNNING if STUDIES[name].content.get("listed", True)]
    # A run of studies that are not listed leaves the index as it is.
    if not listed:
        return []
    known = {path.stem for flow in WORKFLOWS for path in flow.glob("studies/*.yaml")}
    found = {path.parent.name for path in Path("results").glob("*/claims.csv")}
    return sorted(known & found | set(listed))


KEPT = kept_studies()


def shipped(name):
    """Return a file of the folder `workflow`, as seen from the folder of the run if it is there."""
    path, here = WORKFLOW / name, Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


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
    dataset=r"[a-z0-9_]+(-n[0-9]+-f[0-9]+)?",
    method=METHODS,
    first=METHODS,
    second=METHODS,
    round=r"variables|stage[0-9]+",
    number=r"[0-9]+",
    of=r"[0-9]+",


def drop_rate_limit():
    """Let Snakemake start jobs as fast as it can, unless its user asks for a limit.

    With its usual limit of 100 jobs a second, Snakemake 9 wakes once more each second for every
    job that has ended. After a few hundred jobs this takes a whole core.
    """
    limit = workflow.scheduling_settings.max_jobs_per_timespan
    if limit is not None and (limit.max_jobs, limit.timespan) == (100, 1):
        workflow.scheduler.job_rate_limiter = None


onstart:
    mark_run()
    drop_rate_limit()
    for name, reason in LEFT_OUT.items():
        print(f"left out: {reason} (`mnlearn fetch {name}` tries again)")


onsuccess:
    PLAN.orders.seal()


onerror:
    PLAN.orders.seal()
