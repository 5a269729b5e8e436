"""The command `mnlearn impute`."""

from pathlib import Path

import click

from mnlearn.cli.examples import Reader, count_missing
from mnlearn.cli.files import check_outputs, check_text_form, save_data
from mnlearn.cli.options import FILE, reading_options, seed_option, threads_option
from mnlearn.runtime.errors import name_data


@click.command()
@click.argument("data_path", metavar="DATA", type=FILE)
@click.option("--out", type=FILE, required=True, help="File to write, of text or .npz.")
@click.option(
    "--fill",
    type=click.Choice(["sample", "likely"]),
    default="sample",
    show_default=True,
    help="Draw the cells, which keeps the spread of the data, or take the likelier value.",
)
@click.option(
    "--iterations",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="How often the network is learned.",
)
@reading_options
@threads_option
@seed_option
def impute(
    *,
    data_path: Path,
    out: Path,
    fill: str,
    iterations: int,
    reader: Reader,
    threads: int,
    seed: int,
) -> None:
    """Fill in the missing cells of DATA.

    A dependency network is learned from the completed data and draws each missing cell given the
    rest of its row; both are repeated. A cell gets one of the states of its column. Columns that
    number the rows are left out; the rows stay in their order.
    """
    from mnlearn.data.incomplete import IncompleteData
    from mnlearn.learning.imputation import Imputation
    from mnlearn.learning.imputation import impute as impute_cells
    from mnlearn.runtime.progress import say

    if out.suffix.lower() != ".npz":
        check_text_form(out)
    check_outputs([out], data_path)
    data = reader.load(data_path).data
    if isinstance(data, IncompleteData):
        filled = f"filled in missing cells of {count_missing(data)}"
        with name_data(data_path):
            data = impute_cells(data, Imputation(iterations, fill), seed=seed, threads=threads)
        say(f"{data_path}: {filled}.")
    save_data(data, out)
