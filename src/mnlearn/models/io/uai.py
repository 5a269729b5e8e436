"""The format of the UAI competitions (`.uai`): Markov and Bayesian networks as tables.

The words of a file are: MARKOV or BAYES; the number of variables and their numbers of values; the
number of factors and the variables of each; then for each factor the number of its cells and their
values. The last variable of a factor changes fastest. In a BAYES file, a factor is the
conditional distribution of its last variable. Lists of evidence, of which there must be none, and
of questions may follow. The form has no names.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.bayesian_network import BayesianNetwork, network_of_tables
from mnlearn.models.cpd_tables import CpdTable
from mnlearn.models.features import FeatureSet, concatenate, features_of, state_features
from mnlearn.models.interactions import allowed_states
from mnlearn.models.junction_tree import JunctionTree
from mnlearn.models.markov_network import MarkovNetwork, network_with_constant
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_text, write_text
from mnlearn.variables.schema import Schema, numbered_schema

# Most variables of one feature of a network that is written.
MAX_SCOPE = 16
# Most cells of all factors together, and most variables, of a file.
MAX_CELLS = 1 << 22
MAX_VARS = 1_000_000
# Most features of a Markov network that is read.
MAX_FEATURES = 1 << 20
# Printed probabilities are rounded: this is how far their sum may be from 1.
_TOLERANCE = 1e-3


class Factor(NamedTuple):
    """A non-negative function of some variables, with an axis of the table for each of them."""

    scope: tuple[int, ...]
    table: NDArray[np.float64]


def read_uai(path: Path | str) -> MarkovNetwork | BayesianNetwork:
    """Read a network, whose variables have the numbers from 0 as states.

    A Markov network has a feature for each cell that is not 1, with the logarithm as weight. A
    factor that is the same for all states becomes a constant of one variable, so the partition
    function of the file is kept.

    Raises
    ------
    InputError
        The file is missing or malformed, or the tables are too large.
    """
    kind, arity, factors = _Reader(path).factors()
    schema = numbered_schema(arity)
    try:
        if kind == "BAYES":
            return network_of_tables(schema, _tables(schema, factors))
        return _markov_network(schema, factors)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _tables(schema: Schema, factors: Sequence[Factor]) -> dict[int, CpdTable]:
    """Return factors that are conditional distributions by the variable that each belongs to."""
    found: dict[int, CpdTable] = {}
    for factor in factors:
        if not factor.scope or factor.scope[-1] in found:
            raise InputError("BAYES: expected one distribution of each variable.")
        *parents, v = factor.scope
        if not (np.abs(factor.table.sum(axis=-1) - 1.0) <= _TOLERANCE).all():
            raise InputError(f"BAYES: expected probabilities of variable {v} that add up to 1.")
        found[v] = CpdTable(tuple(parents), factor.table)
    if len(found) < len(schema):
        missing = min(set(range(len(schema))) - set(found))
        raise InputError(f"BAYES: variable {missing} has no distribution.")
    return found


def _markov_network(schema: Schema, factors: Sequence[Factor]) -> MarkovNetwork:
    n_features = sum(int((factor.table != 1.0).sum()) for factor in factors)
    if n_features > MAX_FEATURES:
        raise InputError(
            f"network: its factors have {n_features:,} cells that are not 1; a Markov network has "
            f"a feature for each of them, expected at most {MAX_FEATURES:,}."
        )
    parts: list[FeatureSet] = [features_of([])]
    weights: list[NDArray[np.float64]] = [np.zeros(0)]
    constant = 0.0
    for factor in factors:
        with np.errstate(divide="ignore"):
            weight = np.log(factor.table)
        if factor.table.size == 1:
            constant += float(weight.ravel()[0])
            continue
        states = np.argwhere(factor.table != 1.0)
        parts.append(state_features(schema, factor.scope, states))
        weights.append(weight[factor.table != 1.0])
    if math.isinf(constant) or any((f.table == 0).all() for f in factors):
        raise InputError("network: all states have the value 0.")
    return network_with_constant(schema, concatenate(parts), np.concatenate(weights), constant)


def write_uai(model: MarkovNetwork | BayesianNetwork | JunctionTree, path: Path | str) -> None:
    """Write a network: a table for each set of variables that features join, or for each CPD.

    A junction tree is written as a Markov network with a table for each clique. Names are lost.

    Parameters
    ----------
    model : MarkovNetwork, BayesianNetwork or JunctionTree
        What is written.
    path : path-like
        The file.

    Raises
    ------
    InputError
        A feature joins more than `MAX_SCOPE` variables, the tables have too many cells, or a
        weight is too large.
    """
    try:
        factors = list(_factors_of(model))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    if sum(factor.table.size for factor in factors) > MAX_CELLS:
        raise InputError(f"{path}: expected tables with at most {MAX_CELLS:,} cells in all.")
    if not all(np.isfinite(factor.table).all() for factor in factors):
        raise InputError(f"{path}: a weight is too large to write as a number.")
    kind = "BAYES" if model.is_directed else "MARKOV"
    arity = model.schema.arity.tolist()
    lines = [kind, str(len(arity)), " ".join(map(str, arity)), str(len(factors))]
    lines += [" ".join(map(str, (len(one.scope), *one.scope))) for one in factors]
    for factor in factors:
        lines += ["", str(factor.table.size), " ".join(map(repr, factor.table.ravel().tolist()))]
    write_text(path, "\n".join(lines) + "\n")


def _factors_of(model: MarkovNetwork | BayesianNetwork | JunctionTree) -> Iterator[Factor]:
    """Yield the tables whose product is proportional to the distribution of a model."""
    if isinstance(model, BayesianNetwork):
        for v in range(model.n_vars):
            parents, prob = model.table(v)
            yield Factor((*parents, v), prob)
    elif isinstance(model, JunctionTree):
        for c in range(model.n_cliques):
            yield Factor(model.clique(c), np.exp(model.table(c)))
    else:
        with np.errstate(over="ignore"):
            for scope, table in _log_tables(model).items():
                yield Factor(scope, np.exp(table))


def _log_tables(network: MarkovNetwork) -> dict[tuple[int, ...], NDArray[np.float64]]:
    """Return a table for each set of variables that features join."""
    schema = network.schema
    tables: dict[tuple[int, ...], NDArray[np.float64]] = {}
    n_cells = 0
    for k, weight in enumerate(network.weight.tolist()):
        allowed = allowed_states(schema, network.features.literals(k))
        if not all(own.any() for own in allowed.values()):
            # What it asks for is no state of the variables.
            continue
        scope = tuple(sorted(allowed))
        if scope not in tables:
            shape = tuple(schema.arity[list(scope)].tolist())
            n_cells += math.prod(shape)
            if len(scope) > MAX_SCOPE or n_cells > MAX_CELLS:
                raise InputError(
                    "a .uai file has a table for the variables of each feature; expected features "
                    f"of at most {MAX_SCOPE} variables and {MAX_CELLS:,} cells."
                )
            tables[scope] = np.zeros(shape)
        tables[scope][np.ix_(*(allowed[v] for v in scope))] += weight
    return tables


class _Reader:
    """Takes the words of one file in their order."""

    def __init__(self, path: Path | str) -> None:
        self.path = path
        self.words = read_text(path).split()
        self.at = 0

    def factors(self) -> tuple[str, list[int], list[Factor]]:
        """Return the kind of network, the numbers of values, and the factors."""
        kind = self._next("MARKOV or BAYES")
        if kind not in ("MARKOV", "BAYES"):
            raise InputError(f"{self.path}: expected MARKOV or BAYES, got {kind[:40]!r}.")
        n_vars = self._whole("the number of variables", 1, MAX_VARS)
        arity = [self._whole("a number of values", 1, 254) for _ in range(n_vars)]
        scopes = []
        n_cells = 0
        for _ in range(self._whole("the number of factors", 0, MAX_CELLS)):
            length = self._whole("the number of variables of a factor", 0, n_vars)
            scope = [self._whole("a variable", 0, n_vars - 1) for _ in range(length)]
            if len(set(scope)) < length:
                raise InputError(f"{self.path}: expected different variables in a factor.")
            n_cells += math.prod(arity[v] for v in scope)
            if n_cells > MAX_CELLS:
                raise InputError(f"{self.path}: the factors have more than {MAX_CELLS:,} cells.")
            scopes.append(tuple(scope))
        found = [self._factor(scope, arity) for scope in scopes]
        if self.at < len(self.words) and not self._ends_with_lists():
            raise InputError(
                f"{self.path}: expected the end of the file, got {self.words[self.at][:40]!r}."
            )
        return kind, arity, found

    def _ends_with_lists(self) -> bool:
        """Tell whether lists of numbers follow: no evidence, and questions, which are not read."""
        rest = self.words[self.at :]
        while rest and rest[0].isdecimal() and len(rest[0]) < 10 and int(rest[0]) < len(rest):
            if not all(word.isdecimal() for word in rest[: 1 + int(rest[0])]):
                return False
            rest = rest[1 + int(rest[0]) :]
        return not rest and self.words[self.at] == "0"

    def _factor(self, scope: tuple[int, ...], arity: Sequence[int]) -> Factor:
        shape = [arity[v] for v in scope]
        size = math.prod(shape)
        self._whole("the number of cells of a factor", size, size)
        return Factor(scope, self._values(size).reshape(shape))

    def _next(self, expected: str) -> str:
        if self.at == len(self.words):
            raise InputError(f"{self.path}: ends too early, expected {expected}.")
        self.at += 1
        return self.words[self.at - 1]

    def _whole(self, what: str, low: int, high: int) -> int:
        word = self._next(what)
        # Bounded, because int() refuses numbers of thousands of digits.
        number = int(word) if word.isascii() and word.isdecimal() and len(word) < 19 else -1
        if not low <= number <= high:
            span = f"{low}" if low == high else f"{low} to {high}"
            raise InputError(
                f"{self.path}, word {self.at}: expected {what} ({span}), got {word[:40]!r}."
            )
        return number

    def _values(self, count: int) -> NDArray[np.float64]:
        try:
            values = np.array([float(word) for word in self.words[self.at : self.at + count]])
            fits = len(values) == count and bool(((values >= 0.0) & (values < math.inf)).all())
        except ValueError:
            fits = False
        if fits:
            self.at += count
            return values
        while True:
            word = self._next("a value")
            try:
                value = float(word)
            except ValueError:
                value = -1.0
            if not 0.0 <= value < math.inf:
                raise InputError(
                    f"{self.path}, word {self.at}: expected a number of at least 0, "
                    f"got {word[:40]!r}."
                )
