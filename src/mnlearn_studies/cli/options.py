"""Options that several commands of studies share."""

from pathlib import Path

import click

from mnlearn.cli.options import FOLDER

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
