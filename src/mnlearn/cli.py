"""The command `mnlearn`: one subcommand per thing a person asks for and per pipeline step.

Modules that compile kernels or draw are imported where they are used: `--help` and errors in
the arguments should not wait for them.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from mnlearn import __version__
from mnlearn.errors import InputError
from mnlearn.threads import available_threads

DATA_FOLDER = Path("results/data")
F = TypeVar("F", bound=Callable[..., Any])


class Commands(click.Group):
    """Subcommands in the order of their definition; the user's faults in one sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the subcommands, those for a person first."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a subcommand; an `InputError` ends the program with status 2."""
        try:
            return super().invoke(ctx)
        except InputError as error:
            click.echo(f"mnlearn: {error}", err=True)
            ctx.exit(2)
        except BrokenPipeError:
            # The reader of our output has gone; the interpreter must not complain about it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="mnlearn")
def main() -> None:
    r"""Learn the structure of Markov networks from binary data.

    \b
    mnlearn fit dtsl --train mine.csv --out mine.npz      learn a network
    mnlearn score mine.npz test.csv --metric pll          how good is it?
    mnlearn convert mine.npz mine.graphml                 use it elsewhere
    mnlearn study dtsl                                    a whole paper

    Data are text files with one example a line, `0,1,1,0`, with or without a header; also
    `.npz`, and `.gz` or `.xz` of the text forms.
    """


FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)

seed_option = click.option("--seed", default=20, show_default=True, help="Seed of all randomness.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
threads_option = click.option(
    "--threads",
    type=click.IntRange(min=1),
    default=available_threads,
    help="Threads to use; the result does not depend on it. Default: all processors.",
)
mirror_option = click.option(
    "--mirror",
    help="Folder or URL that has the benchmark data; default: $MNLEARN_DATA_MIRROR, else their "
    "source.",
)


def inference_options(command: F) -> F:
    """Add the options that say how conditional marginals are computed."""
    for option in (
        click.option("--samples", default=1000, show_default=True, help="Sweeps counted."),
        click.option("--burn-in", default=100, show_default=True, help="Sweeps not counted."),
        click.option(
            "--inference",
            type=click.Choice(["gibbs", "exact"]),
            default="gibbs",
            show_default=True,
            help="Gibbs sampling, or enumeration of up to 2^20 states.",
        ),
    ):
        command = option(command)
    return command


def show(value: dict[str, Any], as_json: bool) -> None:
    """Print a flat record as JSON or as lines."""
    if as_json:
        click.echo(json.dumps(value, sort_keys=True))
    else:
        width = max(len(name) for name in value)
        for name, item in value.items():
            text = f"{item:.6g}" if isinstance(item, float) else str(item)
            click.echo(f"{name.replace('_', ' '):<{width}}  {text}")


@main.command()
@json_option
@click.option("--folder", type=FOLDER, default=DATA_FOLDER, help="Where the data are kept.")
def datasets(as_json: bool, folder: Path) -> None:
    """Show which datasets exist, which are here, and what each method will need."""
    from mnlearn.estimates import dataset_rows, print_datasets

    rows = dataset_rows(folder)
    if as_json:
        click.echo(json.dumps({"datasets": rows}))
    else:
        print_datasets(rows)


@main.command()
@click.argument("names", nargs=-1, metavar="NAME...")
@mirror_option
@click.option("--folder", type=FOLDER, default=DATA_FOLDER, help="Where to keep them.")
@click.option("--jobs", default=4, show_default=True, help="Downloads at a time.")
def fetch(names: tuple[str, ...], mirror: str | None, folder: Path, jobs: int) -> None:
    """Fetch and verify benchmark datasets; all of them if none is named."""
    from mnlearn.data.fetch import fetch_many
    from mnlearn.data.registry import load_registry
    from mnlearn.data.sources import record_outcomes

    record_outcomes(fetch_many(names or tuple(load_registry()), folder, mirror, jobs), folder)


def parse_settings(settings: tuple[str, ...]) -> dict[str, Any]:
    """Return `key=value` arguments as a dictionary."""
    out: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise InputError(f"--set {setting}: expected key=value.")
        out[name.strip()] = value.strip()
    return out


def parse_json(text: str, option: str) -> Any:
    """Return the JSON value of an option."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{option}: is not JSON: {error.msg}.") from error


def read_grid(path: Path | None) -> dict[str, Any]:
    """Return the grid in a YAML or JSON file of parameter: [values]."""
    if path is None:
        return {}
    import yaml

    from mnlearn.files import read_text

    try:
        grid = yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        raise InputError(f"{path}: is not YAML: {error}.") from error
    if not isinstance(grid, dict):
        raise InputError(f"{path}: expected parameters with lists of values.")
    return grid


@main.command()
@click.argument("method", metavar="METHOD")
@click.option("--train", type=FILE, required=True, help="Training data.")
@click.option("--valid", type=FILE, help="Validation data, to choose from a grid.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A parameter.")
@click.option("--grid", "grid_path", type=FILE, help="YAML file of parameter: [values].")
@click.option("--out", type=FILE, required=True, help="Model file; .npz, .mn, .dn, .graphml, .csv.")
@click.option("--trace", type=FILE, help="Write every grid point to this CSV.")
@threads_option
@seed_option
def fit(
    method: str,
    train: Path,
    valid: Path | None,
    settings: tuple[str, ...],
    grid_path: Path | None,
    out: Path,
    trace: Path | None,
    threads: int,
    seed: int,
) -> None:
    """Learn a model with METHOD: see `mnlearn methods`.

    Without --grid the given or default parameters are used. With --grid and --valid the values
    that score the best log-pseudo-likelihood on the validation data are chosen.
    """
    from mnlearn.data.text import load_dataset
    from mnlearn.files import write_text
    from mnlearn.methods import load_method
    from mnlearn.models.files import check_writable, save_model
    from mnlearn.scores import check_variables
    from mnlearn.tuning import tune, validation_pll

    learner = load_method(method)
    grid = learner.grid({**read_grid(grid_path), **parse_settings(settings)})
    check_writable(out)
    searched = any(len(values) > 1 for values in grid.values())
    if searched and valid is None:
        raise InputError("--grid: expected --valid, the data to choose values on.")
    data = load_dataset(train)
    criterion = None
    if valid is not None:
        valid_data = load_dataset(valid)
        criterion = validation_pll(valid_data, threads)
    tuned = tune(learner, data, grid, criterion, threads)
    if valid is not None:
        check_variables(tuned.best.fitted.model, valid_data)
    save_model(tuned.best.fitted.model, out)
    if trace is not None:
        import pandas as pd

        write_text(trace, pd.DataFrame(tuned.trace).to_csv(index=False, lineterminator="\n"))
    chosen = ", ".join(f"{name}={value}" for name, value in tuned.best.parameters.items())
    click.echo(f"{out}: {method} with {chosen}", err=True)


@main.command()
def methods() -> None:
    """List the methods and their parameters."""
    import dataclasses

    from mnlearn.methods import load_method, method_names

    for name in method_names():
        method = load_method(name)
        click.echo(f"{name}: {method.title} ({method.source})")
        for field in dataclasses.fields(method.parameters):
            click.echo(f"    {field.name}={field.default}    {field.metadata['help']}")


@main.command()
@click.argument("model_path", metavar="MODEL", type=FILE)
@click.argument("data_path", metavar="DATA", type=FILE)
@click.option("--metric", type=click.Choice(["pll", "cmll", "cll", "ll"]), default="pll")
@inference_options
@click.option("--folds", default=4, show_default=True, help="Query groups of cmll and cll.")
@click.option("--groups", type=FILE, help="JSON file of query groups, lists of variables.")
@click.option("--per-example", type=FILE, help="Write the score of every example to this CSV.")
@threads_option
@seed_option
@json_option
def score(
    model_path: Path,
    data_path: Path,
    metric: str,
    inference: str,
    burn_in: int,
    samples: int,
    folds: int,
    groups: Path | None,
    per_example: Path | None,
    threads: int,
    seed: int,
    as_json: bool,
) -> None:
    r"""Score MODEL on DATA, in nats per example; higher is better.

    \b
    pll   log-pseudo-likelihood: every variable given all others
    cmll  conditional marginal log-likelihood: every variable given the other query groups
    cll   conditional log-likelihood of each query group given the others (exact)
    ll    log-likelihood (exact, up to 20 variables)
    """
    from mnlearn import scores
    from mnlearn.data.text import load_dataset
    from mnlearn.files import read_json, write_text
    from mnlearn.inference.marginals import Inference
    from mnlearn.models.files import load_model
    from mnlearn.partitions import random_partition
    from mnlearn.streams import stream, stream_seed

    model, data = load_model(model_path), load_dataset(data_path)
    query: Any = (
        read_json(groups)
        if groups is not None
        else random_partition(model.n_vars, folds, stream(seed, "query groups"))
    )
    if metric == "pll":
        result = scores.pll(model, data, threads)
    elif metric == "ll":
        result = scores.ll(model, data, threads)
    elif metric == "cll":
        result = scores.cll(model, data, query, threads)
    else:
        settings = Inference(inference, burn_in, samples)
        result = scores.cmll(model, data, query, settings, stream_seed(seed, "gibbs"), threads)
    if per_example is not None:
        values = result.per_row[data.row_of]
        write_text(per_example, f"{metric}\n" + "".join(f"{v!r}\n" for v in values.tolist()))
    record: dict[str, Any] = {
        "metric": metric,
        "mean": result.mean,
        "standard_error": result.standard_error,
        "n_examples": data.n_examples,
    }
    if result.monte_carlo_error:
        record["monte_carlo_error"] = result.monte_carlo_error
    show(record, as_json)


@main.command()
@click.argument("model_path", metavar="MODEL", type=FILE)
@click.option("--evidence", type=FILE, required=True, help="Rows of 0, 1 and * (asked for).")
@click.option("--out", type=FILE, help="CSV to write; default: stdout.")
@inference_options
@threads_option
@seed_option
def query(
    model_path: Path,
    evidence: Path,
    out: Path | None,
    inference: str,
    burn_in: int,
    samples: int,
    threads: int,
    seed: int,
) -> None:
    """Print P(variable = 1 | the values given) for every * of each evidence row."""
    from mnlearn.files import write_text
    from mnlearn.inference.marginals import Inference
    from mnlearn.inference.queries import answer, format_answers, read_evidence
    from mnlearn.models.files import load_model
    from mnlearn.streams import stream_seed

    model = load_model(model_path)
    rows, asked = read_evidence(evidence, model.n_vars)
    settings = Inference(inference, burn_in, samples)
    probability = answer(model, rows, asked, settings, stream_seed(seed, "query"), threads)
    text = format_answers(probability, rows, asked, model.names)
    if out is None:
        click.echo(text, nl=False)
    else:
        write_text(out, text)


@main.command()
@click.argument("model_path", metavar="MODEL", type=FILE)
@click.option("--rows", "n_rows", type=click.IntRange(min=1), required=True)
@click.option("--out", type=FILE, required=True, help="Text file to write.")
@click.option("--burn-in", default=1000, show_default=True, help="Sweeps before a row is taken.")
@seed_option
@threads_option
def sample(model_path: Path, n_rows: int, out: Path, burn_in: int, seed: int, threads: int) -> None:
    """Draw examples from a model: exactly up to 20 variables, else the ends of Gibbs chains."""
    from mnlearn.data.dataset import merge_rows
    from mnlearn.data.text import save_text
    from mnlearn.inference.sampling import sample_rows
    from mnlearn.models.files import load_model
    from mnlearn.streams import stream_seed

    model = load_model(model_path)
    rows = sample_rows(model, n_rows, burn_in, stream_seed(seed, "sample"), threads)
    save_text(merge_rows(rows, names=model.names), out)


@main.command()
@click.argument("source", metavar="IN", type=FILE)
@click.argument("target", metavar="OUT", type=FILE)
def convert(source: Path, target: Path) -> None:
    r"""Convert a model or a data file; the forms are named by the suffixes.

    \b
    models  .npz  .mn  .dn    both ways;  .graphml and .csv (edges): out only
    data    .npz  .data  .csv, and .gz or .xz of the text forms
    """
    from mnlearn.models.files import load_model, save_model

    if source.suffix in (".mn", ".dn", ".npz") and _kind(source) != "dataset":
        save_model(load_model(source), target)
        return
    from mnlearn.data.text import load_dataset, save_text

    data = load_dataset(source)
    if target.suffix == ".npz":
        data.save(target)
    else:
        save_text(data, target)


def _kind(path: Path) -> str | None:
    """Return what a native file says it holds; None for other files."""
    import numpy as np

    if path.suffix != ".npz":
        return None
    try:
        with np.load(path, allow_pickle=False) as archive:
            return str(archive["kind"]) if "kind" in archive else "dataset"
    except Exception:  # whatever is wrong, reading it as a model will say it
        return None


@main.command()
@click.argument("model_path", metavar="MODEL", type=FILE)
@json_option
def info(model_path: Path, as_json: bool) -> None:
    """Say what a model is: kind, variables, features by length, edges, size."""
    from mnlearn.models.files import describe, load_model

    show({**describe(load_model(model_path)), "bytes": model_path.stat().st_size}, as_json)


@main.command()
@click.argument("name", metavar="NAME")
@click.option("--datasets", "chosen", help="Comma-separated; default: all of the study.")
@click.option("--cores", default="all", show_default=True, help="Jobs at a time.")
@mirror_option
@click.option("--stale", is_flag=True, help="List cells made by code that has changed since.")
@click.option("--report/--no-report", default=True, help="Write results/<study>/report.html.")
def study(
    name: str, chosen: str | None, cores: str, mirror: str | None, stale: bool, report: bool
) -> None:
    """Run one paper's study with Snakemake and write its tables, figures, claims and report."""
    from mnlearn.pipeline import run_study, stale_cells

    if stale:
        for dataset, method in stale_cells(name):
            click.echo(f"{dataset} {method}")
        return
    sys.exit(run_study(name, chosen.split(",") if chosen else [], cores, mirror, report))


@main.command()
def demo() -> None:
    """Run the whole pipeline on embedded data, without network, and show its table."""
    from mnlearn.pipeline import run_demo

    sys.exit(run_demo())


@main.command()
@click.option("--out", type=FILE, help="Write the figures to this CSV as well.")
@click.option("--quick", is_flag=True, help="Embedded data only.")
def bench(out: Path | None, quick: bool) -> None:
    """Time the kernels on embedded data and on the benchmark data at hand."""
    from mnlearn.bench import run_bench

    run_bench(out, quick)


@main.command()
@click.argument("name", metavar="DATASET")
@click.option("--local", default="{}", help="How a person's own dataset is given, as JSON.")
@click.option("--folder", type=FOLDER, default=DATA_FOLDER)
@seed_option
def prepare(name: str, local: str, folder: Path, seed: int) -> None:
    """Pipeline: bring a dataset into the native form, fetching or drawing it if needed."""
    from mnlearn.data.sources import prepare_dataset

    prepare_dataset(name, folder, seed, parse_json(local, "--local"))


@main.command()
@click.argument("train", type=FILE)
@click.option("--dataset", required=True)
@click.option("--groups", type=click.IntRange(min=1), required=True)
@click.option("--number", type=click.IntRange(min=1), required=True)
@click.option("--out", type=FILE, required=True)
@seed_option
def partition(train: Path, dataset: str, groups: int, number: int, out: Path, seed: int) -> None:
    """Pipeline: draw partitions of the variables into query groups."""
    from mnlearn.data.dataset import load_npz
    from mnlearn.files import write_json
    from mnlearn.partitions import partitions

    write_json(out, partitions(seed, dataset, load_npz(train).n_vars, groups, number))


@main.command()
@click.argument("learner", metavar="METHOD")
@click.option("--study", required=True)
@click.option("--label", required=True, help="Name of the method in the study.")
@click.option("--dataset", required=True)
@click.option("--train", type=FILE, required=True)
@click.option("--valid", type=FILE, required=True)
@click.option("--grid", required=True, help="Values by parameter, as JSON.")
@click.option("--cmll", default="{}", help="Settings to choose by validation CMLL, as JSON.")
@click.option("--checkpoints", type=FOLDER, help="Folder for finished grid points.")
@click.option("--models", type=FOLDER, required=True)
@click.option("--trace", type=FILE, required=True)
@click.option("--record", type=FILE, required=True)
@threads_option
@seed_option
def tune(
    learner: str,
    study: str,
    label: str,
    dataset: str,
    train: Path,
    valid: Path,
    grid: str,
    cmll: str,
    checkpoints: Path | None,
    models: Path,
    trace: Path,
    record: Path,
    threads: int,
    seed: int,
) -> None:
    """Pipeline: search a grid on validation data; keep the best model of each variant."""
    from mnlearn.cell_learning import learn_cell

    identity = {"study": study, "method": label, "dataset": dataset, "seed": seed}
    values = parse_json(grid, "--grid")
    learn_cell(
        learner, identity, train, valid, values, parse_json(cmll, "--cmll"),
        checkpoints, models, trace, record, threads,
    )  # fmt: skip


@main.command("score-cell")
@click.argument("record", type=FILE)
@click.option("--models", type=FOLDER, required=True)
@click.option("--groups", type=FILE, required=True)
@click.option("--test", type=FILE, required=True)
@click.option("--inference", required=True, help="Inference settings, as JSON.")
@click.option("--checkpoints", type=FOLDER)
@click.option("--per-example", type=FILE, required=True)
@click.option("--cell", type=FILE, required=True)
@threads_option
def score_cell(
    record: Path,
    models: Path,
    groups: Path,
    test: Path,
    inference: str,
    checkpoints: Path | None,
    per_example: Path,
    cell: Path,
    threads: int,
) -> None:
    """Pipeline: score a learned model and its variants on test data."""
    from mnlearn import cell_scoring

    settings = parse_json(inference, "--inference")
    cell_scoring.score_cell(
        record, models, test, groups, settings, checkpoints, per_example, cell, threads
    )


@main.command()
@click.argument("cells", nargs=-1, required=True, type=FILE)
@click.option("--out", type=FILE, required=True)
def gather(cells: tuple[Path, ...], out: Path) -> None:
    """Pipeline: put the numbers of all cells into one tidy CSV."""
    from mnlearn.cells import gather as gather_cells
    from mnlearn.files import write_text

    write_text(out, gather_cells(list(cells)).to_csv(index=False, lineterminator="\n"))


@main.command()
@click.argument("name", metavar="STUDY")
@click.argument("product", type=click.Choice(["tables", "figures", "claims"]))
@click.option("--only", multiple=True, help="Just these, by name.")
def write(name: str, product: str, only: tuple[str, ...]) -> None:
    """Pipeline: write a study's tables, figures or claims from its scores.csv."""
    from mnlearn.pipeline import write_product

    write_product(name, product, list(only) or None)


@main.command()
@click.argument("source", metavar="MARKDOWN", type=FILE)
@click.option("--out", type=FILE, required=True)
def page(source: Path, out: Path) -> None:
    """Pipeline: show a table or the claims as a page for the browser."""
    from mnlearn.pages import write_page

    write_page(source, out)


if __name__ == "__main__":
    main()
