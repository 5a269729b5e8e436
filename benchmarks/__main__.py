"""The command `python -m benchmarks`, in a checkout."""

import sys
from pathlib import Path

import click

from benchmarks.run import run_bench
from mnlearn.cli.options import FILE, parse_names
from mnlearn.cli.progress import show_progress
from mnlearn.runtime.errors import InputError


@click.command()
@click.option("--out", type=FILE, help="Write the figures to this CSV as well.")
@click.option("--datasets", default="", help="Comma-separated; only these are renewed in --out.")
@click.pass_context
def main(ctx: click.Context, out: Path | None, datasets: str) -> None:
    """Time the kernels on embedded data (grid, digits) and on the benchmark data at hand."""
    ctx.with_resource(show_progress())
    try:
        run_bench(out, parse_names(datasets), show=click.echo)
    except InputError as error:
        click.echo(f"benchmarks: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
