"""
What to run: the studies, the datasets, and the plan that says which records there are to be.
"""

import json
import os
from pathlib import Path

from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.prepare import check_dataset, list_unavailable
from mnlearn_studies.plan.configuration import planned
from mnlearn_studies.plan.resources import load_laws
from mnlearn_studies.plan.resources import JobResources
from mnlearn_studies.records.kinds import KINDS
from mnlearn_studies.records.record import Record
from mnlearn_studies.report.all_products import product_files, stamp_of
from mnlearn_studies.running.locks import mark_run
from mnlearn_studies.study.reading import read
from mnlearn_studies.study.settings import Settings

# Whichever Snakefile includes this one.
WORKFLOW = Path(str(workflow.current_basedir)).parent

# Threads of a job are those Snakemake gives it, whatever library would like to start more.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

JOBS = WORKFLOW / "jobs.sh"
shell.prefix("source {JOBS:q}; ")


def make_plan():
    """Return the plan of the run; a fault in a study or a dataset's name ends the planning."""
    try:
        read(Settings, config, "config.yaml")
        left_out = list_unavailable(Path("results/data"))
        plan = planned(
            config["studies"], config["datasets"], config, Path("results"), left_out
        )
        wanted = {d for study in plan.studies.values() for d in study.datasets}
        for name in sorted(wanted | set(config["datasets"])):
            check_dataset(name, config["local"])
    except InputError as error:
        raise WorkflowError(str(error)) from None
    return plan


PLAN = make_plan()
RUNNING = PLAN.running
# Jobs of a cluster read this file too, and a dry run writes nothing.
if workflow.is_main_process and not workflow.dryrun:
    for STUDY in RUNNING:
        PLAN.set_aside(STUDY)
TO_MAKE = PLAN.jobs()
RESOURCES = JobResources(PLAN, load_laws())
# The file of each study that says that its tables, figures and pages are written.
MADE = {study: str(stamp_of(PLAN, study)) for study in RUNNING}


wildcard_constraints:
    study="|".join(PLAN.studies),
    dataset=r"[a-z0-9_]+(-n[0-9]+-f[0-9]+)?",
    names=r"[a-z0-9_]+(-[a-z0-9_]+)*",
    digest=r"[0-9a-f]+",


onstart:
    # Snakemake's limit of jobs in a second starts a timer after each job that ends, and each timer
    # the next, for ever: with hundreds of jobs done, looking for work takes half a processor.
    workflow.scheduler.job_rate_limiter = None
    mark_run()
    for name, reason in PLAN.left_out.items():
        print(f"left out: {reason} (`mnlearn fetch {name}` tries again)")
