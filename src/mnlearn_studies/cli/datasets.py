"""The commands on datasets: `datasets` and `fetch`."""

import json
from pathlib import Path

import click

from mnlearn.cli.options import FOLDER, json_option

mirror_option = click.option(
    "--mirror",
    help="Folder or URL that has the data, or several with ':' between them; default: "
    "$MNLEARN_DATA_MIRROR, else their source.",
)


def _data_folder() -> Path:
    from mnlearn_studies.study.folders import data_folder

    return data_folder()


data_folder_option = click.option(
    "--folder",
    type=FOLDER,
    default=_data_folder,
    help="Where the data are kept; default: results/data, where studies look for them.",
)


@click.command()
@json_option
@data_folder_option
def datasets(as_json: bool, folder: Path) -> None:
    """Show which datasets exist, and which are here.

    Your own datasets, those under `local` in config.yaml, come last. Their sizes are known once a
    study has read them.
    """
    from mnlearn_studies.plan.configuration import configuration, dataset_rows, dataset_table

    rows = dataset_rows(folder, configuration()["local"])
    if as_json:
        click.echo(json.dumps({"datasets": rows}))
    else:
        click.echo(dataset_table(rows))


@click.command()
@click.argument("names", nargs=-1, metavar="NAME...")
@mirror_option
@data_folder_option
@click.option("--jobs", default=4, show_default=True, help="Downloads at a time.")
def fetch(names: tuple[str, ...], mirror: str | None, folder: Path, jobs: int) -> None:
    """Fetch and verify datasets; all benchmark datasets if none is named.

    For alarm, alarm_groups, adult and adult_groups, the files they are built from are fetched.
    """
    from mnlearn_studies.datasets.fetch import fetch_many
    from mnlearn_studies.datasets.prepare import record_outcomes
    from mnlearn_studies.datasets.registry import load_registry
    from mnlearn_studies.plan.configuration import configuration

    mirror = mirror or configuration()["mirror"] or None
    record_outcomes(fetch_many(names or tuple(load_registry()), folder, mirror, jobs), folder)
