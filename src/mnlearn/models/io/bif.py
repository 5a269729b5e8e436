"""The Bayesian network interchange format (`.bif`, version 0.15).

The states of a variable are numbered in the order of its declaration. A `table` has its numbers in
the order of the variables in the head; the last changes fastest. States that are whole numbers
become numbers. Where commas separate names, a name may contain blanks.
"""

import itertools
import math
import re
from functools import partial
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.bayesian_network import BayesianNetwork, network_of_tables
from mnlearn.models.cpd_tables import CpdTable
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_text, write_text
from mnlearn.variables.arrays import states_of
from mnlearn.variables.schema import Schema, Variable

MAX_PARENTS = 20
MAX_CELLS = 1 << (MAX_PARENTS + 1)
# Printed probabilities are rounded: this is how far their sum may be from 1.
_TOLERANCE = 1e-3
_MARKS = frozenset("[]{}()|;")
_PLAIN = re.compile(r"[A-Za-z0-9_.+-]+")
_COMMENT = re.compile(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_BLANK = re.compile(r"[\s,]*")
_TOKEN = re.compile(r'"(?P<quoted>[^"\n]*)"|(?P<mark>[][{}()|;])|(?P<word>[^\s,"{}()|;\[\]]+)')
_COUNT = re.compile(r"[0-9]{1,6}")


class _Token(NamedTuple):
    text: str
    at: int


class _Variable(NamedTuple):
    number: int
    states: list[str]


def read_bif(path: Path | str) -> BayesianNetwork:
    """Read a Bayesian network, whose conditional distributions become tables.

    Raises
    ------
    InputError
        The file is missing or malformed, lacks a CPD or a part of one, or has a directed cycle. The
        sentence names the line where there is one.
    """
    return parse_bif(read_text(path), str(path))


def parse_bif(text: str, where: str) -> BayesianNetwork:
    """Return the network of a text; see `read_bif`. Sentences of errors begin with `where`."""
    reader = _Reader(where, text)
    reader.read()
    try:
        variables = (Variable(name, states_of(v.states)) for name, v in reader.variables.items())
        return network_of_tables(Schema(tuple(variables)), reader.tables)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def write_bif(network: BayesianNetwork, path: Path | str) -> None:
    """Write a Bayesian network; each CPD becomes a complete table.

    Raises
    ------
    InputError
        The tree of a variable is too large for a table, or a name has a quotation mark or a line
        end, or is a mark of the format.
    """
    word = partial(_quoted, path=path)
    schema = network.schema
    names = [word(variable.name) for variable in schema]
    states = [[word(text) for text in variable.texts] for variable in schema]
    lines = ["network unknown {", "}"]
    for name, own in zip(names, states, strict=True):
        lines += [f"variable {name} {{"]
        lines += [f"  type discrete [ {len(own)} ] {{ {', '.join(own)} }};", "}"]
    for v, name in enumerate(names):
        try:
            parents, prob = network.table(v)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
        given = f" | {', '.join(names[u] for u in parents)}" if parents else ""
        lines.append(f"probability ( {name}{given} ) {{")
        rows = prob.reshape(-1, prob.shape[-1]).tolist()
        for cell, row in zip(itertools.product(*(states[u] for u in parents)), rows, strict=True):
            numbers = ", ".join(map(repr, row))
            lines.append(f"  ({', '.join(cell)}) {numbers};" if parents else f"  table {numbers};")
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
    """Recursive descent over the text of one file; `at` is the position reached."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        # Comments become blanks, so that positions and lines stay as they are.
        self.text = _COMMENT.sub(_blanked, text)
        self.at = 0
        self.variables: dict[str, _Variable] = {}
        self.tables: dict[int, CpdTable] = {}

    def read(self) -> None:
        """Read all variables and tables."""
        while self._skip_blank() < len(self.text):
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

    def _skip_blank(self) -> int:
        match = _BLANK.match(self.text, self.at)
        assert match
        self.at = match.end()
        return self.at

    def _line(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1

    def _refuse(self, expected: str, got: _Token) -> NoReturn:
        where = f"{self.path}, line {self._line(got.at)}"
        raise InputError(f"{where}: expected {expected}, got {got.text[:40]!r}.")

    def _next(self, expected: str) -> _Token:
        at = self._skip_blank()
        if at == len(self.text):
            raise InputError(f"{self.path}: ends too early, expected {expected}.")
        match = _TOKEN.match(self.text, at)
        if match is None:
            raise InputError(f"{self.path}, line {self._line(at)}: a quotation mark is not closed.")
        self.at = match.end()
        assert match.lastgroup is not None
        return _Token(match[match.lastgroup], at)

    def _word(self, expected: str) -> _Token:
        token = self._next(expected)
        if token.text in _MARKS:
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
            if token.text in _MARKS:
                self._refuse(expected, token)
            out.append(token)
        return out

    def _names(self, mark: str, count: int, expected: str) -> list[_Token]:
        """Return the names before a mark; those between two commas are one if so many are named."""
        begin = self.at
        words = self._until(mark, expected)
        if len(words) == count or (count != 1 and "," not in self.text[begin : self.at]):
            return words
        joined: list[_Token] = []
        end = begin
        for word in words:
            if not joined or "," in self.text[end : word.at]:
                joined.append(word)
            else:
                joined[-1] = _Token(f"{joined[-1].text} {word.text}", joined[-1].at)
            end = word.at + len(word.text)
        return joined if len(joined) == count else words

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
            number = int(count.text) if _COUNT.fullmatch(count.text) else -1
            states = [state.text for state in self._names("}", number, "the names of states")]
            self._expect(";")
            if number != len(states) or len(set(states)) < max(number, 1):
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
        self.tables[own.number] = CpdTable(tuple(p.number for p in parents), table)

    def _read_table(self, parents: list[_Variable], own: _Variable) -> NDArray[np.float64]:
        """Return the probabilities up to the closing brace, the variable on the last axis."""
        shape = [len(variable.states) for variable in (*parents, own)]
        if math.prod(shape) > MAX_CELLS:
            self._refuse(f"at most {MAX_CELLS} probabilities of one variable", self._next("{"))
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
                states = self._names(")", len(parents), "states of the parents")
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

    def _numbers(self, count: int) -> NDArray[np.float64]:
        """Return the probabilities up to the next semicolon and move past it."""
        end = self.text.find(";", self.at)
        words = self.text[self.at : end].replace(",", " ").split()
        try:
            values = np.array(list(map(float, words)))
        except ValueError:
            values = np.full(1, np.nan)
        if end < 0 or len(values) != count or not ((values >= 0.0) & (values <= 1.0)).all():
            self._refuse_numbers(count)
        self.at = end + 1
        return values

    def _refuse_numbers(self, count: int) -> NoReturn:
        """Say what is wrong with the probabilities up to the next semicolon."""
        words = self._until(";", "probabilities")
        for word in words:
            try:
                value = float(word.text)
            except ValueError:
                value = math.nan
            if not 0.0 <= value <= 1.0:
                self._refuse("a probability", word)
        self._refuse(f"{count} probabilities, not {len(words)}", _Token(";", self.at - 1))


def _blanked(match: re.Match[str]) -> str:
    """Return a text in quotation marks as it is, and of a comment the line ends alone."""
    if match[0].startswith('"'):
        return match[0]
    return re.sub(r"[^\n]", " ", match[0])
