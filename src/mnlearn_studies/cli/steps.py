"""The steps of the pipeline as one command; a person can paste them from Snakemake's log."""

from pathlib import Path

import click

from mnlearn.cli.options import FILE, threads_option
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.target import enter_class


@click.group()
def step() -> None:
    """Do one step of the pipeline, as the rules of the workflow do."""
    enter_class()


@step.command()
@click.argument("job", metavar="JOB")
@threads_option
def record(job: str, threads: int) -> None:
    """Make one record; JOB says in JSON what it is made from, as the workflow writes it.

    Records of the same methods that were made by another recipe are removed afterwards.
    """
    from mnlearn_studies.records.kinds import KINDS
    from mnlearn_studies.records.making import make_record
    from mnlearn_studies.records.record import Job

    try:
        parsed = Job.from_json(job, threads)
        kind = KINDS[parsed.record.kind]
    except (LookupError, RecursionError, TypeError, ValueError) as error:
        raise InputError("JOB: expected the JSON that the workflow writes for a record.") from error
    make_record(kind, parsed)


@step.command()
@click.argument("name", metavar="STUDY")
@click.option("--config", "given", default="{}", help="Keys of config.yaml, as JSON.")
@click.option(
    "--out", type=FILE, required=True, help="RESULTS/made/FILE, which says what was written."
)
def products(name: str, given: str, out: Path) -> None:
    """Write scores, tables, figures, claims and pages of a study from its records in RESULTS."""
    from mnlearn.cli.options import parse_object
    from mnlearn_studies.datasets.prepare import list_unavailable
    from mnlearn_studies.plan.configuration import complete, planned
    from mnlearn_studies.report.all_products import write_all

    config = complete(parse_object(given, "--config"), "--config")
    results = out.parent.parent
    left_out = list_unavailable(results / "data")
    write_all(planned([name], config["datasets"], config, results, left_out), name, out)


# The products that `--only` chooses from.
_CHOSEN = ("tables", "figures")


@step.command()
@click.argument("name", metavar="STUDY")
@click.argument("product", type=click.Choice(["scores", "tables", "figures", "claims", "page"]))
@click.option("--only", multiple=True, help="Just these tables or figures, by name.")
def write(name: str, product: str, only: tuple[str, ...]) -> None:
    """Write one kind of product of a study alone: tables and the others from scores.csv."""
    from mnlearn_studies.plan.configuration import plan_of
    from mnlearn_studies.report.all_products import WRITERS

    if only and product not in _CHOSEN:
        raise InputError(f"--only: is not read for {product}, only for {' and '.join(_CHOSEN)}.")
    chosen = {"only": list(only)} if only else {}
    WRITERS[product](plan_of(name, []), name, **chosen)
