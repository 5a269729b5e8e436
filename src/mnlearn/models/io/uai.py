"""The format of the UAI competitions (`.uai`): Markov and Bayesian networks as tables.

The words of a file are: MARKOV or BAYES; the number of variables and their numbers of values; the
number of factors and the variables of each; then for each factor the number of its cells and their
values. The last variable of a factor changes fastest. In a BAYES file, a factor is the
conditional distribution of its last variable. The form has no names.
"""

import itertools
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.discrete import (
    DiscreteVariable,
    Factor,
    junction_tree_of,
    network_of,
    variables_of,
)
from mnlearn.models.features import features_of
from mnlearn.models.junction_tree import JunctionTree
from mnlearn.models.markov_network import MarkovNetwork, markov_network
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_text, write_text
from mnlearn.variables.schema import Schema, Variable

# Most variables of one feature of a network that is written.
MAX_SCOPE = 16
# Most cells of all factors together, and most variables, of a file.
MAX_CELLS = 1 << 22
MAX_VARS = 1_000_000
# Printed probabilities are rounded: this is how far their sum may be from 1.
_TOLERANCE = 1e-3


def read_uai(path: Path | str) -> MarkovNetwork | BayesianNetwork | JunctionTree:
    """Read a network: Markov or Bayesian if all variables are binary, else a junction tree.

    A Markov network has a feature for each cell that is not 1, with the logarithm as weight. A
    junction tree is a distribution: the partition function of the file is not kept.

    Raises
    ------
    InputError
        The file is missing or malformed, or the tables are too large.
    """
    kind, arity, factors = _Reader(path).factors()
    try:
        if kind == "BAYES":
            return network_of(_variables(arity, factors))
        if set(arity) == {2}:
            return _markov_network(len(arity), factors)
        variables = (Variable(f"V{v}", tuple(range(k))) for v, k in enumerate(arity))
        return junction_tree_of(Schema(tuple(variables), is_named=False), factors)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def read_variables(path: Path | str) -> list[DiscreteVariable]:
    """Read the variables of a BAYES file.

    Raises
    ------
    InputError
        See `read_uai`; or the file has a Markov network.
    """
    kind, arity, factors = _Reader(path).factors()
    if kind != "BAYES":
        raise InputError(f"{path}: expected a Bayesian network (BAYES), the file has a MARKOV one.")
    try:
        return _variables(arity, factors)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _variables(arity: Sequence[int], factors: Sequence[Factor]) -> list[DiscreteVariable]:
    """Return the variables of factors that are conditional distributions."""
    found: dict[int, DiscreteVariable] = {}
    for factor in factors:
        if not factor.scope or factor.scope[-1] in found:
            raise InputError("BAYES: expected one distribution of each variable.")
        *parents, v = factor.scope
        if not (np.abs(factor.table.sum(axis=-1) - 1.0) <= _TOLERANCE).all():
            raise InputError(f"BAYES: expected probabilities of variable {v} that add up to 1.")
        states = tuple(map(str, range(arity[v])))
        found[v] = DiscreteVariable(f"V{v}", states, tuple(parents), factor.table)
    if len(found) < len(arity):
        missing = min(set(range(len(arity))) - set(found))
        raise InputError(f"BAYES: variable {missing} has no distribution.")
    return [found[v] for v in range(len(arity))]


def _markov_network(n_vars: int, factors: Sequence[Factor]) -> MarkovNetwork:
    conjunctions, weights = [], []
    for factor in factors:
        if not factor.scope and not float(factor.table) > 0:
            raise InputError("network: all states have the value 0.")
        for cell in itertools.product((0, 1), repeat=len(factor.scope)):
            value = float(factor.table[cell])
            if value == 1.0 or not factor.scope:
                continue
            conjunctions.append(sorted(zip(factor.scope, cell, strict=True)))
            weights.append(math.log(value) if value else -math.inf)
    return markov_network(n_vars, features_of(conjunctions), np.array(weights, np.float64))


def write_uai(model: MarkovNetwork | BayesianNetwork | JunctionTree, path: Path | str) -> None:
    """Write a network: a table for each set of variables that features join, or for each CPD.

    A junction tree is written as a Markov network with a table for each clique. Its variables keep
    their numbers of values. So do those of a Markov network.

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
    if isinstance(model, BayesianNetwork):
        try:
            variables = variables_of(model)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
        write_variables(variables, path)
        return
    if isinstance(model, JunctionTree):
        cliques = [Factor(model.clique(c), np.exp(model.table(c))) for c in range(model.n_cliques)]
        _write("MARKOV", model.schema.arity.tolist(), cliques, path)
        return
    own = model.schema
    factors = _factors_of(model, own, path)
    if not all(np.isfinite(factor.table).all() for factor in factors):
        raise InputError(f"{path}: a weight is too large to write as a number.")
    _write("MARKOV", own.arity.tolist(), factors, path)


def _factors_of(network: MarkovNetwork, variables: Schema, path: Path | str) -> list[Factor]:
    """Return a table for each set of variables that features join."""
    place = {c: (v, a) for v in range(len(variables)) for a, c in enumerate(variables.columns(v))}
    tables: dict[tuple[int, ...], np.ndarray] = {}
    n_cells = 0
    for k, weight in enumerate(network.weight.tolist()):
        allowed: dict[int, np.ndarray] = {}
        for c, x in network.features.literals(k):
            v, a = place[c]
            has_1 = np.arange(variables.arity[v]) == (a if len(variables.columns(v)) > 1 else 1)
            allowed[v] = allowed.get(v, True) & (has_1 == x)
        if not all(own.any() for own in allowed.values()):
            # What it asks for is no state of the variables.
            continue
        scope = tuple(sorted(allowed))
        if scope not in tables:
            shape = tuple(variables.arity[list(scope)].tolist())
            n_cells += math.prod(shape)
            if len(scope) > MAX_SCOPE or n_cells > MAX_CELLS:
                raise InputError(
                    f"{path}: a .uai file has a table for the variables of each feature; "
                    f"expected features of at most {MAX_SCOPE} variables and {MAX_CELLS:,} cells."
                )
            tables[scope] = np.zeros(shape)
        tables[scope][np.ix_(*(allowed[v] for v in scope))] += weight
    with np.errstate(over="ignore"):
        return [Factor(scope, np.exp(table)) for scope, table in tables.items()]


def write_variables(variables: Sequence[DiscreteVariable], path: Path | str) -> None:
    """Write the variables of a Bayesian network; their names are lost.

    Raises
    ------
    InputError
        The tables have too many cells.
    """
    factors = [Factor((*one.parents, v), one.table) for v, one in enumerate(variables)]
    _write("BAYES", [len(one.states) for one in variables], factors, path)


def _write(kind: str, arity: Sequence[int], factors: Sequence[Factor], path: Path | str) -> None:
    if sum(factor.table.size for factor in factors) > MAX_CELLS:
        raise InputError(f"{path}: expected tables with at most {MAX_CELLS:,} cells in all.")
    lines = [kind, str(len(arity)), " ".join(map(str, arity)), str(len(factors))]
    lines += [" ".join(map(str, (len(one.scope), *one.scope))) for one in factors]
    for factor in factors:
        lines += ["", str(factor.table.size), " ".join(map(repr, factor.table.ravel().tolist()))]
    write_text(path, "\n".join(lines) + "\n")


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
        arity = [self._whole("a number of values", 2, 254) for _ in range(n_vars)]
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
        if self.at < len(self.words):
            raise InputError(
                f"{self.path}: expected the end of the file, got {self.words[self.at][:40]!r}."
            )
        return kind, arity, found

    def _factor(self, scope: tuple[int, ...], arity: Sequence[int]) -> Factor:
        shape = [arity[v] for v in scope]
        size = math.prod(shape)
        self._whole("the number of cells of a factor", size, size)
        values = [self._value() for _ in range(size)]
        return Factor(scope, np.array(values, np.float64).reshape(shape))

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

    def _value(self) -> float:
        word = self._next("a value")
        try:
            value = float(word)
        except ValueError:
            value = -1.0
        if not 0.0 <= value < math.inf:
            raise InputError(
                f"{self.path}, word {self.at}: expected a number of at least 0, got {word[:40]!r}."
            )
        return value
