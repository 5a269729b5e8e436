"""The command `python -m benchmarks`, in a checkout."""

from pathlib import Path

import click

from mnlearn.cli.options import FILE
from mnlearn.cli.values import parse_names


@click.command()
@click.option("--out", type=FILE, help="Write the figures to this CSV as well.")
@click.option("--datasets", default="", help="Comma-separated; only these are renewed in --out.")
def bench(out: Path | None, datasets: str) -> None:
    """Time the kernels on embedded data (grid, digits) and on the benchmark data at hand."""
    from benchmarks.run import run_bench

    run_bench(out, parse_names(datasets), show=click.echo)
