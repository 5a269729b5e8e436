"""The commands that ask a model: `query` and `sample`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mnlearn.cli.files import check_outputs, check_text_form
from mnlearn.cli.options import FILE, inference_options, seed_option, threads_option

if TYPE_CHECKING:
    from mnlearn.inference.settings import Inference


@click.command()
@click.argument("model_path", metavar="MODEL", type=FILE)
@click.option(
    "--evidence",
    metavar="FILE|TEXT",
    required=True,
    help="File of rows of 0, 1, names of states and * (asked for); or variable=state,...",
)
@click.option("--out", type=FILE, help="CSV to write; default: stdout.")
@inference_options
@threads_option
@seed_option
def query(
    *,
    model_path: Path,
    evidence: str,
    out: Path | None,
    inference: "Inference",
    threads: int,
    seed: int,
) -> None:
    """Print P(variable = 1 | the values given) for every * of each evidence row.

    With evidence such as asia=yes,smoke=no, print the probability of each state of all other
    variables. Values without names are 0 and 1.
    """
    from mnlearn.inference.evidence import format_states, parse_evidence, state_probabilities
    from mnlearn.inference.queries import answer, format_answers, read_evidence
    from mnlearn.models.io.formats import load_model
    from mnlearn.runtime.files import write_text
    from mnlearn.runtime.random_streams import stream_seed

    check_outputs([out], model_path, Path(evidence))
    model = load_model(model_path)
    is_text = "=" in evidence and not Path(evidence).exists()
    if is_text:
        rows, asked = parse_evidence(evidence, model, "--evidence")
    else:
        states = getattr(model, "states", None)
        rows, asked = read_evidence(Path(evidence), model.n_vars, model.names, states)
    probability = answer(
        model, rows, asked, inference,
        seed=stream_seed(seed, "query"), threads=threads, first_row=1,
    )  # fmt: skip
    if is_text:
        text = format_states(state_probabilities(model, probability[0], asked[0]))
    else:
        text = format_answers(probability, rows, asked, model.names)
    if out is None:
        click.echo(text, nl=False)
    else:
        write_text(out, text)


@click.command()
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
def sample(
    *, model_path: Path, n_rows: int, out: Path, burn_in: int, seed: int, threads: int
) -> None:
    """Draw examples: exactly from circuits and up to 20 variables, else ends of Gibbs chains."""
    from mnlearn.data.dataset import Dataset
    from mnlearn.data.text import save_text
    from mnlearn.inference.sampling import sample_rows
    from mnlearn.models.io.formats import load_model
    from mnlearn.runtime.random_streams import stream_seed

    check_text_form(out)
    check_outputs([out], model_path)
    model = load_model(model_path)
    rows = sample_rows(model, n_rows, burn_in, stream_seed(seed, "sample"), threads=threads)
    save_text(Dataset.from_arrays(rows, names=model.names), out)
