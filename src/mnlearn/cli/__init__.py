"""The command `mnlearn`: one subcommand per thing a person asks for and per pipeline step.

Modules that compile kernels or draw are imported where they are used: `--help` and errors in
the arguments should not wait for them.
"""

import json
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnlearn import __version__
from mnlearn.cli.ising import ising
from mnlearn.cli.options import (
    DATA_FOLDER,
    FILE,
    FOLDER,
    check_data,
    check_text_form,
    inference_options,
    json_option,
    mirror_option,
    parse_settings,
    read_grid,
    read_groups,
    seed_option,
    threads_option,
)
from mnlearn.cli.steps import STEPS
from mnlearn.runtime.errors import InputError

if TYPE_CHECKING:
    from mnlearn.data.dataset import Dataset
    from mnlearn.models.io.native import Model


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
        except click.UsageError as error:
            text = error.format_message().rstrip(".").replace("\n", " ")
            path = error.ctx.command_path if error.ctx else "mnlearn"
            click.echo(f"mnlearn: {text}; see {path} --help.", err=True)
            ctx.exit(2)
        except BrokenPipeError:
            # The reader of our output has gone; the interpreter must not complain about it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="mnlearn")
def main() -> None:
    """Learn the structure of Markov networks from binary data.

    \b
    mnlearn fit dtsl --train mine.csv --out mine.npz      learn a network
    mnlearn score mine.npz test.csv --metric pll          how good is it?
    mnlearn convert mine.npz mine.graphml                 use it elsewhere
    mnlearn study dtsl                                    a whole paper

    Data are text files with one example a line, `0,1,1,0`, with or without a header; also
    `.npz`, and `.gz` or `.xz` of the text forms.
    """


def show(value: dict[str, Any], as_json: bool) -> None:
    """Print a flat record as JSON or as lines."""
    if as_json:
        # JSON has no infinity: null stands for a score of minus infinity.
        finite = {
            name: None if isinstance(item, float) and not math.isfinite(item) else item
            for name, item in value.items()
        }
        click.echo(json.dumps(finite, sort_keys=True, allow_nan=False))
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
    from mnlearn.study.datasets.costs import dataset_rows, print_datasets

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
    from mnlearn.study.datasets.fetch import fetch_many
    from mnlearn.study.datasets.prepare import record_outcomes
    from mnlearn.study.datasets.registry import load_registry

    record_outcomes(fetch_many(names or tuple(load_registry()), folder, mirror, jobs), folder)


@main.command()
@click.argument("method", metavar="METHOD")
@click.option("--train", type=FILE, required=True, help="Training data.")
@click.option("--valid", type=FILE, help="Validation data, to choose from a grid.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A parameter.")
@click.option("--grid", "grid_path", type=FILE, help="YAML file of parameter: [values].")
@click.option("--network", type=FILE, help="Dependency network to build on (dn2mn, lw).")
@click.option(
    "--out", type=FILE, required=True, help="Model file, in a form that `mnlearn convert` names."
)
@click.option("--trace", type=FILE, help="Write every grid point to this CSV.")
@threads_option
@seed_option
def fit(
    method: str,
    train: Path,
    valid: Path | None,
    settings: tuple[str, ...],
    grid_path: Path | None,
    network: Path | None,
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
    from mnlearn.learning.tuning import tune, validation_score
    from mnlearn.methods import load_learner
    from mnlearn.models.io.formats import check_writable, load_network, save_model
    from mnlearn.runtime.files import write_csv

    learner = load_learner(method)
    grid = learner.grid({**read_grid(grid_path), **parse_settings(settings)})
    check_writable(out)
    searched = any(len(values) > 1 for values in grid.values())
    if searched and valid is None:
        raise InputError("--grid: expected --valid, the data to choose values on.")
    data = load_dataset(train)
    criterion = None
    if valid is not None:
        valid_data = load_dataset(valid)
        check_data(valid, data, valid_data)
        criterion = validation_score(learner, valid_data, threads)
    given = load_network(network)
    if given is not None and network is not None:
        check_data(network, data, given)
    tuned = tune(learner, data, grid, criterion, threads=threads, network=given)
    if trace is not None:
        write_csv(trace, tuned.trace)
    try:
        save_model(tuned.best.fitted.model, out)
    except InputError:
        if trace is not None:
            trace.unlink(missing_ok=True)
        raise
    chosen = ", ".join(f"{name}={value}" for name, value in tuned.best.parameters.items())
    click.echo(f"{out}: {method} with {chosen}", err=True)


@main.command()
def methods() -> None:
    """List the methods and their parameters."""
    from mnlearn.methods import learner_names, load_learner

    for name in learner_names():
        learner = load_learner(name)
        click.echo(f"{name}: {learner.title} ({learner.citation})")
        for parameter, field in learner.fields().items():
            click.echo(f"    {parameter}={field.default}    {field.metadata['help']}")


@main.command()
@click.argument("model_path", metavar="MODEL", type=FILE)
@click.argument("data_path", metavar="DATA", type=FILE)
@click.option("--metric", type=click.Choice(["pll", "cmll", "cll", "ll"]), default="pll")
@inference_options
@click.option(
    "--ais",
    "chains",
    type=click.IntRange(min=2),
    help="Estimate ll by annealed importance sampling: chains of --samples steps each.",
)
@click.option(
    "--folds",
    type=click.IntRange(min=1),
    default=4,
    show_default=True,
    help="Query groups of cmll and cll.",
)
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
    chains: int | None,
    folds: int,
    groups: Path | None,
    per_example: Path | None,
    threads: int,
    seed: int,
    as_json: bool,
) -> None:
    """Score MODEL on DATA, in nats per example; higher is better.

    \b
    pll   log-pseudo-likelihood: every variable given all others
    cmll  conditional marginal log-likelihood: every variable given the other query groups
    cll   conditional log-likelihood of each query group given the others (exact)
    ll    log-likelihood (exact: circuits, and networks that one can be compiled of)
    """
    from mnlearn.data.text import load_dataset
    from mnlearn.inference.annealing import Annealing
    from mnlearn.inference.query_groups import random_partition
    from mnlearn.inference.settings import Inference
    from mnlearn.models.io.formats import load_model
    from mnlearn.runtime.files import write_text
    from mnlearn.runtime.random_streams import stream, stream_seed
    from mnlearn.scoring import any_model

    if chains is not None and metric != "ll":
        raise InputError("--ais: expected --metric ll.")
    model, data = load_model(model_path), load_dataset(data_path)
    check_data(data_path, model, data)
    query = (
        read_groups(groups, model.n_vars)
        if groups is not None
        else random_partition(model.n_vars, folds, stream(seed, "query groups"))
    )
    if metric == "pll":
        result = any_model.pll(model, data, threads)
    elif metric == "ll" and chains is not None:
        annealing = Annealing(chains, samples)
        result = any_model.annealed_ll(model, data, annealing, stream_seed(seed, "ais"), threads)
    elif metric == "ll":
        result = any_model.ll(model, data, threads)
    elif metric == "cll":
        result = any_model.cll(model, data, query, threads)
    else:
        settings = Inference(inference, burn_in, samples)
        result = any_model.cmll(model, data, query, settings, stream_seed(seed, "gibbs"), threads)
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
    from mnlearn.inference.queries import answer, format_answers, read_evidence
    from mnlearn.inference.settings import Inference
    from mnlearn.models.io.formats import load_model
    from mnlearn.runtime.files import write_text
    from mnlearn.runtime.random_streams import stream_seed

    model = load_model(model_path)
    rows, asked = read_evidence(evidence, model.n_vars, model.names)
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
@click.option(
    "--burn-in",
    type=click.IntRange(min=0),
    default=1000,
    show_default=True,
    help="Sweeps before a row is taken.",
)
@seed_option
@threads_option
def sample(model_path: Path, n_rows: int, out: Path, burn_in: int, seed: int, threads: int) -> None:
    """Draw examples: exactly from circuits and up to 20 variables, else ends of Gibbs chains."""
    from mnlearn.data.dataset import Dataset
    from mnlearn.data.text import save_text
    from mnlearn.inference.sampling import sample_rows
    from mnlearn.models.io.formats import load_model
    from mnlearn.runtime.random_streams import stream_seed

    check_text_form(out)
    model = load_model(model_path)
    rows = sample_rows(model, n_rows, burn_in, stream_seed(seed, "sample"), threads)
    save_text(Dataset.from_arrays(rows, names=model.names), out)


@main.command()
@click.argument("source", metavar="IN", type=FILE)
@click.argument("target", metavar="OUT", type=FILE)
@click.option(
    "--categories",
    type=FILE,
    help="IN is a CSV with categories: encode them one-hot. The mapping is read from this JSON "
    "file, or written to it if there is none yet.",
)
@click.option(
    "--given",
    type=FILE,
    help="IN is a circuit, OUT what is left of it given one row of 0, 1 and * (unknown).",
)
def convert(source: Path, target: Path, categories: Path | None, given: Path | None) -> None:
    """Convert a model or a data file; the forms are named by the suffixes.

    \b
    models  .npz  .mn  .dn  .bn  .ac   both ways;  .bif: in only;
            .graphml and .csv (edges): out only; a Markov or Bayesian network
            is compiled into an .ac, which gives exact answers
    data      .npz  .data  .csv, and .gz or .xz of the text forms
    """
    from mnlearn.inference.circuits.compilation import compile_network
    from mnlearn.models.bayesian_network import BayesianNetwork
    from mnlearn.models.io.formats import FORMS, load_model, save_model
    from mnlearn.models.markov_network import MarkovNetwork

    is_model = source.suffix.lower() in FORMS and _kind(source) != "dataset"
    if is_model and categories is None:
        model = load_model(source)
        if target.suffix.lower() == ".ac" and isinstance(model, MarkovNetwork | BayesianNetwork):
            model = compile_network(model)
        if given is not None:
            model = _given(model, given)
        save_model(model, target)
        return
    from mnlearn.data.text import load_dataset, save_text

    if target.suffix != ".npz":
        check_text_form(target)
    data = load_dataset(source) if categories is None else _encoded(source, categories)
    if target.suffix == ".npz":
        data.save(target)
    else:
        save_text(data, target)


def _given(model: "Model", path: Path) -> "Model":
    """Return what is left of a circuit given the one row of evidence in a file."""
    import numpy as np

    from mnlearn.inference.circuits.conditioning import given
    from mnlearn.inference.circuits.exact import UNKNOWN
    from mnlearn.inference.queries import read_evidence
    from mnlearn.models.circuit import ArithmeticCircuit

    if not isinstance(model, ArithmeticCircuit):
        raise InputError("--given: expected a circuit, or a network to be compiled into an .ac.")
    rows, asked = read_evidence(path, model.n_vars, model.names)
    if len(rows) > 1:
        raise InputError(f"{path}: expected one row of evidence, got {len(rows)}.")
    return given(model, np.where(asked[0], UNKNOWN, rows[0]).astype(np.uint8))


def _encoded(source: Path, categories: Path) -> "Dataset":
    """Return a CSV with categories as binary data, by a mapping that is kept as a file."""
    from mnlearn.data.categories import encode, load_encoding, read_one_hot
    from mnlearn.runtime.files import write_json

    if categories.exists():
        return encode(source, load_encoding(categories))
    data, encoding = read_one_hot(source)
    write_json(categories, encoding)
    return data


def _kind(path: Path) -> str | None:
    """Return what a native file says it holds; None for other files."""
    import numpy as np

    from mnlearn.runtime.decompression import check_archive

    if path.suffix.lower() != ".npz":
        return None
    try:
        check_archive(path)
        with np.load(path, allow_pickle=False) as archive:
            return str(archive["kind"]) if "kind" in archive else "dataset"
    except Exception:  # whatever is wrong, reading it as a model will say it
        return None


@main.command()
@click.argument("model_path", metavar="MODEL", type=FILE)
@json_option
def info(model_path: Path, as_json: bool) -> None:
    """Say what a model is: kind, variables, features by length, edges, size."""
    from mnlearn.models.io.formats import describe, load_model

    show({**describe(load_model(model_path)), "bytes": model_path.stat().st_size}, as_json)


main.add_command(ising)


@main.command()
@click.argument("name", metavar="NAME")
@click.option("--datasets", "chosen", help="Comma-separated; default: all of the study.")
@click.option("--cores", default="all", show_default=True, help="Jobs at a time.")
@mirror_option
@click.option("--stale", is_flag=True, help="List records that are not current, and why.")
@click.option("--again", is_flag=True, help="Make records again that are current.")
@click.option("--recorded", is_flag=True, help="Compute nothing; tables from what is recorded.")
@click.option("--unlock", is_flag=True, help="Remove the lock of a run that was killed.")
@click.option("--report/--no-report", default=True, help="Write results/<study>/report.html.")
def study(
    name: str,
    chosen: str | None,
    cores: str,
    mirror: str | None,
    stale: bool,
    again: bool,
    recorded: bool,
    unlock: bool,
    report: bool,
) -> None:
    """Run one paper's study with Snakemake and write its tables, figures, claims and report.

    Records that are current, by the digests of their code, data and settings, are used as they
    are; what is missing or stale is computed. Tables show all records, whatever --datasets says.
    """
    from mnlearn.cli import reproduce

    if stale:
        for record, changed in reproduce.stale_records(name):
            methods = "-".join(record.names)
            click.echo(f"{record.dataset} {methods} {record.kind}: {', '.join(changed)}")
        return
    if unlock:
        reproduce.unlock(force=True)
        return
    if again and recorded:
        raise InputError("--again: not together with --recorded.")
    datasets = chosen.split(",") if chosen else []
    sys.exit(reproduce.run_study(name, datasets, cores, mirror, report, again, recorded))


@main.command()
def demo() -> None:
    """Run the whole pipeline on embedded data, without network, and show its table."""
    from mnlearn.cli.reproduce import run_demo

    sys.exit(run_demo())


@main.command()
@click.option("--out", type=FILE, help="Write the figures to this CSV as well.")
@click.option("--datasets", default="", help="Comma-separated; only these are renewed in --out.")
def bench(out: Path | None, datasets: str) -> None:
    """Time the kernels on embedded data (grid, digits) and on the benchmark data at hand."""
    from mnlearn.study.bench import run_bench

    run_bench(out, [name for name in datasets.split(",") if name])


for step in STEPS:
    main.add_command(step)
