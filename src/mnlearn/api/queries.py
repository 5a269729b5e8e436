"""Questions to a model in names and states: what is known, and how answers are written."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.api.inputs import refuse_mask, warn_user
from mnlearn.api.settings import (
    SETTINGS_OF_QUERIES,
    Spell,
    annealing_of,
    check_read,
    settings_of,
    spell_argument,
)
from mnlearn.data.tables import describe_order
from mnlearn.inference.evidence import (
    Evidence,
    find_variables,
    read_mapping,
    read_rows,
)
from mnlearn.inference.exact import log_partition
from mnlearn.inference.plan import MARGINALS, SAMPLE, VALUE, Plan, TooWideError, plan
from mnlearn.inference.queries import Answer, answer, log_probabilities, modes
from mnlearn.inference.queries import joint as joint_probabilities
from mnlearn.inference.settings import (
    ANNEALED,
    AUTO,
    EXACT,
    METHODS,
    PARTITION_METHODS,
    UPPER,
    Inference,
)
from mnlearn.inference.state_columns import state_start
from mnlearn.runtime.errors import InputError, at
from mnlearn.runtime.random_streams import stream_seed
from mnlearn.variables.frames import as_frame, column_names, is_frame, states_table
from mnlearn.variables.schema import NO_STATE, Schema
from mnlearn.variables.variable import is_numbered

if TYPE_CHECKING:
    import pandas as pd

# A joint table has so many rows at most.
MAX_COMBINATIONS = 2**16
_MARGINAL_ESTIMATES = "query estimates the probabilities of single variables"


@dataclass(frozen=True)
class Asked:
    """How a query is answered: method, settings of `Inference`, 64-bit seed, threads.

    strict : whether an estimate that has not converged is refused. spell, tell : how a person
    writes a setting, and what takes a sentence on the answer.
    """

    inference: str
    settings: Mapping[str, Any]
    seed: int
    threads: int
    strict: bool = False
    spell: Spell = spell_argument
    tell: Callable[[str], None] = warn_user


class Question(NamedTuple):
    """Evidence, its form ("mapping", "table" or "array"), and the index of a table."""

    evidence: Evidence
    form: str
    index: Any = None


def is_plain(schema: Schema) -> bool:
    """Tell whether variables have no names and the states 0 and 1, as in an array."""
    return not schema.is_named and all(v.arity == 2 and is_numbered(v.states) for v in schema)


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


def known_of(model: Any, evidence: Any, argument: str = "evidence") -> NDArray[np.uint8]:
    """Return one row of evidence as numbers of states, (n_vars,)."""
    values = question_of(model, evidence, argument).evidence.values
    if len(values) != 1:
        raise InputError(f"{argument}: expected one row of evidence, got {len(values)}.")
    row: NDArray[np.uint8] = values[0]
    return row


def _is_mapping(evidence: Any) -> bool:
    is_mapping = hasattr(evidence, "items") and not hasattr(evidence, "toarray")
    return evidence is None or (is_mapping and not is_frame(evidence))


def ask(model: Any, question: Question, variables: Any, how: Asked) -> tuple[list[int], Answer]:
    """Return the variables that are answered for, and the probabilities of their states."""
    values = question.evidence.values
    known: NDArray[np.bool_] = (values != NO_STATE).all(axis=0)
    if variables is None:
        wanted = list(range(len(model.schema)))
        if question.form == "mapping":
            wanted = np.flatnonzero(~known).tolist()
    else:
        wanted = find_variables(model.schema, _listed(variables), how.spell("variables"))
        _refuse_known(model.schema, wanted, known, how.spell("variables"))
    return wanted, _probabilities(model, question.evidence, how, wanted)


def _refuse_known(
    schema: Schema, wanted: Sequence[int], known: NDArray[np.bool_], argument: str
) -> None:
    for v in wanted:
        if known[v]:
            fault = f"the value of {schema.names[v]!r} is in the evidence."
            raise InputError(fault, where=argument)


def query(model: Any, evidence: Any, variables: Any, how: Asked) -> Any:
    """Return probabilities given evidence; see `Questions.query`."""
    schema: Schema = model.schema
    # Beside evidence, a setting is one although a variable has its name.
    known = () if evidence is None else SETTINGS_OF_QUERIES
    named = [name for name in how.settings if name in schema.names and name not in known]
    if named:
        raise InputError(f"evidence: expected a mapping, as in query({{{named[0]!r}: ...}}).")
    question = question_of(model, evidence)
    if question.form != "mapping" and variables is not None:
        raise InputError("variables: expected none with rows of evidence, whose NaN are asked for.")
    wanted, found = ask(model, question, variables, how)
    start = state_start(schema.start)
    if question.form == "array" and is_plain(schema):
        return found.probability[:, start[:-1] + 1]
    import pandas as pd

    p = found.probability
    places = [np.arange(start[v], start[v + 1]) for v in wanted]
    place = np.concatenate([np.zeros(0, np.int64), *places])
    index = _state_index(schema, wanted)
    made: Any
    if question.form == "mapping":
        made = pd.Series(p[0, place], index, name="probability")
    else:
        made = pd.DataFrame(p[:, place], question.index, index)
    made.attrs.update(found.plan.attrs)
    for name, values in (("monte_carlo_error", found.error), ("converged", found.converged)):
        if values is not None:
            own = values[0, place] if question.form == "mapping" else values[:, place]
            made.attrs[name] = own.tolist()
    return made


def _state_index(schema: Schema, wanted: Sequence[int]) -> "pd.MultiIndex":
    """Return the pairs of a variable and a state, of some variables."""
    import pandas as pd

    # True equals 1, but is another state.
    number: dict[tuple[bool, Any], int] = {}
    pairs = [(isinstance(s, bool), s) for v in wanted for s in schema[v].states]
    codes = [number.setdefault(pair, len(number)) for pair in pairs]
    arity = schema.arity[list(wanted)]
    names = pd.Index([schema.names[v] for v in wanted], dtype=object)
    levels = [names, pd.Index([state for _, state in number], dtype=object)]
    owner = np.repeat(np.arange(len(wanted)), arity)
    # Its codes are right; pandas would look at each of them.
    named = {"names": ["variable", "state"], "verify_integrity": False}
    return pd.MultiIndex(levels, [owner, codes], **named)


def _listed(given: Any) -> list[Any]:
    several = isinstance(given, Iterable) and not isinstance(given, str)
    return list(given) if several else [given]


def _probabilities(model: Any, evidence: Evidence, how: Asked, wanted: Sequence[int]) -> Answer:
    """Return the probabilities of states given evidence, and how they were computed."""
    method = how.inference
    if method not in (AUTO, *METHODS):
        known = ", ".join((AUTO, *METHODS))
        raise InputError(f"inference: expected one of {known}, got {method!r}.")
    given = [name for name, value in how.settings.items() if value is not None]
    check_read(method, [name for name in given if name in SETTINGS_OF_QUERIES], how.spell)
    asked = np.zeros(len(model.schema), bool)
    asked[wanted] = True
    advice = f"{how.spell('inference', AUTO)} estimates where it has to"
    with advised(advice):
        chosen = plan(model, MARGINALS, evidence.values == NO_STATE, method, asked)
    _tell_unused(model, chosen, method, given, how)
    # MC-SAT gives as many independent samples as Gibbs sampling.
    requested = {"samples": Inference.samples} if chosen.method == "mcsat" else {}
    inference = settings_of(chosen.method, {**requested, **how.settings})
    run: dict[str, Any] = {"seed": how.seed, "threads": how.threads, "asked": asked}
    found = answer(model, evidence, chosen, inference, **run)
    if found.converged is not None:
        _tell_unconverged(found.converged[:, np.repeat(asked, model.schema.arity)], found.plan, how)
    return found


def _tell_unused(model: Any, chosen: Plan, method: str, given: Sequence[str], how: Asked) -> None:
    """Tell which settings are not used, because the answer is exact."""
    named = [] if method in (AUTO, EXACT) else [how.spell("inference", method)]
    unused = [*named, *map(how.spell, given)]
    if unused and chosen.is_exact:
        because = f"{model.title} is" if model.is_exact else "the answer is"
        how.tell(f"{', '.join(unused)}: not used, because {because} exact.")


def _tell_unconverged(converged: NDArray[np.bool_], chosen: Plan, how: Asked) -> None:
    """Tell how many of the probabilities asked for have not converged, or refuse them."""
    if converged.all():
        return
    many, of = int((~converged).sum()), converged.size
    note = f"{many} of {of} probabilities have not converged and may be far off"
    if how.strict:
        raise InputError(f"inference {chosen.way}: {note}.")
    how.tell(f"inference {chosen.way}: {note}.")


def most_probable(
    model: Any, evidence: Any, variables: Any = None, spell: Spell = spell_argument
) -> Any:
    """Return the most probable states; see `Questions.most_probable`."""
    schema: Schema = model.schema
    question = question_of(model, evidence)
    known = question.evidence.values
    asked = None
    if variables is not None:
        wanted = find_variables(schema, _listed(variables), spell("variables"))
        _refuse_known(schema, wanted, (known != NO_STATE).any(axis=0), spell("variables"))
        asked = np.isin(np.arange(len(schema)), wanted)
    with advised("no estimate of the most probable states is offered"):
        values, chosen = modes(model, question.evidence, asked)
    if question.form == "array" and not schema.is_named and asked is None:
        return states_array(schema, values)
    import pandas as pd

    of = known[0] == NO_STATE if asked is None else asked
    shown = np.flatnonzero(of).tolist()
    made: Any
    if question.form == "mapping":
        states = [schema[v].states[values[0, v]] for v in shown]
        index = pd.Index([schema.names[v] for v in shown], name="variable")
        made = pd.Series(states, index, dtype=None if states else object, name="state")
    else:
        kept = list(range(len(schema))) if asked is None else shown
        variables_of = tuple(schema[v] for v in kept)
        made = states_table(variables_of, values[:, kept], question.index)
    made.attrs.update(chosen.attrs)
    return made


def draw(
    model: Any, n_rows: int, burn_in: int, evidence: Any, how: Asked, argument: str = "evidence"
) -> tuple[NDArray[np.uint8], Plan]:
    """Return rows of columns that agree with one row of evidence, and the way to them."""
    from mnlearn.inference.sampling import describe_chains, sample_rows

    question = question_of(model, evidence, argument)
    known = known_of(model, question, argument)
    with advised(f"{how.spell('inference', AUTO)} runs Gibbs chains where it has to"):
        chosen = plan(model, SAMPLE, (known == NO_STATE)[None], how.inference)
    note = describe_chains(model, chosen, burn_in)
    if note is not None:
        how.tell(note)
    run: dict[str, Any] = {"chosen": chosen, "known": known, "seed": how.seed}
    with at(question.evidence.name_row(0)):
        return sample_rows(model, n_rows, burn_in, threads=how.threads, **run), chosen


@contextmanager
def advised(advice: str) -> Iterator[None]:
    """Say what can be done where no exact way is feasible."""
    try:
        yield
    except TooWideError as error:
        error.advice = advice
        raise


def states_array(schema: Schema, values: NDArray[np.uint8]) -> NDArray[Any]:
    """Return examples of variables without names as an array of states, or of objects."""
    if is_plain(schema):
        return values.astype(bool) if {v.dtype for v in schema} == {"bool"} else values
    arrays = [np.array(v.states) for v in schema]
    if len({a.dtype.kind for a in arrays}) > 1 or "object" in {v.dtype for v in schema}:
        arrays = [np.array(v.states, object) for v in schema]
    return np.array([own[values[:, k]] for k, own in enumerate(arrays)]).T


def probability(model: Any, event: Any, given: Any) -> float:
    """Return the probability of an event; see `Questions.probability`."""
    schema: Schema = model.schema
    both, known = (_one_row(schema, m, name) for name, m in (("event", event), ("given", given)))
    twice = np.flatnonzero((both != NO_STATE) & (known != NO_STATE))
    if len(twice):
        raise InputError(f"event: the value of {schema.names[twice[0]]!r} is given.")
    values = np.stack([np.where(both == NO_STATE, known, both), known])
    with advised(_MARGINAL_ESTIMATES):
        log_both, log_known = log_probabilities(model, values)
    if np.isneginf(log_known):
        raise InputError("given: has probability 0.")
    return float(np.exp(log_both - log_known))


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
    with advised(_MARGINAL_ESTIMATES):
        p = joint_probabilities(model, known, asked)
    if p is None:
        raise InputError("given: has probability 0.")
    # The states keep their order when the table is unstacked.
    numbers = np.indices(sizes).reshape(len(sizes), -1)
    levels = [pd.Index(schema[v].states) for v in asked]
    index = pd.MultiIndex(levels, list(numbers), names=[schema.names[v] for v in asked])
    return pd.Series(p.ravel(), index, name="probability")


@dataclass(frozen=True)
class Partition:
    """log Z in nats, the way to it, and of an estimate its error, or whether it converged."""

    log_partition: float
    inference: str
    is_exact: bool = True
    monte_carlo_error: float = 0.0
    converged: bool | None = None


def partition_of(
    model: Any, inference: str, settings: Mapping[str, Any], seed: int, threads: int
) -> Partition:
    """Return the partition function; see `Questions.log_partition`."""
    if inference not in PARTITION_METHODS:
        expected = ", ".join(PARTITION_METHODS)
        raise InputError(f"inference: expected one of {expected}, got {inference!r}.")
    check_read(inference, settings)
    with advised('inference="ais" or inference="bp" estimates log Z'):
        chosen = plan(model, VALUE, method=EXACT if model.is_directed else inference)
    if chosen.form is not None:
        return Partition(log_partition(chosen.form), chosen.way)
    if inference == ANNEALED:
        from mnlearn.inference.annealing import estimate_log_partition

        annealing = annealing_of(settings)
        seed = stream_seed(seed, "ais")
        value, error = estimate_log_partition(model, annealing, seed, threads)
        return Partition(value, inference, is_exact=False, monte_carlo_error=error)
    from mnlearn.inference import variational

    # The messages of "trw" have the settings of those of "bp".
    if inference == UPPER:
        value, converged = variational.bound_log_partition_above(model, settings_of("bp", settings))
    else:
        bethe, bound = variational.bethe_log_partition, variational.bound_log_partition
        approximate = bethe if inference == "bp" else bound
        value, converged = approximate(model, settings_of(inference, settings))
    return Partition(value, inference, is_exact=False, converged=converged)
