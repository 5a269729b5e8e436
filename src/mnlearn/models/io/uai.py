"""The format of the UAI competitions: networks as tables (`.uai`), and evidence (`.uai.evid`).

MARKOV or BAYES; the numbers of values; the variables of each factor; then the cells of each, of
which the last variable changes fastest. Evidence and lists of questions may follow.
"""

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.bayesian_network import BayesianNetwork, network_of_tables
from mnlearn.models.cpds import CpdTable
from mnlearn.models.features import FeatureSet, concatenate, features_of, state_features
from mnlearn.models.interactions import allowed_states
from mnlearn.models.io.printed import MAX_VARS, check_sums, numbers
from mnlearn.models.io.suffixes import form_of
from mnlearn.models.junction_tree import JunctionTree
from mnlearn.models.markov_network import MarkovNetwork, network_with_constant
from mnlearn.runtime.errors import InputError, name_file
from mnlearn.runtime.files import read_text, write_text
from mnlearn.runtime.progress import say
from mnlearn.variables.schema import Schema, numbered_schema

# Most variables of one feature of a network that is written.
MAX_SCOPE = 16
# Most cells of all factors together.
MAX_CELLS = 1 << 22
# Most features of a Markov network that is read.
MAX_FEATURES = 1 << 20
_LARGEST = float(np.finfo(float).max)
# What is no word, as in aGrUM.
_COMMENT = re.compile(r"(?:#|//)[^\n]*|/\*.*?\*/", re.DOTALL)


class Factor(NamedTuple):
    """A non-negative function of some variables; `words` are its numbers in a file."""

    scope: tuple[int, ...]
    table: NDArray[np.float64]
    words: Sequence[str] = ()


def read_uai(path: Path | str) -> MarkovNetwork | BayesianNetwork:
    """Read a network; a Markov network has a feature for each cell that is not 1."""
    reader = _Reader(path)
    kind, arity, factors = reader.factors()
    n_known = len(reader.evidence(arity))
    if n_known:
        say(
            f"{path}: has {n_known} known states, which are no part of the model; give this file "
            "as evidence to use them."
        )
    schema = numbered_schema(arity)
    with name_file(path):
        if kind == "BAYES":
            return network_of_tables(schema, _tables(schema, factors))
        return _markov_network(schema, factors)


def read_uai_evidence(path: Path | str, schema: Schema) -> list[dict[int, int]]:
    """Read what is known in each sample of evidence, or behind the tables of a network."""
    reader, arity = _Reader(path), schema.arity.tolist()
    if form_of(path) == ".uai":
        if reader.factors()[1] != arity:
            raise InputError(f"{path}: is a network of other variables than the model.")
        return [reader.evidence(arity)]
    return reader.samples(arity)


def _tables(schema: Schema, factors: Sequence[Factor]) -> dict[int, CpdTable]:
    """Return factors that are conditional distributions by the variable that each belongs to.

    It is the last of the scope, or else the first. Where sums show it, the first variable of a
    scope changes fastest, as pgmpy writes it.
    """
    if not all(factor.scope for factor in factors):
        raise InputError("BAYES: expected one distribution of each variable.")
    child = next((at for at in (-1, 0) if len({f.scope[at] for f in factors}) == len(factors)), -1)
    owner = [factor.scope[child] for factor in factors]
    if len(set(owner)) < len(owner):
        v = next(v for v in owner if owner.count(v) > 1)
        raise InputError(f"BAYES: expected one distribution of each variable, got two of {v}.")
    if len(owner) < len(schema):
        missing = min(set(range(len(schema))) - set(owner))
        raise InputError(f"BAYES: variable {missing} has no distribution.")
    try:
        return {v: _cpd(schema, own, child) for v, own in zip(owner, factors, strict=True)}
    except InputError as error:
        turned = [
            factor._replace(table=factor.table.ravel().reshape(factor.table.shape, order="F"))
            for factor in factors
        ]
        with suppress(InputError):
            return {v: _cpd(schema, own, child) for v, own in zip(owner, turned, strict=True)}
        raise InputError(f"BAYES: {error}") from error


def _cpd(schema: Schema, factor: Factor, child: int) -> CpdTable:
    """Return a factor with its child, the last or the first variable, on the last axis."""
    parents = factor.scope[:-1] if child else factor.scope[1:]
    prob = np.moveaxis(factor.table, child, -1)
    given = [(schema.names[u], schema[u].texts) for u in parents]
    check_sums(prob, factor.words, schema.names[factor.scope[child]], given)
    return CpdTable(parents, prob)


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
    """Write a network: a table for each CPD, clique, or set of variables that features join."""
    with name_file(path):
        factors = list(_factors_of(model))
    if sum(factor.table.size for factor in factors) > MAX_CELLS:
        raise InputError(f"{path}: expected tables with at most {MAX_CELLS:,} cells in all.")
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
            yield Factor(model.clique(c), _exp_of(model.table(c)))
    else:
        for scope, table in _log_tables(model).items():
            yield Factor(scope, _exp_of(table))


def _exp_of(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a table of weights; refuse those whose value a double does not hold to all digits."""
    with np.errstate(over="ignore"):
        table = np.asarray(np.exp(logs))
    if ((table < np.finfo(float).tiny) & (logs > -np.inf)).any():
        raise InputError("a weight is too small to write as a number.")
    if not np.isfinite(table).all():
        raise InputError("a weight is too large to write as a number.")
    return table


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
        # Comments become blanks, so that lines stay as they are.
        self.raw = read_text(path)
        self.text = _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), self.raw)
        self.words = self.text.split()
        self.at = 0

    def factors(self) -> tuple[str, list[int], list[Factor]]:
        """Return the kind of network, the numbers of values, and the factors."""
        kind = self._next("MARKOV or BAYES").upper()
        if kind not in ("MARKOV", "BAYES"):
            self._refuse("MARKOV or BAYES")
        n_vars = self._whole("the number of variables", 1, MAX_VARS)
        arity = [self._whole("a number of values", 1, 254) for _ in range(n_vars)]
        scopes = []
        n_cells = 0
        for _ in range(self._whole("the number of factors", 0, MAX_CELLS)):
            length = self._whole("the number of variables of a factor", 0, n_vars)
            scope = [self._whole("a variable", 0, n_vars - 1) for _ in range(length)]
            if len(set(scope)) < length:
                self._refuse("different variables in a factor")
            n_cells += math.prod(arity[v] for v in scope)
            if n_cells > MAX_CELLS:
                raise InputError(f"{self.path}: the factors have more than {MAX_CELLS:,} cells.")
            scopes.append(tuple(scope))
        return kind, arity, [self._factor(scope, arity) for scope in self._ordered(kind, scopes)]

    def _ordered(self, kind: str, scopes: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Return the scopes in the order of the cells, which comments of pyAgrum tell.

        It writes the parents in the wrong order, and a Markov network's variables in any.
        """
        if kind == "BAYES":
            n_named = len(re.findall(r"(?m)^[0-9 ]+   # \S.*$", self.raw))
            return [(*s[-2::-1], *s[-1:]) for s in scopes] if n_named == len(scopes) else scopes
        listed = re.findall(r"(?m)^[0-9]+ # \{([0-9, ]+)\}$", self.raw)
        orders = [tuple(map(int, own.split(",")))[::-1] for own in listed]
        return orders if [*map(sorted, orders)] == [*map(sorted, scopes)] else scopes

    def evidence(self, arity: Sequence[int]) -> dict[int, int]:
        """Return the known states behind the tables; lists of questions may follow."""
        known: dict[int, int] = {}
        if self.at < len(self.words):
            known = self._known(arity)
        while self.at < len(self.words):
            for _ in range(self._whole("the length of a list", 0, len(self.words))):
                self._whole("a number", 0, MAX_VARS)
        return known

    def samples(self, arity: Sequence[int]) -> list[dict[int, int]]:
        """Return the known states of each sample; the number of samples may stand first."""
        n_known = self._whole("the number of known variables", 0, len(self.words))
        lines = [line.split() for line in self.text.splitlines() if line.strip()]
        by_line = (
            n_known
            and len(lines) == 1 + n_known
            and all(line[0] == str(len(line) // 2) for line in lines[1:])
        )
        if len(self.words) == 1 + 2 * n_known and not by_line:
            self.at = 0
            return [self._known(arity)]
        found = [self._known(arity) for _ in range(n_known)]
        if self.at < len(self.words):
            self._next("")
            self._refuse("the end of the file")
        return found

    def _known(self, arity: Sequence[int]) -> dict[int, int]:
        """Return the states of a list of known variables."""
        known: dict[int, int] = {}
        for _ in range(self._whole("the number of known variables", 0, len(arity))):
            v = self._whole("a variable", 0, len(arity) - 1)
            if v in known:
                self._refuse("a variable that is not known yet")
            known[v] = self._whole("the number of a state", 0, arity[v] - 1)
        return known

    def _refuse(self, expected: str) -> NoReturn:
        """Raise InputError on the word before the position that was reached."""
        word = next(islice(re.finditer(r"\S+", self.text), self.at - 1, None))
        before = self.text[: word.start()]
        number = len(before.rpartition("\n")[2].split()) + 1
        where = f"{self.path}, line {before.count(chr(10)) + 1}, word {number}"
        raise InputError(f"{where}: expected {expected}, got {word[0][:40]!r}.")

    def _factor(self, scope: tuple[int, ...], arity: Sequence[int]) -> Factor:
        shape = [arity[v] for v in scope]
        size = math.prod(shape)
        self._whole("the number of cells of a factor", size, size)
        begin = self.at
        return Factor(scope, self._values(size).reshape(shape), self.words[begin : self.at])

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
            self._refuse(f"{what} ({span})")
        return number

    def _values(self, count: int) -> NDArray[np.float64]:
        words = self.words[self.at : self.at + count]
        values = numbers(words, _LARGEST)
        if values is not None and len(values) == count:
            self.at += count
            return values
        while True:
            if numbers([self._next("a value")], _LARGEST) is None:
                self._refuse("a number of at least 0")
