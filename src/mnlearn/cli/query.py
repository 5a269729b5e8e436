"""The commands that ask a model: `query` and `sample`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnlearn.cli.evidence import Question, evidence_path, read_question
from mnlearn.cli.files import ModelFile, check_outputs, check_text_form, open_model
from mnlearn.cli.options import (
    FILE,
    QUERY_NAMES,
    inference_options,
    refuse_given,
    seed_option,
    threads_option,
)
from mnlearn.cli.values import spell_option
from mnlearn.inference.settings import AUTO, METHODS
from mnlearn.runtime.errors import InputError

if TYPE_CHECKING:
    from mnlearn.api.queries import Asked


@click.command()
@click.argument("model_path", metavar="MODEL", type=FILE)
@click.option(
    "--evidence",
    metavar="FILE|TEXT",
    help="File of rows of 0, 1, names of states and * (asked for); or variable=state,... Default: "
    "nothing is known.",
)
@click.option("--out", type=FILE, help="CSV to write; default: stdout.")
@click.option(
    "--most-probable",
    is_flag=True,
    help="Print the most probable states of all that is asked for together, by their names.",
)
@inference_options(
    "auto is exact where that takes about a second at most, else Gibbs sampling. The others:",
    (AUTO, *METHODS),
    AUTO,
)
@threads_option
@seed_option
def query(
    *,
    model_path: Path,
    evidence: str | None,
    out: Path | None,
    most_probable: bool,
    inference: str,
    settings: dict[str, Any],
    threads: int,
    seed: int,
) -> None:
    """Print P(variable = 1 | the values given) for every * of each evidence row.

    With evidence such as asia=yes,smoke=no, print the probability of each state of all other
    variables, and without evidence that of each state of all variables. Values without names are 0
    and 1.
    """
    from mnlearn.api.queries import Asked
    from mnlearn.runtime.files import write_text
    from mnlearn.runtime.random_streams import stream_seed

    path = None if evidence is None else evidence_path(evidence)
    check_outputs([out], model_path, path)
    how = Asked(inference, settings, stream_seed(seed, "query"), threads, spell_option)
    opened = open_model(model_path)
    question = read_question(evidence, opened, "--evidence")
    if most_probable:
        refuse_given([*QUERY_NAMES, "threads", "seed"], "with --most-probable")
        text = _explain(opened, question, as_table=path is not None)
    else:
        text = _answer(opened, question, how, as_table=path is not None)
    if out is None:
        click.echo(text, nl=False)
    else:
        write_text(out, text)


def _answer(opened: ModelFile, question: Question, how: "Asked", *, as_table: bool) -> str:
    """Return probabilities as CSV: a row for each row of evidence, or the states of one."""
    from mnlearn.api.queries import choose_inference
    from mnlearn.inference.evidence import format_states, labels_of_answers, state_probabilities
    from mnlearn.inference.group_sampling import describe_barriers
    from mnlearn.inference.queries import answer, format_answers
    from mnlearn.runtime.progress import say

    rows, asked, name_row = question
    answering, inference = choose_inference(opened.model, asked, how)
    if how.inference == AUTO and inference.method != "exact":
        say(
            f"{opened.path}: an exact answer would take too long, so the probabilities are "
            f"estimated from {inference.samples} Gibbs samples; --samples takes more, --seed "
            "others, and --inference another method."
        )
    barriers = describe_barriers(answering, inference.method)
    if barriers is not None:
        say(f"{opened.path}: {barriers}")
    run: dict[str, Any] = {"seed": how.seed, "threads": how.threads, "name_row": name_row}
    probability = answer(answering, rows, asked, inference, **run)
    if as_table:
        return format_answers(probability, rows, asked, labels_of_answers(opened.coded))
    return format_states(state_probabilities(opened.coded, probability[0], asked[0]))


def _explain(opened: ModelFile, question: Question, *, as_table: bool) -> str:
    """Return the most probable states as CSV: a row for each row of evidence, or lines of one."""
    import csv
    import io

    import numpy as np

    from mnlearn.api.queries import most_probable_rows, open_variables
    from mnlearn.data.domains import name_states
    from mnlearn.inference.circuits.exact import UNKNOWN
    from mnlearn.runtime.progress import say

    known = np.where(question.asked, UNKNOWN, question.rows).astype(np.uint8)
    rows, method = most_probable_rows(opened.model, known, question.name_row)
    if method != "exact":
        say(
            f"{opened.path}: hidden variables are maximised too, so other states may be more "
            "probable than these."
        )
    named = name_states(rows, opened.coded)
    lines: list[tuple[str, ...]] = [tuple(named), *zip(*named.values(), strict=True)]
    if not as_table:
        values = np.where(question.asked[0], np.nan, question.rows[0])
        asked = open_variables(opened.coded, values)
        lines = [("variable", "state"), *((name, named[name][0]) for name in asked)]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()


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
@click.option(
    "--states",
    is_flag=True,
    help="Write a column for each variable with the names of its states, as .bif files have them, "
    "or with the values of the data of the model.",
)
@seed_option
@threads_option
def sample(
    *, model_path: Path, n_rows: int, out: Path, burn_in: int, states: bool, seed: int, threads: int
) -> None:
    """Draw examples: exactly, or the ends of Gibbs chains.

    Markov networks of more than 20 variables and dependency networks need chains.
    """
    from mnlearn.data.dataset import Dataset
    from mnlearn.data.domains import name_states
    from mnlearn.data.text import save_text
    from mnlearn.inference.group_sampling import sample_grouped_rows
    from mnlearn.runtime.files import write_csv
    from mnlearn.runtime.random_streams import stream_seed

    check_text_form(out)
    check_outputs([out], model_path)
    opened = open_model(model_path)
    model = opened.model
    if not states:
        _check_values(opened.coded)
    rows = sample_grouped_rows(model, n_rows, burn_in, stream_seed(seed, "sample"), threads=threads)
    if states:
        named = name_states(rows, opened.coded)
        cells = zip(*named.values(), strict=True)
        write_csv(out, [dict(zip(named, row, strict=True)) for row in cells])
    else:
        save_text(Dataset.from_arrays(rows, names=model.names), out)


def _check_values(model: Any) -> None:
    """Refuse to write the values 0 and 1 where they do not say which state is meant."""
    from mnlearn.data.domains import columns_of
    from mnlearn.runtime.names import labels_of

    labels = labels_of(model.names, model.n_vars)
    for name, domain in zip(labels, columns_of(model), strict=True):
        if not domain.has_values:
            raise InputError(
                f"--states: expected, because 0 and 1 do not say which state of {name!r} is meant; "
                f"they are called {' and '.join(domain.states)}."
            )
