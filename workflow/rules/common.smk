"""
What to run: the studies, the datasets, and the plan that says which records there are to be.
"""

from pathlib import Path

from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.prepare import check_dataset, list_unavailable
from mnlearn_studies.plan.configuration import complete, planned
from mnlearn_studies.plan.resources import load_laws
from mnlearn_studies.plan.resources import JobResources
from mnlearn_studies.records.kinds import KINDS
from mnlearn_studies.records.record import Record
from mnlearn_studies.records.files import TUNING_RECORD
from mnlearn_studies.report.all_products import product_files, stamp_of
from mnlearn_studies.running.locks import mark_run
from mnlearn_studies.running.slurm import keep_unanswered_jobs

# What the shell of each job reads first. The workflow can lie on a server.
JOBS = workflow.source_path("../jobs.sh")


def find_results():
    """Return the folder of the results of this run, and whether they are kept in a storage.

    Rules write `results/...`. As a module with a prefix, Snakemake puts the prefix before it; with
    a storage, the files of a job are copies in a folder of Snakemake.
    """
    modifier = workflow.modifier.path_modifier
    made = modifier.modify("results/made", "output")
    stored = getattr(made, "flags", {}).get("storage_object")
    path = Path(made if stored is None else stored.local_path())
    return path.parent, stored is not None


RESULTS, IS_STORED = find_results()


def is_folder(file):
    """Whether rules name the folder of a file instead.

    Models stand beside their record, and their number depends on the grid. A storage keeps their
    folder, which a job that is killed does not hand over.
    """
    return IS_STORED and Path(file).name == TUNING_RECORD


def named(file):
    """Return how rules name a file of the plan; what is not of the results stays where it is."""
    path = Path(file)
    if not path.is_relative_to(RESULTS):
        return local(str(file))
    path = Path("results", path.relative_to(RESULTS))
    return str(path.parent if is_folder(path) else path)


def located(file, name):
    """Return where a job has a file of the plan, by the name that Snakemake gives to the job."""
    return str(Path(name, TUNING_RECORD)) if is_folder(file) else str(name)


def make_plan():
    """Return the configuration and the plan of the run; a fault in either ends the planning."""
    try:
        settings = complete(config, "config.yaml")
        asked, own = settings["datasets"], settings["local"]
        left_out = list_unavailable(RESULTS / "data")
        plan = planned(settings["studies"], asked, settings, RESULTS, left_out)
        wanted = {d for study in plan.studies.values() for d in study.datasets}
        for name in sorted(wanted | set(asked)):
            check_dataset(name, own)
    except InputError as error:
        raise WorkflowError(str(error)) from None
    return settings, plan


SETTINGS, PLAN = make_plan()
RUNNING = PLAN.running
# Jobs of a cluster read this file too, and a dry run writes nothing.
if workflow.is_main_process and not workflow.dryrun:
    keep_unanswered_jobs()
    for STUDY in RUNNING:
        PLAN.set_aside(STUDY)
TO_MAKE = PLAN.jobs()
RESOURCES = JobResources(PLAN, load_laws())
# The file of each study that says that its tables, figures and pages are written.
MADE = {study: named(stamp_of(PLAN, study)) for study in RUNNING}


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
