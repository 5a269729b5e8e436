"""The command `python -m benchmarks`, in a checkout."""

import sys
from pathlib import Path

import click

from benchmarks.cost import draw_cost
from benchmarks.run import run_bench
from mnlearn.cli.options import FILE, parse_names
from mnlearn.cli.progress import show_progress
from mnlearn.runtime.errors import InputError


@click.command()
@click.option("--out", type=FILE, help="CSV that has the figures; steps it has are left out.")
@click.option("--datasets", default="", help="Comma-separated; only these are measured.")
@click.option("--steps", default="", help="Comma-separated; only these are measured, again.")
@click.option("--figure", type=FILE, help="PNG of the cost against the size, with exponents.")
@click.pass_context
def main(
    ctx: click.Context, out: Path | None, datasets: str, steps: str, figure: Path | None
) -> None:
    """Time the kernels on embedded data (grid, digits) and on the benchmark data at hand.

    The file of --out is written after each step of a dataset, and names the step of each row.
    """
    ctx.with_resource(show_progress())
    try:
        rows = run_bench(out, parse_names(datasets), click.echo, parse_names(steps))
        if figure is not None and not draw_cost(rows, figure):
            raise InputError("--figure: there is nothing to draw; measure it with --steps growth.")
    except InputError as error:
        click.echo(f"benchmarks: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
