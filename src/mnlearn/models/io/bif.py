"""The Bayesian network interchange format (`.bif`, version 0.15).

The first state that the declaration of a variable lists is value 0, the second is value 1. The
numbers of a `table` stand in the order of the variables in the head; the last changes fastest.
"""

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.discrete import DiscreteVariable, network_of, variables_of
from mnlearn.models.junction_tree import JunctionTree
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_text, write_text

MAX_PARENTS = 20
MAX_CELLS = 1 << (MAX_PARENTS + 1)
# Printed probabilities are rounded: this is how far their sum may be from 1.
_TOLERANCE = 1e-3
_MARKS = frozenset("[]{}()|;")
_PLAIN = re.compile(r"[A-Za-z0-9_.+-]+")
_TOKEN = re.compile(
    r"""
    (?P<skip> [\s,]+ | //[^\n]* | /\*.*?\*/ )
    | "(?P<quoted> [^"\n]* )"
    | (?P<mark> [][{}()|;] )
    | (?P<word> [^\s,"{}()|;\[\]]+ )
    """,
    re.VERBOSE | re.DOTALL,
)


class _Token(NamedTuple):
    text: str
    line: int


class _Variable(NamedTuple):
    number: int
    states: list[str]


def parse_discrete(text: str, where: str) -> list[DiscreteVariable]:
    """Return the variables of a network, with any numbers of states, in the order of the file.

    Raises
    ------
    InputError
        The text is malformed, or lacks probabilities; the sentence begins with `where`.
    """
    return _Reader(where, text).variables_read()


def read_bif(path: Path | str) -> BayesianNetwork | JunctionTree:
    """Read a Bayesian network; the CPDs of binary variables become complete trees.

    If a variable has more than two states, the network becomes a junction tree; see `network_of`.

    Raises
    ------
    InputError
        The file is missing or malformed, lacks a CPD or a part of one, has a directed cycle, or
        its junction tree is too large. The sentence names the line where there is one.
    """
    variables = read_variables(path)
    try:
        return network_of(variables)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def read_variables(path: Path | str) -> list[DiscreteVariable]:
    """Read the variables of a Bayesian network with any numbers of states; see `read_bif`."""
    return parse_discrete(read_text(path), str(path))


def write_bif(network: BayesianNetwork, path: Path | str) -> None:
    """Write a Bayesian network; each CPD becomes a complete table.

    Raises
    ------
    InputError
        A variable has too many parents, or a name cannot be written.
    """
    try:
        variables = variables_of(network)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    write_variables(variables, path)


def write_variables(variables: Sequence[DiscreteVariable], path: Path | str) -> None:
    """Write the variables of a Bayesian network, in their order.

    Raises
    ------
    InputError
        A name has a quotation mark or a line end, or is a mark of the format.
    """
    word = partial(_quoted, path=path)
    lines = ["network unknown {", "}"]
    for variable in variables:
        states = ", ".join(map(word, variable.states))
        lines += [f"variable {word(variable.name)} {{"]
        lines += [f"  type discrete [ {len(variable.states)} ] {{ {states} }};", "}"]
    for variable in variables:
        above = [variables[p] for p in variable.parents]
        given = f" | {', '.join(word(p.name) for p in above)}" if above else ""
        lines.append(f"probability ( {word(variable.name)}{given} ) {{")
        for cell in itertools.product(*(range(len(p.states)) for p in above)):
            numbers = ", ".join(map(repr, variable.table[cell].tolist()))
            values = ", ".join(word(p.states[x]) for p, x in zip(above, cell, strict=True))
            lines.append(f"  ({values}) {numbers};" if above else f"  table {numbers};")
        lines.append("}")
    write_text(path, "\n".join(lines) + "\n")


def _quoted(name: str, path: Path | str) -> str:
    """Return a name as a file has it, in quotation marks unless it is a plain word."""
    if _PLAIN.fullmatch(name):
        return name
    if '"' in name or "\n" in name or name in _MARKS:
        raise InputError(f"{path}: the name {name!r} cannot be written to a .bif file.")
    return f'"{name}"'


class _Reader:
    """Recursive descent over the tokens of one file."""

    def __init__(self, path: Path | str, text: str) -> None:
        self.path = path
        self.tokens = list(self._tokenised(text))
        self.at = 0
        self.variables: dict[str, _Variable] = {}
        # Parents and table of each variable by its number.
        self.tables: dict[int, tuple[tuple[int, ...], NDArray[np.float64]]] = {}

    def variables_read(self) -> list[DiscreteVariable]:
        """Return the variables in the file."""
        self._read()
        return [
            DiscreteVariable(name, tuple(variable.states), *self.tables[variable.number])
            for name, variable in self.variables.items()
        ]

    def _read(self) -> None:
        while self.at < len(self.tokens):
            word = self._next("network, variable or probability")
            if word.text == "network":
                self._word("the name of the network")
                self._expect("{")
                self._skip_past("}")
            elif word.text == "variable":
                self._read_variable()
            elif word.text == "probability":
                self._read_probability()
            else:
                self._refuse("network, variable or probability", word)
        if not self.variables:
            raise InputError(f"{self.path}: expected variables, found none.")
        for name, variable in self.variables.items():
            if variable.number not in self.tables:
                raise InputError(f"{self.path}: variable {name} has no probabilities.")

    def _tokenised(self, text: str) -> Iterator[_Token]:
        at, line = 0, 1
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise InputError(f"{self.path}, line {line}: a quotation mark is not closed.")
            if match.lastgroup != "skip":
                assert match.lastgroup is not None
                yield _Token(match[match.lastgroup], line)
            line += match[0].count("\n")
            at = match.end()

    def _refuse(self, expected: str, got: _Token) -> NoReturn:
        raise InputError(
            f"{self.path}, line {got.line}: expected {expected}, got {got.text[:40]!r}."
        )

    def _next(self, expected: str) -> _Token:
        if self.at == len(self.tokens):
            raise InputError(f"{self.path}: ends too early, expected {expected}.")
        self.at += 1
        return self.tokens[self.at - 1]

    def _word(self, expected: str) -> _Token:
        token = self._next(expected)
        if token.text in "[]{}()|;":
            self._refuse(expected, token)
        return token

    def _expect(self, text: str) -> None:
        token = self._next(text)
        if token.text != text:
            self._refuse(text, token)

    def _until(self, mark: str, expected: str) -> list[_Token]:
        """Return the words before a mark and move past it."""
        out = []
        while (token := self._next(mark)).text != mark:
            if token.text in "[]{}()|;":
                self._refuse(expected, token)
            out.append(token)
        return out

    def _skip_past(self, mark: str) -> None:
        while self._next(mark).text != mark:
            pass

    def _read_variable(self) -> None:
        name = self._word("the name of a variable")
        if name.text in self.variables:
            self._refuse("a variable that is not declared yet", name)
        self._expect("{")
        states: list[str] | None = None
        while (token := self._next("}")).text != "}":
            if token.text == "property":
                self._skip_past(";")
                continue
            if token.text != "type":
                self._refuse("type or property", token)
            self._expect("discrete")
            self._expect("[")
            count = self._word("the number of states")
            self._expect("]")
            self._expect("{")
            states = [state.text for state in self._until("}", "the names of states")]
            self._expect(";")
            if count.text != str(len(states)) or len(set(states)) < max(len(states), 2):
                self._refuse(f"as many different states of {name.text} as are named", count)
        if states is None:
            self._refuse(f"the type of {name.text}", token)
        self.variables[name.text] = _Variable(len(self.variables), states)

    def _variable(self, token: _Token) -> _Variable:
        if token.text not in self.variables:
            self._refuse("a variable that is declared before", token)
        return self.variables[token.text]

    def _read_probability(self) -> None:
        self._expect("(")
        head = self._word("the name of a variable")
        own = self._variable(head)
        if own.number in self.tables:
            self._refuse("one CPD of each variable", head)
        parents: list[_Variable] = []
        token = self._next(")")
        if token.text == "|":
            parents = [self._variable(word) for word in self._until(")", "parents")]
        elif token.text != ")":
            self._refuse("| or )", token)
        if len({own.number, *(p.number for p in parents)}) <= len(parents):
            self._refuse("different variables", head)
        if len(parents) > MAX_PARENTS:
            self._refuse(f"at most {MAX_PARENTS} parents", head)
        table = self._read_table(parents, own)
        total = table.sum(axis=-1)
        # A missing entry is NaN, for which this comparison is false.
        if not (np.abs(total - 1.0) <= _TOLERANCE).all():
            self._refuse("probabilities for all states of the parents that add up to 1", head)
        self.tables[own.number] = (tuple(p.number for p in parents), table)

    def _read_table(self, parents: list[_Variable], own: _Variable) -> NDArray[np.float64]:
        """Return the probabilities up to the closing brace, the variable on the last axis."""
        shape = [len(variable.states) for variable in (*parents, own)]
        if math.prod(shape) > MAX_CELLS:
            self._refuse(f"at most {MAX_CELLS} probabilities of one variable", self.tokens[self.at])
        table = np.full(shape, np.nan)
        default = np.full(shape[-1], np.nan)
        self._expect("{")
        while (token := self._next("}")).text != "}":
            if token.text == "property":
                self._skip_past(";")
            elif token.text == "table":
                # In the file the variable itself changes slowest, in the table fastest.
                numbers = np.reshape(self._numbers(table.size), (shape[-1], *shape[:-1]))
                table[...] = np.moveaxis(numbers, 0, -1)
            elif token.text == "default":
                default = np.array(self._numbers(shape[-1]))
            elif token.text == "(":
                states = self._until(")", "states of the parents")
                if len(states) != len(parents):
                    self._refuse(f"{len(parents)} states of parents", token)
                values = []
                for parent, state in zip(parents, states, strict=True):
                    if state.text not in parent.states:
                        self._refuse(f"{' or '.join(parent.states)}", state)
                    values.append(parent.states.index(state.text))
                table[tuple(values)] = self._numbers(shape[-1])
            else:
                self._refuse("table, default or the states of the parents", token)
        for index in itertools.product(*(range(n) for n in shape[:-1])):
            if np.isnan(table[index]).any():
                table[index] = default
        return table

    def _numbers(self, count: int) -> list[float]:
        words = self._until(";", "probabilities")
        values = []
        for word in words:
            try:
                values.append(float(word.text))
            except ValueError:
                self._refuse("a probability", word)
            if not 0.0 <= values[-1] <= 1.0:
                self._refuse("a probability", word)
        if len(values) != count:
            self._refuse(f"{count} probabilities, not {len(values)}", self.tokens[self.at - 1])
        return values
