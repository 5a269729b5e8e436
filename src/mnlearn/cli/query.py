"""The commands that ask a model: `query` and `sample`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnlearn.cli.files import check_outputs, check_text_form
from mnlearn.cli.options import (
    FILE,
    QUERY_NAMES,
    inference_options,
    memory_option,
    parse_names,
    refuse_given,
    seed_option,
    spell_option,
    tell_unused,
    threads_option,
)
from mnlearn.inference.settings import AUTO, SAMPLERS
from mnlearn.runtime.atomic import is_standard
from mnlearn.runtime.errors import InputError

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
@click.option(
    "--variables",
    metavar="NAME,...",
    help="Only these variables are asked for; with --most-probable all others are summed out.",
)
@click.option("--strict", is_flag=True, help="Estimates that have not converged are an error.")
@memory_option
@inference_options(
    "auto is exact where tables or a circuit fit into memory, and else samples. The others:",
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
    variables: str | None,
    strict: bool,
    inference: str,
    settings: dict[str, Any],
    threads: int,
    seed: int,
) -> None:
    """Print the probability of each state of what is not known: variable,state,probability.

    With evidence such as asia=yes,smoke=no these are all other variables, and without evidence all
    variables. With a file they are those with * in each of its rows, whose numbers, from 1, stand
    in a column `row` before the others. Estimates by sampling have a column `error`, their standard
    error, and all estimates a column `converged`: † where they have not, and may be far off.
    """
    from mnlearn.models.io.formats import load_model
    from mnlearn.runtime.files import write_text

    path = None if evidence is None else evidence_path(evidence)
    check_outputs([out], model_path, path)
    how = _asked(model_path, "query", inference, settings, seed, threads, strict)
    model = load_model(model_path)
    question = read_question(evidence, model, model_path, "--evidence")
    if most_probable:
        refuse_given([*QUERY_NAMES, "threads", "seed", "strict"], "with --most-probable")
        text = _explain(model, question, variables, how)
    else:
        text = _answer(model, question, variables, how)
    if out is None:
        click.echo(text, nl=False)
    else:
        write_text(out, text)


def _asked(
    path: Path,
    purpose: str,
    inference: str,
    settings: dict[str, Any],
    seed: int,
    threads: int,
    strict: bool = False,
) -> "Asked":
    """Return how a model in a file is asked, and how a person is told of it."""
    from mnlearn.api.queries import Asked
    from mnlearn.runtime.progress import say
    from mnlearn.runtime.random_streams import stream_seed

    def tell(note: str) -> None:
        say(f"{path}: {note}")

    seed = stream_seed(seed, purpose)
    return Asked(inference, settings, seed, threads, strict, spell_option, tell)


def _answer(model: "Model", question: "Question", variables: str | None, how: "Asked") -> str:
    """Return the probabilities of the states of what is not known, as CSV."""
    from mnlearn.api.queries import ask
    from mnlearn.runtime.files import to_csv
    from mnlearn.variables.schema import NO_STATE

    names = parse_names(variables) or None
    wanted, found = ask(model, question, names, how)
    chosen = found.plan
    if not chosen.is_exact:
        why = f"{chosen.why.removesuffix('.')}, so " if chosen.why else ""
        error = "" if found.error is not None else ", whose error is not known"
        how.tell(f"{why}the probabilities are estimates by {chosen.way}{error}.")
    schema = model.schema
    first = [0, *schema.arity.cumsum().tolist()]
    lines = []
    for k, values in enumerate(question.evidence.values):
        before = {} if question.form == "mapping" else {"row": k + 1}
        for v in (v for v in wanted if values[v] == NO_STATE):
            for state, place in zip(schema[v].texts, range(first[v], first[v + 1]), strict=True):
                line = {**before, "variable": schema.names[v], "state": state}
                line["probability"] = f"{found.probability[k, place]:.6f}"
                if found.error is not None:
                    line["error"] = f"{found.error[k, place]:.2g}"
                if found.converged is not None:
                    line["converged"] = "yes" if found.converged[k, place] else "†"
                lines.append(line)
    if not lines:
        how.tell("the evidence has a state for every variable, so that nothing is asked.")
        return ""
    return to_csv(lines)


def _explain(model: "Model", question: "Question", variables: str | None, how: "Asked") -> str:
    """Return the most probable states as CSV: a row for each row of evidence, or lines of one."""
    from mnlearn.api.queries import most_probable as ask
    from mnlearn.runtime.files import to_csv
    from mnlearn.runtime.names import guarded

    found = ask(model, question, parse_names(variables) or None, how.spell)
    if not found.attrs["is_exact"]:
        how.tell(
            "hidden variables are maximised too, so other states may be more probable than these."
        )
    if question.form == "mapping":
        return to_csv([{"variable": name, "state": state} for name, state in found.items()])
    return to_csv(found.rename(columns=guarded).to_dict("records"))


@click.command()
@click.argument("model_path", metavar="MODEL", type=FILE)
@click.option("--rows", "n_rows", type=click.IntRange(min=1), required=True)
@click.option(
    "--evidence",
    metavar="FILE|TEXT",
    help="What all rows agree with: variable=state,... or a file of one row; see mnlearn query.",
)
@click.option("--out", type=FILE, default="-", help="Text file to write; default: stdout.")
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
@memory_option
@seed_option
@threads_option
def sample(
    *,
    model_path: Path,
    n_rows: int,
    evidence: str | None,
    out: Path,
    inference: str,
    burn_in: int,
    seed: int,
    threads: int,
) -> None:
    """Draw examples in states: exactly, or the ends of Gibbs chains.

    Wide Markov networks and dependency networks need chains.
    """
    from mnlearn.api.queries import draw
    from mnlearn.data.dataset import Dataset
    from mnlearn.data.text_tables import save_text
    from mnlearn.models.io.formats import load_model

    check_text_form(out)
    check_outputs([out], model_path, None if evidence is None else evidence_path(evidence))
    model = load_model(model_path)
    question = read_question(evidence, model, model_path, "--evidence")
    how = _asked(model_path, "sample", inference, {}, seed, threads)
    rows, chosen = draw(model, n_rows, burn_in, question, how, "--evidence")
    if chosen.is_exact:
        tell_unused(["burn_in"], "the rows are drawn exactly")
    save_text(Dataset.from_arrays(rows, schema=model.schema), out)


def evidence_path(evidence: str) -> Path | None:
    """Return the file that evidence names; None if there is none, so that it is a text."""
    if is_standard(evidence):
        return Path(evidence)
    try:
        return Path(evidence) if evidence != "" and Path(evidence).exists() else None
    except OSError:  # a text too long for a name
        return None


def read_question(evidence: str | None, model: "Model", path: Path, option: str) -> "Question":
    """Return the evidence in a file, or in the text itself where there is no file."""
    from mnlearn.api.queries import Question
    from mnlearn.inference.evidence import parse_evidence, read_evidence, read_mapping
    from mnlearn.runtime.progress import say

    schema = model.schema
    if evidence is None:
        return Question(read_mapping(schema, None, str(path)), "mapping")
    file = evidence_path(evidence)
    if file is not None:
        found, note = read_evidence(file, schema)
        if note is not None:
            say(note)
        return Question(found, "table")
    if "=" not in evidence:
        what = f"{evidence}: no such file" if evidence else f"{option}: has no text"
        first = schema[0]
        raise InputError(
            f"{what}; expected a file of evidence, or variable=state such as "
            f"{first.name}={first.texts[0]}."
        )
    return Question(parse_evidence(evidence, schema, option), "mapping")
