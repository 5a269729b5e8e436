"""The Bayesian network interchange format (`.bif`, version 0.15), also as JavaBayes writes it.

Where commas separate names, a name may contain blanks. The blocks may be in any order.
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
from mnlearn.models.cpds import CpdTable
from mnlearn.models.io.printed import check_sums, fault_of, numbers
from mnlearn.models.io.xmlbif import parse_xml
from mnlearn.runtime.errors import InputError, name_file
from mnlearn.runtime.files import read_text, write_text
from mnlearn.variables.arrays import states_of
from mnlearn.variables.schema import Schema, Variable

MAX_PARENTS = 20
MAX_CELLS = 1 << (MAX_PARENTS + 1)
_MARKS = frozenset("[]{}()|;")
_PLAIN = re.compile(r"[A-Za-z0-9_.+-]+")
# What is no comment comes first: texts in quotation marks, and the address in a property.
_COMMENT = re.compile(r'"[^"\n]*"|\bproperty\b[^;\n"]*;|//[^\n]*|/\*.*?\*/', re.DOTALL)
# As a bare word it would begin a property.
_PROPERTY = re.compile(r"\bproperty\b")
_BLANK = re.compile(r"[\s,]*")
_TOKEN = re.compile(r'"(?P<quoted>[^"\n]*)"|(?P<mark>[][{}()|;])|(?P<word>[^\s,"{}()|;\[\]]+)')
# What is up to a closing brace, or the end of the file.
_BLOCK = re.compile(r'(?:"[^"\n]*"|[^"}])*}?')
_DECIMAL_COMMA = re.compile(r"[0-9]+,[0-9]+")
_COUNT = re.compile(r"[0-9]{1,6}")


class _Token(NamedTuple):
    text: str
    at: int


class _Variable(NamedTuple):
    name: str
    number: int
    states: list[str]


def read_bif(path: Path | str) -> BayesianNetwork:
    """Read a Bayesian network, whose conditional distributions become tables; or XMLBIF."""
    text = read_text(path)
    return (parse_xml if text.lstrip().startswith("<") else parse_bif)(text, str(path))


def parse_bif(text: str, where: str) -> BayesianNetwork:
    """Return the network of a text; see `read_bif`. Sentences of errors begin with `where`."""
    reader = _Reader(where, text)
    reader.read()
    with name_file(where):
        variables = (Variable(name, states_of(v.states)) for name, v in reader.variables.items())
        return network_of_tables(Schema(tuple(variables)), reader.tables)


def write_bif(network: BayesianNetwork, path: Path | str) -> None:
    """Write a Bayesian network; each CPD becomes a complete table."""
    word = partial(_quoted, path=path)
    schema = network.schema
    names = [word(variable.name) for variable in schema]
    states = [[word(text) for text in variable.texts] for variable in schema]
    lines = ["network unknown {", "}"]
    for name, own in zip(names, states, strict=True):
        lines += [f"variable {name} {{"]
        lines += [f"  type discrete [ {len(own)} ] {{ {', '.join(own)} }};", "}"]
    for v, name in enumerate(names):
        with name_file(path):
            parents, prob = network.table(v)
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
    if _PLAIN.fullmatch(name) and not _PROPERTY.search(name):
        return name
    if '"' in name or "\n" in name or name in _MARKS:
        raise InputError(
            f"{path}: the name {name!r} cannot be written to a .bif file; .npz and .ac keep it."
        )
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
        """Read all variables, and then the tables, which may stand before the variables."""
        tables = []
        while self._skip_blank() < len(self.text):
            word = self._next("network, variable or probability")
            keyword = word.text.lower()
            if keyword == "network":
                self._until("{", "the name of the network")
                self._skip_past("}")
            elif keyword == "variable":
                self._read_variable()
            elif keyword == "probability":
                tables.append(self.at)
                block = _BLOCK.match(self.text, self.at)
                assert block
                self.at = block.end()
            else:
                self._refuse("network, variable or probability", word)
        for self.at in tables:
            self._read_probability()
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
        self._fault(f"expected {expected}, got {got.text[:40]!r}.", got.at)

    def _fault(self, fault: str, at: int) -> NoReturn:
        raise InputError(f"{self.path}, line {self._line(at)}: {fault}")

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
        if token.text.lower() != text:
            self._refuse(text, token)

    def _until(self, mark: str, expected: str, skipped: str = "") -> list[_Token]:
        """Return the words before a mark and move past it; another mark may stand before them."""
        out: list[_Token] = []
        while (token := self._next(mark)).text != mark:
            if token.text == skipped and not out:
                skipped = ""
                continue
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
            if token.text.lower() == "property":
                self._skip_past(";")
                continue
            if token.text.lower() != "type":
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
        self.variables[name.text] = _Variable(name.text, len(self.variables), states)

    def _variable(self, token: _Token) -> _Variable:
        if token.text not in self.variables:
            self._refuse("a variable that is declared", token)
        return self.variables[token.text]

    def _read_probability(self) -> None:
        self._expect("(")
        head = self._word("the name of a variable")
        own = self._variable(head)
        if own.number in self.tables:
            self._refuse("one CPD of each variable", head)
        words = self._until(")", "parents", skipped="|")
        parents = [self._variable(word) for word in words]
        if len({own.number, *(p.number for p in parents)}) <= len(parents):
            self._refuse("different variables", head)
        if len(parents) > MAX_PARENTS:
            self._refuse(f"at most {MAX_PARENTS} parents", head)
        table = self._read_table(parents, own, head)
        self.tables[own.number] = CpdTable(tuple(p.number for p in parents), table)

    def _read_table(
        self, parents: list[_Variable], own: _Variable, head: _Token
    ) -> NDArray[np.float64]:
        """Return the probabilities up to the closing brace, the variable on the last axis."""
        shape = [len(variable.states) for variable in (*parents, own)]
        if math.prod(shape) > MAX_CELLS:
            self._refuse(f"at most {MAX_CELLS} probabilities of one variable", self._next("{"))
        table, default = np.empty(shape), None
        is_given = np.zeros(shape[:-1], bool)
        self._expect("{")
        while (token := self._next("}")).text != "}":
            keyword = token.text.lower()
            if keyword == "property":
                self._skip_past(";")
            elif keyword == "table":
                if is_given.any():
                    self._fault(f"{own.name} has probabilities before this table.", token.at)
                table[...] = self._numbers(parents, own, token)
                is_given[...] = True
            elif keyword == "default":
                if default is not None:
                    self._fault(f"{own.name} has a second default.", token.at)
                default = self._numbers([], own, token)
            elif token.text == "(":
                row = self._states(parents, token)
                if is_given[row]:
                    given = ", ".join(p.states[k] for p, k in zip(parents, row, strict=True))
                    self._fault(f"the row ({given}) of {own.name} is there twice.", token.at)
                table[row] = self._numbers([], own, token)
                is_given[row] = True
            else:
                self._refuse("table, default or the states of the parents", token)
        if default is not None:
            table[~is_given] = default
        elif not is_given.all():
            row = tuple(np.argwhere(~is_given)[0].tolist())
            pairs = zip(parents, row, strict=True)
            given = ", ".join(f"{p.name}={p.states[k]}" for p, k in pairs)
            self._fault(f"expected probabilities of {own.name} given {given}, found none.", head.at)
        return table

    def _states(self, parents: list[_Variable], begin: _Token) -> tuple[int, ...]:
        """Return the numbers of the states of parents up to the closing bracket."""
        states = self._names(")", len(parents), "states of the parents")
        if len(states) != len(parents):
            self._refuse(f"{len(parents)} states of parents", begin)
        for parent, state in zip(parents, states, strict=True):
            if state.text not in parent.states:
                self._refuse(f"{' or '.join(parent.states)}", state)
        pairs = zip(parents, states, strict=True)
        return tuple(parent.states.index(state.text) for parent, state in pairs)

    def _numbers(
        self, parents: list[_Variable], own: _Variable, begin: _Token
    ) -> NDArray[np.float64]:
        """Return the probabilities up to the next semicolon, an axis for each parent first."""
        end = self.text.find(";", self.at)
        words = self.text[self.at : end].replace(",", " ").split()
        values = numbers(words)
        shape = [len(parent.states) for parent in parents]
        count = math.prod((*shape, len(own.states)))
        if end < 0 or values is None or len(values) != count:
            self._refuse_numbers(count, len(own.states))
        # In the file the variable itself changes slowest, in the table fastest.
        prob = np.moveaxis(values.reshape(-1, *shape), 0, -1)
        try:
            check_sums(prob, words, own.name, [(p.name, p.states) for p in parents])
        except InputError as error:
            self._fault(error.fault, begin.at)
        self.at = end + 1
        return prob

    def _refuse_numbers(self, count: int, n_states: int) -> NoReturn:
        """Say what is wrong with the probabilities up to the next semicolon."""
        begin = self.at
        words = self._until(";", "probabilities")
        parts = self.text[begin : self.at - 1].split()
        if len(parts) == count and all(map(_DECIMAL_COMMA.fullmatch, parts)):
            point = parts[0].replace(",", ".")
            self._fault(f"decimal commas are not read; write {point} for {parts[0]}.", words[0].at)
        texts = [word.text for word in words]
        fault = fault_of(texts, n_states)
        if fault is not None:
            self._fault(fault[1], words[fault[0]].at)
        self._fault(f"expected {count} probabilities, not {len(words)}.", self.at - 1)


def _blanked(match: re.Match[str]) -> str:
    """Return a text in quotation marks as it is, and of a comment the line ends alone."""
    if match[0].startswith('"'):
        return match[0]
    return re.sub(r"[^\n]", " ", match[0])
