"""Questions to a model in names and states: what is known, and how answers are written."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.api.inputs import refuse_mask
from mnlearn.api.settings import SETTINGS_OF_QUERIES, check_read, settings_of
from mnlearn.api.user_warnings import warn_user
from mnlearn.data.tables import describe_order
from mnlearn.inference.evidence import (
    Evidence,
    find_variables,
    read_mapping,
    read_rows,
)
from mnlearn.inference.plan import MARGINALS, Plan, plan
from mnlearn.inference.queries import Answer, answer, log_probabilities, modes
from mnlearn.inference.sampling import describe_barriers
from mnlearn.inference.settings import AUTO, EXACT, METHODS, Inference
from mnlearn.inference.state_columns import state_probabilities, state_start
from mnlearn.runtime.errors import InputError
from mnlearn.variables.frames import as_frame, column_names, is_frame, states_table
from mnlearn.variables.schema import BINARY, NO_STATE, Schema

if TYPE_CHECKING:
    import pandas as pd

# A joint table has so many rows at most.
MAX_COMBINATIONS = 2**16


@dataclass(frozen=True)
class Asked:
    """How a query is answered: method, settings of `Inference`, 64-bit seed, threads.

    spell : how a person writes the name of a setting, in errors.
    tell : takes what a person should know of the answer.
    """

    inference: str
    settings: Mapping[str, Any]
    seed: int
    threads: int
    spell: Callable[[str], str] = str
    tell: Callable[[str], None] = warn_user


class Question(NamedTuple):
    """Evidence, and the form in which it was given, which the answer has too.

    form : "mapping", "table" or "array". index : that of a table.
    """

    evidence: Evidence
    form: str
    index: Any = None


def is_plain(schema: Schema) -> bool:
    """Tell whether variables have no names and the states 0 and 1, as in an array."""
    return not schema.is_named and all(variable.states == BINARY for variable in schema)


def question_of(model: Any, evidence: Any, argument: str = "evidence") -> Question:
    """Return evidence as numbers of states."""
    if isinstance(evidence, Question):
        return evidence
    if _is_mapping(evidence):
        return Question(read_mapping(model.schema, evidence, argument), "mapping")
    refuse_mask(evidence, argument)
    names = column_names(as_frame(evidence), model.schema.names) or ()
    note = describe_order(model.schema, names)
    if note is not None and not set(names) <= set(model.schema.names):
        warn_user(f"{argument}: {note}.")
    found = read_rows(model.schema, evidence, argument)
    if not is_frame(evidence):
        return Question(found, "array")
    return Question(found, "table", getattr(evidence, "index", None))


def _is_mapping(evidence: Any) -> bool:
    return evidence is None or (hasattr(evidence, "items") and not is_frame(evidence))


def query(model: Any, evidence: Any, variables: Any, how: Asked) -> Any:
    """Return probabilities given evidence; see `Questions.query`."""
    schema: Schema = model.schema
    # Beside evidence, a setting is one although a variable has its name.
    known = () if evidence is None else SETTINGS_OF_QUERIES
    named = [name for name in how.settings if name in schema.names and name not in known]
    if named:
        raise InputError(f"evidence: expected a mapping, as in query({{{named[0]!r}: ...}}).")
    question = question_of(model, evidence)
    values = question.evidence.values
    if question.form != "mapping" and variables is not None:
        raise InputError("variables: expected none with rows of evidence, whose NaN are asked for.")
    wanted = list(range(len(schema)))
    if question.form == "mapping":
        wanted = _wanted(schema, values[0], variables)
    found = _probabilities(model, question.evidence, how)
    if question.form == "array" and is_plain(schema):
        return found.probability
    import pandas as pd

    p = state_probabilities(found.probability, schema.start)
    start = state_start(schema.start)
    places = [np.arange(start[v], start[v + 1]) for v in wanted]
    place = np.concatenate([np.zeros(0, np.int64), *places])
    index = _state_index(schema, wanted)
    made: Any
    if question.form == "mapping":
        made = pd.Series(p[0, place], index, name="probability")
    else:
        made = pd.DataFrame(p[:, place], question.index, index)
    made.attrs.update(found.plan.attrs)
    return made


def _state_index(schema: Schema, wanted: Sequence[int]) -> "pd.MultiIndex":
    """Return the pairs of a variable and a state, of some variables."""
    import pandas as pd

    number: dict[Any, int] = {}
    codes = [number.setdefault(state, len(number)) for v in wanted for state in schema[v].states]
    arity = schema.arity[list(wanted)]
    names = pd.Index([schema.names[v] for v in wanted], dtype=object)
    levels = [names, pd.Index(list(number), dtype=object)]
    owner = np.repeat(np.arange(len(wanted)), arity)
    return pd.MultiIndex(levels, [owner, codes], names=["variable", "state"])


def _wanted(schema: Schema, values: NDArray[np.uint8], variables: Any) -> list[int]:
    """Return the variables to answer for: the given ones, or all that are not known."""
    if variables is None:
        unknown: list[int] = np.flatnonzero(values == NO_STATE).tolist()
        return unknown
    asked = find_variables(schema, _listed(variables), "variables")
    for v in asked:
        if values[v] != NO_STATE:
            raise InputError(f"variables: the value of {schema.names[v]!r} is in the evidence.")
    return asked


def _listed(given: Any) -> list[Any]:
    several = isinstance(given, Iterable) and not isinstance(given, str)
    return list(given) if several else [given]


def choose_way(model: Any, values: NDArray[np.uint8], how: Asked) -> tuple[Plan, Inference]:
    """Return how a query for what is not known is answered, and the settings of its method."""
    method = how.inference
    if method not in (AUTO, *METHODS):
        known = ", ".join((AUTO, *METHODS))
        raise InputError(f"inference: expected one of {known}, got {method!r}.")
    given = [name for name, value in how.settings.items() if value is not None]
    check_read(method, [name for name in given if name in SETTINGS_OF_QUERIES], how.spell)
    chosen = plan(model, MARGINALS, values == NO_STATE, method)
    return chosen, settings_of(EXACT if chosen.is_exact else chosen.way, how.settings)


def _probabilities(model: Any, evidence: Evidence, how: Asked) -> Answer:
    """Return P(column = 1 | evidence), and how it was computed."""
    chosen, inference = choose_way(model, evidence.values, how)
    barriers = describe_barriers(model, inference.method)
    if barriers is not None:
        how.tell(barriers)
    return answer(model, evidence, chosen, inference, seed=how.seed, threads=how.threads)


def most_probable(model: Any, evidence: Any) -> Any:
    """Return the most probable states; see `Questions.most_probable`."""
    schema: Schema = model.schema
    question = question_of(model, evidence)
    values, chosen = modes(model, question.evidence)
    if question.form == "array" and not schema.is_named:
        return states_array(schema, values)
    import pandas as pd

    made: Any
    if question.form == "mapping":
        wanted = _wanted(schema, question.evidence.values[0], None)
        states = [schema[v].states[values[0, v]] for v in wanted]
        index = pd.Index([schema.names[v] for v in wanted], name="variable")
        made = pd.Series(states, index, dtype=None if states else object, name="state")
    else:
        made = states_table(schema.variables, values, question.index)
    made.attrs.update(chosen.attrs)
    return made


def states_array(schema: Schema, values: NDArray[np.uint8]) -> NDArray[Any]:
    """Return examples of variables without names as an array of their states."""
    if is_plain(schema):
        return values
    columns = [np.array(v.states)[values[:, k]] for k, v in enumerate(schema)]
    return np.array(columns).T


def probability(model: Any, event: Any, given: Any) -> float:
    """Return the probability of an event; see `Questions.probability`."""
    schema: Schema = model.schema
    both, known = (_one_row(schema, m, name) for name, m in (("event", event), ("given", given)))
    twice = np.flatnonzero((both != NO_STATE) & (known != NO_STATE))
    if len(twice):
        raise InputError(f"event: the value of {schema.names[twice[0]]!r} is given.")
    return float(_conditional(model, np.where(both == NO_STATE, known, both)[None], known)[0])


def _one_row(schema: Schema, mapping: Any, argument: str) -> NDArray[np.uint8]:
    if not _is_mapping(mapping):
        got = type(mapping).__name__
        raise InputError(f"{argument}: expected a mapping of variables to values, got {got}.")
    row: NDArray[np.uint8] = read_mapping(schema, mapping, argument).values[0]
    return row


def joint(model: Any, variables: Any, given: Any) -> "pd.Series[float]":
    """Return a table of joint probabilities; see `Questions.joint`."""
    import pandas as pd

    schema: Schema = model.schema
    known = _one_row(schema, given, "given")
    asked = find_variables(schema, _listed(variables), "variables")
    for v in asked:
        if known[v] != NO_STATE:
            raise InputError(f"variables: the value of {schema.names[v]!r} is given.")
    sizes = schema.arity[asked].tolist()
    n_rows = np.prod(sizes, dtype=float) * bool(sizes)
    if not 0 < n_rows <= MAX_COMBINATIONS:
        raise InputError(
            f"variables: expected from 1 to {MAX_COMBINATIONS:,} combinations of their states, got "
            f"{n_rows:,.0f}."
        )
    numbers = np.indices(sizes).reshape(len(sizes), -1)
    values = np.repeat(known[None], int(n_rows), axis=0)
    values[:, asked] = numbers.T
    # The states keep their order when the table is unstacked.
    levels = [pd.Index(schema[v].states) for v in asked]
    index = pd.MultiIndex(levels, list(numbers), names=[schema.names[v] for v in asked])
    return pd.Series(_conditional(model, values, known), index, name="probability")


def _conditional(
    model: Any, both: NDArray[np.uint8], known: NDArray[np.uint8]
) -> NDArray[np.float64]:
    """Return the probability of each row, given the one row of what is known."""
    *log_both, log_known = log_probabilities(model, np.concatenate([both, known[None]]))
    if np.isneginf(log_known):
        raise InputError("given: has probability 0.")
    return np.asarray(np.exp(np.array(log_both) - log_known))
