"""The commands that run whole studies: `study` and `demo`."""

import sys

import click

from mnlearn.cli.options import parse_names, refuse_given
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_text
from mnlearn.runtime.names import counted
from mnlearn.runtime.progress import say
from mnlearn_studies.cli.datasets import mirror_option

# The options that are read beside each option that asks for something else than a whole run.
_READ: dict[str, tuple[str, ...]] = {
    "show": (),
    "stale": ("chosen",),
    "dry_run": ("chosen", "again", "cores", "mirror", "profile", "parts", "verbose"),
    "unlock": (),
    "recorded": ("chosen", "cores", "mirror", "profile", "again", "verbose"),
}


def _refuse_unread() -> None:
    context = click.get_current_context()
    names = {str(option.name) for option in context.command.params}
    for mode, read in _READ.items():
        if context.params[mode]:
            refuse_given(names - {"name", mode, *read}, f"with --{mode.replace('_', '-')}")


def _check_cores(
    _context: click.Context, _option: click.Parameter, value: str | None
) -> str | None:
    """Refuse what is neither a number nor all, before anything is fetched."""
    if value is not None and value != "all" and not (value.isdecimal() and int(value) > 0):
        raise InputError(f"--cores: expected a number from 1, or all, got {value!r}.")
    return value


@click.command()
@click.argument("name", metavar="NAME")
@click.option("--datasets", "chosen", help="Comma-separated; default: all of the study.")
@click.option(
    "--cores",
    metavar="N",
    callback=_check_cores,
    help="Jobs at a time, or all.  [default: all, or what the profile says]",
)
@mirror_option
@click.option("--profile", metavar="NAME", help="Of Snakemake: local, slurm, or a folder.")
@click.option(
    "--parts",
    metavar="N",
    type=click.IntRange(1, 1000),
    help="Jobs that share out the learning of one method on one dataset.  [default: 1]",
)
@click.option("--show", is_flag=True, help="Print the file of the study, as a start of your own.")
@click.option("--stale", is_flag=True, help="List records that are not current, and why.")
@click.option("--dry-run", is_flag=True, help="Say what would be made, and in how many hours.")
@click.option("--again", is_flag=True, help="Make records again that are current.")
@click.option("--recorded", is_flag=True, help="Compute nothing; tables from what is recorded.")
@click.option("--unlock", is_flag=True, help="Remove the lock of a run that was killed.")
@click.option("--verbose", is_flag=True, help="Show all output of Snakemake, and no bar.")
def study(
    *,
    name: str,
    chosen: str | None,
    cores: str | None,
    mirror: str | None,
    profile: str | None,
    parts: int | None,
    show: bool,
    stale: bool,
    dry_run: bool,
    again: bool,
    recorded: bool,
    unlock: bool,
    verbose: bool,
) -> None:
    """Run one paper's study with Snakemake and write its tables, figures, claims and page.

    Records that are current, by the digests of their code, data and settings, are used as they
    are; what is missing or stale is computed. Tables show all records, whatever --datasets says.
    The page of the study is results/NAME/index.html, and for a forge README.md beside it. The
    output of Snakemake is in results/logs/NAME/run.log.

    Your own study is a file workflow/studies/NAME.yaml in the current folder.
    """
    from mnlearn_studies.running import locks, run
    from mnlearn_studies.study.definition import study_path
    from mnlearn_studies.study.folders import workflow_folders

    _refuse_unread()
    if show:
        click.echo(read_text(study_path(name, *workflow_folders())), nl=False)
        return
    datasets = parse_names(chosen)
    if unlock:
        locks.unlock(force=True)
        return
    _check(name, recorded)
    if stale:
        _list_stale(name, datasets)
        return
    if dry_run:
        _foretell(name, datasets, again)
        return
    say(f"results: {run.page_of(name).parent}")
    status = run.run_study(
        name,
        datasets,
        cores,
        mirror,
        profile=profile,
        parts=parts,
        again=again,
        recorded=recorded,
        verbose=verbose,
    )
    if status == 0:
        say(f"page: {run.page_of(name)}")
    sys.exit(status)


def _check(name: str, recorded: bool) -> None:
    """Refuse a study with faults that would show only after models have been learned."""
    from mnlearn_studies.datasets.prepare import check_own_names
    from mnlearn_studies.plan.configuration import configuration, find_study
    from mnlearn_studies.report.all_products import check_products
    from mnlearn_studies.running import run

    local = configuration()["local"]
    check_own_names(local)
    check_products(name)
    study = find_study(name)
    run.check_grids(study)
    if not recorded:
        run.check_datasets(study.datasets, local)


def _list_stale(name: str, datasets: list[str]) -> None:
    from mnlearn_studies.plan import configuration
    from mnlearn_studies.running import run

    named = run.expand_datasets(configuration.find_study(name), datasets)
    plan = configuration.plan_of(name, named)
    for record, changed in configuration.stale_records(plan, name):
        if named and record.dataset not in named:
            continue
        methods = "-".join(record.names)
        click.echo(f"{record.dataset} {methods} {record.kind}: {', '.join(changed)}")
    asked = [record for record in plan.all_records(name) if plan.is_wanted(record)]
    n_missing = sum(not plan.versions(record) for record in asked)
    if n_missing:
        say(f"{n_missing} of {counted(len(asked), 'record')} are not made yet")


def _foretell(name: str, datasets: list[str], again: bool) -> None:
    """Print how many jobs of each kind a run would have, and their expected hours."""
    from mnlearn_studies.plan import configuration
    from mnlearn_studies.plan.resources import JobResources, load_laws
    from mnlearn_studies.records.kinds import KINDS
    from mnlearn_studies.running.run import expand_datasets

    chosen = expand_datasets(configuration.find_study(name), datasets)
    plan, recorded = (configuration.plan_of(name, chosen) for _ in range(2))
    if again:
        plan.forget(name)
    # What is made again takes what its record says, though that is forgotten.
    costs, jobs = JobResources(recorded, load_laws()), plan.jobs()
    seconds = {job: costs.recorded_seconds(job) for job in jobs}
    if not jobs:
        click.echo("nothing to make: all records are there and current")
        return
    for kind in KINDS:
        if own := [job for job in jobs if job.kind == kind]:
            shown = _in_words(sum(seconds[job] for job in own))
            click.echo(f"{kind:<12} {counted(len(own), 'job'):>11} {shown:>14}")
    longest = max(jobs, key=lambda job: seconds[job])
    click.echo(
        f"about {_in_words(sum(seconds.values()))} of one processor on "
        f"{counted(len(plan.needed_datasets()), 'dataset')}; the longest job is "
        f"{'-'.join(longest.names) or longest.kind} on {longest.dataset}, "
        f"{_in_words(seconds[longest])}; a job may use up to {max(map(costs.mib, jobs)):,} MiB"
    )
    n_guessed = sum(not costs.is_known(job) for job in jobs)
    if n_guessed:
        say(f"jobs without recorded times, which count as a minute each: {n_guessed}")


def _in_words(seconds: float) -> str:
    """Return a time in the unit that a person would choose."""
    if seconds < 90:
        return counted(max(1, round(seconds)), "second")
    return (
        counted(round(seconds / 60), "minute") if seconds < 5400 else f"{seconds / 3600:,.1f} hours"
    )


@click.command()
@click.option("--verbose", is_flag=True, help="Show all output of Snakemake, and no bar.")
def demo(verbose: bool) -> None:
    """Run the whole pipeline on embedded data, without network, and say what was learned."""
    from mnlearn_studies.cli.demonstration import run_demo

    sys.exit(run_demo(verbose))
