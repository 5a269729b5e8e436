"""The steps of the pipeline that show what records say: scores, tables, figures, claims, pages."""

from pathlib import Path

import click

from mnlearn.cli.options import FILE, refuse_given
from mnlearn.runtime.errors import InputError


@click.command()
@click.argument("cells", nargs=-1, required=True, type=FILE)
@click.option("--paired", multiple=True, type=FILE, help="Record of two methods compared.")
@click.option("--curve", "curves", multiple=True, type=FILE, help="Record of a query curve.")
@click.option("--export", "exports", multiple=True, type=FILE, help="Record of `check-exports`.")
@click.option("--time", "times", multiple=True, type=FILE, help="Record of `time-cell`.")
@click.option("--trace", "traces", multiple=True, type=FILE, help="Grid points of a cell.")
@click.option("--timed", multiple=True, help="Method whose seconds are those of --time alone.")
@click.option("--divergence", "divergences", multiple=True, type=FILE, help="Record of a KL.")
@click.option("--likelihood", "likelihoods", multiple=True, type=FILE, help="Record of both LL.")
@click.option("--out", type=FILE, required=True)
def gather(
    cells: tuple[Path, ...],
    paired: tuple[Path, ...],
    curves: tuple[Path, ...],
    exports: tuple[Path, ...],
    times: tuple[Path, ...],
    traces: tuple[Path, ...],
    timed: tuple[str, ...],
    divergences: tuple[Path, ...],
    likelihoods: tuple[Path, ...],
    out: Path,
) -> None:
    """Pipeline: put the numbers of all cells into one tidy CSV."""
    from mnlearn.runtime.files import write_text
    from mnlearn_studies.records.gather import gather as gather_cells

    scores = gather_cells(
        cells,
        paired_paths=paired,
        curve_paths=curves,
        export_paths=exports,
        timing_paths=times,
        divergence_paths=divergences,
        likelihood_paths=likelihoods,
        trace_paths=traces,
        timed=timed,
    )
    write_text(out, scores.to_csv(index=False, lineterminator="\n"))


# The products that read an option of `write`.
_READERS = {"only": ("tables", "figures"), "order": ("tables",), "seed": ("figures",)}


@click.command()
@click.argument("name", metavar="STUDY")
@click.argument("product", type=click.Choice(["tables", "figures", "claims", "page"]))
@click.option("--only", multiple=True, help="Just these tables or figures, by name.")
@click.option("--order", type=FILE, help="What tables are made by; names the cells to mark.")
@click.option("--seed", type=int, help="Seed of the run, of which figures show true networks.")
def write(
    name: str, product: str, only: tuple[str, ...], order: Path | None, seed: int | None
) -> None:
    """Pipeline: write a study's tables, figures or claims from its scores.csv, or its page."""
    from mnlearn_studies.report.study_pages import write_study_page
    from mnlearn_studies.report.study_products import (
        write_study_claims,
        write_study_figures,
        write_study_tables,
    )

    for option, readers in _READERS.items():
        if product not in readers:
            refuse_given([option], f"for {product}, only for {' and '.join(readers)}")
    chosen = list(only) or None
    if product == "tables":
        write_study_tables(name, chosen, order)
    elif product == "figures":
        write_study_figures(name, chosen, seed)
    elif product == "page":
        write_study_page(name)
    else:
        write_study_claims(name)


@click.command()
@click.argument("source", metavar="MARKDOWN", type=FILE)
@click.option("--out", type=FILE, required=True)
def page(source: Path, out: Path) -> None:
    """Pipeline: show a table or the claims as a page for the browser."""
    from mnlearn_studies.report.pages import write_markdown_page

    write_markdown_page(source, out)


@click.command()
@click.argument("names", metavar="STUDY...", nargs=-1)
@click.option("--out", type=FILE, required=True)
def index(names: tuple[str, ...], out: Path) -> None:
    """Pipeline: list the results of studies, with the verdicts on their claims."""
    from mnlearn_studies.report.study_pages import write_index

    write_index(names, out)


@click.command()
@click.argument("name", metavar="STUDY")
@click.argument("method")
def appendix(name: str, method: str) -> None:
    """Pipeline: show every point of a method's grid as a page for the browser."""
    from mnlearn_studies.datasets.prepare import label_datasets
    from mnlearn_studies.plan.configuration import configuration, find_study
    from mnlearn_studies.report.appendix import write_appendix
    from mnlearn_studies.study.folders import results_folder

    study = find_study(name)
    if method not in study.methods:
        raise InputError(f"method {method}: expected one of {', '.join(study.methods)}.")
    labels = study.labels(label_datasets(configuration()["local"]))
    write_appendix(study, method, labels, results_folder() / name)
