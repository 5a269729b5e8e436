"""The commands that ask a model: `query` and `sample`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnlearn.cli.evidence import evidence_path, read_question
from mnlearn.cli.files import check_outputs, check_text_form, save_rows
from mnlearn.cli.options import (
    FILE,
    QUERY_NAMES,
    inference_options,
    refuse_given,
    seed_option,
    threads_option,
)
from mnlearn.cli.values import spell_option
from mnlearn.inference.settings import AUTO, METHODS, SAMPLERS

if TYPE_CHECKING:
    from mnlearn.api.queries import Asked, Question
    from mnlearn.models.model import Model


@click.command()
@click.argument("model_path", metavar="MODEL", type=FILE)
@click.option(
    "--evidence",
    metavar="FILE|TEXT",
    help="File of rows of states and * (asked for); or variable=state,... Default: nothing is "
    "known.",
)
@click.option("--out", type=FILE, help="CSV to write; default: stdout.")
@click.option(
    "--most-probable",
    is_flag=True,
    help="Print the most probable states of all that is asked for together.",
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
    """Print the probability of each state of what is not known: variable,state,probability.

    With evidence such as asia=yes,smoke=no these are all other variables, and without evidence all
    variables. With a file they are those with * in each of its rows, whose numbers, from 1, stand
    in a column `row` before the others.
    """
    from mnlearn.api.queries import Asked
    from mnlearn.models.io.formats import load_model
    from mnlearn.runtime.files import write_text
    from mnlearn.runtime.progress import say
    from mnlearn.runtime.random_streams import stream_seed

    path = None if evidence is None else evidence_path(evidence)
    check_outputs([out], model_path, path)

    def tell(note: str) -> None:
        say(f"{model_path}: {note}")

    how = Asked(inference, settings, stream_seed(seed, "query"), threads, spell_option, tell)
    model = load_model(model_path)
    question = read_question(evidence, model, model_path, "--evidence")
    if most_probable:
        refuse_given([*QUERY_NAMES, "threads", "seed"], "with --most-probable")
        text = _explain(model, question, how)
    else:
        text = _answer(model, question, how)
    if out is None:
        click.echo(text, nl=False)
    else:
        write_text(out, text)


def _answer(model: "Model", question: "Question", how: "Asked") -> str:
    """Return the probabilities of the states of what is not known, as CSV."""
    from mnlearn.api.queries import query as ask
    from mnlearn.inference.settings import Inference
    from mnlearn.runtime.files import to_csv
    from mnlearn.variables.schema import NO_STATE

    found = ask(model, question, None, how)
    if how.inference == AUTO and not found.attrs["is_exact"]:
        n = how.settings.get("samples", Inference.samples)
        how.tell(
            "an exact answer would take too long, so the probabilities are estimated from "
            f"{n} Gibbs samples; --samples takes more, --seed others, and --inference another "
            "method."
        )
    rows = [found] if question.form == "mapping" else [row for _, row in found.iterrows()]
    unknown = question.evidence.values == NO_STATE
    lines = []
    for number, (p, asked) in enumerate(zip(rows, unknown, strict=True), start=1):
        before = {} if question.form == "mapping" else {"row": number}
        names = {model.schema.names[v] for v in asked.nonzero()[0]}
        lines += [
            {**before, "variable": name, "state": str(state), "probability": f"{x:.6f}"}
            for (name, state), x in p.items()
            if name in names
        ]
    return to_csv(lines)


def _explain(model: "Model", question: "Question", how: "Asked") -> str:
    """Return the most probable states as CSV: a row for each row of evidence, or lines of one."""
    from mnlearn.api.queries import most_probable as ask

    found = ask(model, question)
    if not found.attrs["is_exact"]:
        how.tell(
            "hidden variables are maximised too, so other states may be more probable than these."
        )
    text: str = found.to_csv(index=question.form == "mapping", lineterminator="\n")
    return text


@click.command()
@click.argument("model_path", metavar="MODEL", type=FILE)
@click.option("--rows", "n_rows", type=click.IntRange(min=1), required=True)
@click.option("--out", type=FILE, required=True, help="Text file to write.")
@click.option(
    "--inference",
    type=click.Choice(SAMPLERS),
    default=AUTO,
    show_default=True,
    help="auto is exact where that is cheap, and else takes the ends of Gibbs chains.",
)
@click.option(
    "--burn-in",
    type=click.IntRange(min=0),
    default=1000,
    show_default=True,
    help="Sweeps of a Gibbs chain before a row is taken.",
)
@seed_option
@threads_option
def sample(
    *,
    model_path: Path,
    n_rows: int,
    out: Path,
    inference: str,
    burn_in: int,
    seed: int,
    threads: int,
) -> None:
    """Draw examples in states: exactly, or the ends of Gibbs chains.

    Wide Markov networks and dependency networks need chains.
    """
    from mnlearn.inference.plan import SAMPLE, plan
    from mnlearn.inference.sampling import sample_rows
    from mnlearn.models.io.formats import load_model
    from mnlearn.runtime.random_streams import stream_seed

    check_text_form(out)
    check_outputs([out], model_path)
    model = load_model(model_path)
    chosen = plan(model, SAMPLE, method=inference)
    rows = sample_rows(
        model, n_rows, burn_in, stream_seed(seed, "sample"), threads=threads, chosen=chosen
    )
    save_rows(rows, model.schema, out)
