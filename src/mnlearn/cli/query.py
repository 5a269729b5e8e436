"""The commands that ask a model: `query` and `sample`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnlearn.cli.evidence import Question, evidence_path, read_question, unknown_question
from mnlearn.cli.files import check_outputs, check_text_form
from mnlearn.cli.options import (
    FILE,
    QUERY_NAMES,
    query_options,
    refuse_given,
    seed_option,
    threads_option,
)
from mnlearn.runtime.errors import InputError

if TYPE_CHECKING:
    from mnlearn.inference.settings import Inference
    from mnlearn.models.io.native import Model


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
@query_options
@threads_option
@seed_option
def query(
    *,
    model_path: Path,
    evidence: str | None,
    out: Path | None,
    most_probable: bool,
    inference: "Inference",
    automatic: bool,
    threads: int,
    seed: int,
) -> None:
    """Print P(variable = 1 | the values given) for every * of each evidence row.

    With evidence such as asia=yes,smoke=no, print the probability of each state of all other
    variables, and without evidence that of each state of all variables. Values without names are 0
    and 1.
    """
    from mnlearn.data.coding import coded
    from mnlearn.inference.evidence import format_states, labels_of_answers, state_probabilities
    from mnlearn.inference.group_sampling import describe_barriers
    from mnlearn.inference.queries import answer, format_answers
    from mnlearn.models.io.codes import read_codes
    from mnlearn.models.io.formats import load_model
    from mnlearn.runtime.progress import say
    from mnlearn.runtime.random_streams import stream_seed

    path = None if evidence is None else evidence_path(evidence)
    check_outputs([out], model_path, path)
    model = load_model(model_path)
    # People give and read the values of the data of the model.
    own = coded(model, read_codes(model_path, model.n_vars))
    if evidence is None:
        question = unknown_question(model, model_path)
    else:
        question = read_question(evidence, own, "--evidence")
    if most_probable:
        refuse_given([*QUERY_NAMES, "threads", "seed"], "with --most-probable")
        _put(_explain(model, own, question, model_path, as_table=path is not None), out)
        return
    answering = model
    if automatic:
        answering, inference = _choose(model, question, inference, model_path)
    barriers = describe_barriers(answering, inference.method)
    if barriers is not None:
        say(f"{model_path}: {barriers}")
    probability = answer(
        answering, question.rows, question.asked, inference,
        seed=stream_seed(seed, "query"), threads=threads, name_row=question.name_row,
    )  # fmt: skip
    if path is None:
        text = format_states(state_probabilities(own, probability[0], question.asked[0]))
    else:
        text = format_answers(probability, question.rows, question.asked, labels_of_answers(own))
    _put(text, out)


def _put(text: str, out: Path | None) -> None:
    """Write a text to a file, or print it."""
    from mnlearn.runtime.files import write_text

    if out is None:
        click.echo(text, nl=False)
    else:
        write_text(out, text)


def _explain(model: "Model", own: Any, question: Question, path: Path, *, as_table: bool) -> str:
    """Return the most probable states as CSV: a row for each row of evidence, or lines of one.

    own : has the variables by the names of whose states the answer is written.
    """
    import csv
    import io

    import numpy as np

    from mnlearn.api.queries import most_probable_rows
    from mnlearn.data.domains import domains_of, name_states
    from mnlearn.inference.circuits.exact import UNKNOWN
    from mnlearn.runtime.progress import say

    known = np.where(question.asked, UNKNOWN, question.rows).astype(np.uint8)
    rows, method = most_probable_rows(model, known, question.name_row)
    if method != "exact":
        say(
            f"{path}: hidden variables are maximised too, so other states may be more probable "
            "than these."
        )
    named = name_states(rows, own)
    lines: list[tuple[str, ...]] = [tuple(named), *zip(*named.values(), strict=True)]
    if not as_table:
        asked = []
        for name, domain in domains_of(own).items():
            columns = list(domain.columns)
            # Of several columns, one that is 1 says the state, and one that is 0 does not.
            known_1 = (len(columns) == 1) | (question.rows[0, columns] == 1)
            said = ~question.asked[0, columns] & known_1
            if not said.any():
                asked.append(name)
        lines = [("variable", "state"), *((name, named[name][0]) for name in asked)]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()


def _choose(
    model: "Model", question: Question, sampling: "Inference", path: Path
) -> tuple["Model", "Inference"]:
    """Return the model that answers and how, and say so if it samples."""
    from mnlearn.inference.automatic import choose, compile_small
    from mnlearn.inference.settings import inference_of
    from mnlearn.runtime.progress import say

    answering, method = choose(model, question.asked, lambda: compile_small(model))
    if method == "exact":
        return answering, inference_of(method)
    say(
        f"{path}: an exact answer would take too long, so the probabilities are estimated from "
        f"{sampling.samples} Gibbs samples; --samples takes more, --seed others, and --inference "
        "another method."
    )
    return answering, sampling


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
    from mnlearn.data.coding import coded
    from mnlearn.data.dataset import Dataset
    from mnlearn.data.domains import name_states
    from mnlearn.data.text import save_text
    from mnlearn.inference.group_sampling import sample_grouped_rows
    from mnlearn.models.io.codes import read_codes
    from mnlearn.models.io.formats import load_model
    from mnlearn.runtime.files import write_csv
    from mnlearn.runtime.random_streams import stream_seed

    check_text_form(out)
    check_outputs([out], model_path)
    model = load_model(model_path)
    own = coded(model, read_codes(model_path, model.n_vars))
    if not states:
        _check_values(own)
    rows = sample_grouped_rows(model, n_rows, burn_in, stream_seed(seed, "sample"), threads=threads)
    if states:
        named = name_states(rows, own)
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
