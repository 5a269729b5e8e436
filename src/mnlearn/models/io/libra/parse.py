"""Parse the text of a file into factors, or say in one sentence what is malformed.

`+v3_2` holds where variable 3 is in state 2, and `-v3_2` where it is in any other.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from mnlearn.models.cpds import learn, literals_of
from mnlearn.models.dependency_network import LEAF
from mnlearn.models.interactions import allowed_states
from mnlearn.models.io.printed import LARGEST, MAX_VARS
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_text
from mnlearn.variables.schema import Literal, Schema, numbered_schema

# Bounded, because int() refuses numbers of thousands of digits.
INDEX = r"[0-9]{1,18}"
LITERAL = re.compile(rf"([+-])v({INDEX})_({INDEX})")
# States have no names in these formats: they are numbers from 0.
MAX_STATES = 254
# The code of a condition that always holds.
_ALWAYS = -1
_NUMBER = r"-?(?:[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|inf)"
_SPACE = r"[ \t\n]*"
_ROW = rf"{_SPACE}(?:[0-9]+[ \t]+)?({_NUMBER})((?:[ \t]*[+-]v{INDEX}_{INDEX})*)[ \t]*"
_FEATURE = re.compile(rf"{_ROW}\n")
_UNFINISHED_FEATURE = re.compile(_ROW)
_LEAF = re.compile(rf"{_SPACE}({_NUMBER})(?![\w.])")
_TEST = re.compile(rf"{_SPACE}\({_SPACE}v({INDEX})_({INDEX})(?!\w)")
_CPD = re.compile(rf"{_SPACE}v({INDEX})(?!\w)")
_KEYWORD = re.compile(rf"{_SPACE}([A-Za-z]+)(?!\w)")
_WEIGHT_DECLARATION = re.compile(rf"[ \t]+[0-9]+[ \t]+{_NUMBER}(?![\w.])")
_MARK = {mark: re.compile(rf"{_SPACE}{re.escape(mark)}") for mark in "{})"}
_ANYTHING = re.compile(r"[^\s{}()]+|[^ \t\n]")
_BLANK = re.compile(_SPACE)

# In place of a column: a test that a variable of a single state passes.
ALWAYS = -2


class Row(NamedTuple):
    """A weighted conjunction of literals 2 * column + value, ascending."""

    weight: float
    codes: list[int]
    where: int


class Table(NamedTuple):
    """The rows of a `table`: the entry of a state is the sum of the rows that it satisfies."""

    rows: list[Row]
    where: int


class Tree(NamedTuple):
    """A `tree` as it stands in the file: the root first, every parent before its children.

    A node tests the column `var`, which may be ALWAYS; a LEAF has a logarithm as value.
    """

    var: list[int]
    child: list[list[int]]
    value: list[float]
    where: list[int]

    def add(self, var: int, value: float, where: int) -> int:
        """Append a node without children and return its number."""
        self.var.append(var)
        self.child.append([LEAF, LEAF])
        self.value.append(value)
        self.where.append(where)
        return len(self.var) - 1


Factor = Row | Table | Tree


def rows_of(factor: Factor, schema: Schema) -> Iterable[Row]:
    """Return the weighted conjunctions whose sum is the factor."""
    if isinstance(factor, Row):
        return (factor,)
    if isinstance(factor, Table):
        return factor.rows
    return _leaf_rows(factor, schema)


def _leaf_rows(tree: Tree, schema: Schema) -> Iterator[Row]:
    """Yield the path to each leaf that can be reached, with the value of the leaf."""
    paths = {0: {ALWAYS: 1}}
    for node, column in enumerate(tree.var):
        known = paths.pop(node, None)
        if known is None:
            continue
        if column == LEAF:
            codes = sorted(2 * c + x for c, x in literals_of(schema, known))
            yield Row(tree.value[node], codes, tree.where[node])
            continue
        for value, child in enumerate(tree.child[node]):
            if known.get(column, value) == value:
                paths[child] = known if column in known else learn(schema, known, column, value)


class Reader:
    """Recursive descent over the text of one file; `at` is the position reached.

    kind : The keyword that the file must begin with, after its schema.
    """

    def __init__(self, path: Path | str, kind: str) -> None:
        self.path = path
        self.kind = kind
        self.text = read_text(path).replace("\r\n", "\n").replace("\r", "\n")
        self.at = 0
        self.schema = self._schema()
        self._conditions = Conditions(self.schema)
        word = self.take(_KEYWORD)
        if not word or word[1].upper() != kind:
            self.fail(kind, word.start(1) if word else None)
        self.expect("{")

    def refuse(self, message: str, at: int) -> NoReturn:
        """Raise InputError with the file and the line of position `at`."""
        line = self.text.count("\n", 0, min(at, max(len(self.text) - 1, 0))) + 1
        raise InputError(f"{self.path}, line {line}: {message}.")

    def fail(self, expected: str, at: int | None = None) -> NoReturn:
        """Raise InputError that names what was expected and the text found at position `at`."""
        at = self._skip_blank(self.at if at is None else at)
        found = _ANYTHING.match(self.text, at)
        got = _shown(found[0]) if found else "the end of the file"
        self.refuse(f"expected {expected}, got {got}", at)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match `pattern` at the current position and move past the match, if there is one."""
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def expect(self, mark: str) -> None:
        """Move past `mark`; raise InputError if something else is there."""
        if not self.take(_MARK[mark]):
            self.fail(mark)

    def finish(self) -> None:
        """Check that nothing follows the closing brace."""
        if self._skip_blank(self.at) < len(self.text):
            self.fail("nothing after the closing }")

    def factors(self) -> Iterator[Factor]:
        """Yield the factors up to the closing brace; each row of `features` is a factor."""
        while True:
            row = self._row()
            if row:
                yield row
                continue
            if self.take(_MARK["}"]):
                return
            word = self.take(_KEYWORD)
            keyword, where = (word[1].lower(), word.start(1)) if word else ("", self.at)
            if keyword == "features":
                self.expect("{")
                yield from self._rows()
            elif keyword == "table":
                self.expect("{")
                yield Table(list(self._rows()), where)
            elif keyword == "tree":
                self.expect("{")
                yield self._tree()
                self.expect("}")
            elif keyword == "w" and self.kind == "MN":
                # Declarations of weights have no effect, as in Libra.
                if not self.take(_WEIGHT_DECLARATION):
                    self.fail("a weight id and a number")
            else:
                self.fail("a feature, features, table, tree or }", where)

    def target(self) -> tuple[int, int] | None:
        """Move past `vN {` and return N and its position, or move past `}` and return None."""
        if self.take(_MARK["}"]):
            return None
        match = self.take(_CPD)
        if not match:
            self.fail("a CPD such as v0 { or }")
        where = match.start(1)
        try:
            var = self._conditions.variable(match[1])
        except ValueError as error:
            self.refuse(str(error), where)
        self.expect("{")
        return var, where

    def _schema(self) -> Schema:
        """Read the first line and return the variables, whose states are numbers from 0."""
        line = self.text.partition("\n")[0]
        self.at = len(line)
        sizes = [size.strip(" \t") for size in line.split(",")]
        if len(sizes) > 1 and not sizes[-1]:
            sizes.pop()
        if len(sizes) > MAX_VARS:
            self.refuse(f"expected at most {MAX_VARS:,} variables, got {len(sizes):,}", 0)
        for v, size in enumerate(sizes):
            if not re.fullmatch(INDEX, size):
                got = _shown(size) if size else "nothing"
                self.refuse(f"expected a schema such as 2,2,2, got {got}", 0)
            if not 1 <= int(size) <= MAX_STATES:
                expected = f"1 to {MAX_STATES} values of a variable"
                self.refuse(f"expected {expected}, v{v} has {int(size)}", 0)
        return numbered_schema([int(size) for size in sizes])

    def _skip_blank(self, at: int) -> int:
        match = _BLANK.match(self.text, at)
        return match.end() if match else at

    def _row(self) -> Row | None:
        """Read one feature and its line end, or return None if there is no feature here."""
        match = self.take(_FEATURE)
        if not match:
            match = _UNFINISHED_FEATURE.match(self.text, self.at)
            if match:
                self.fail("a literal such as +v0_1 or the end of the line", match.end())
            return None
        weight, literals = match.groups()
        where = match.start(1)
        try:
            codes = self._conditions.codes([found[0] for found in LITERAL.finditer(literals)])
        except ValueError as error:
            self.refuse(str(error), where)
        return Row(self._number(weight, where), codes, where)

    def _number(self, text: str, where: int) -> float:
        """Return a finite number that is not too large, or the infinite one that is written so."""
        number = float(text)
        if abs(number) > LARGEST and not text.endswith("inf"):
            self.refuse(f"expected a number up to {LARGEST:g}, or inf, got {text[:40]}", where)
        return number

    def _rows(self) -> Iterator[Row]:
        """Yield the features up to the closing brace."""
        while row := self._row():
            yield row
        if not self.take(_MARK["}"]):
            self.fail("a feature or }")

    def _tree(self) -> Tree:
        """Read one tree, without its braces."""
        tree = Tree([], [], [], [])
        closing = -1
        agenda = [(LEAF, 0)]  # still to read: a subtree of a node, or its )
        while agenda:
            parent, branch = agenda.pop()
            if branch == closing:
                self.expect(")")
                continue
            if parent != LEAF:
                tree.child[parent][branch] = len(tree.var)
            leaf = self.take(_LEAF)
            if leaf:
                tree.add(LEAF, self._number(leaf[1], leaf.start(1)), leaf.start(1))
                continue
            test = self.take(_TEST)
            if not test:
                self.fail("a number or a test such as (v0_1")
            where = test.start(1)
            column, value = self._test(test[1], test[2], where)
            node = tree.add(column, 0.0, where)
            agenda += [(node, closing), (node, 1 - value), (node, value)]
        return tree

    def _test(self, variable: str, state: str, where: int) -> Literal:
        """Return the column that a test looks at, and its value in the first subtree."""
        try:
            v = self._conditions.variable(variable)
            number = self._conditions.state(v, state)
        except ValueError as error:
            self.refuse(str(error), where)
        return self.schema.literal(v, number) if self.schema[v].n_columns else (ALWAYS, 1)


class Conditions:
    """Reads the conditions of features; a ValueError says what is wrong with one."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._variable_of = schema.variable_of.tolist()
        self._codes: dict[str, int] = {}

    def codes(self, texts: Sequence[str]) -> list[int]:
        """Return the literals 2 * column + value of a conjunction, ascending and none twice."""
        try:
            found = {self._codes[text] for text in texts}
        except KeyError:
            self._codes.update((text, self._code(text)) for text in texts)
            found = {self._codes[text] for text in texts}
        found.discard(_ALWAYS)
        if len({self._variable_of[code >> 1] for code in found}) < len(found):
            found = self._simplified(found)
        return sorted(found)

    def variable(self, digits: str) -> int:
        """Return the number of a variable."""
        if int(digits) >= len(self.schema):
            raise ValueError(
                f"expected a variable from v0 to v{len(self.schema) - 1}, got v{digits}"
            )
        return int(digits)

    def state(self, v: int, digits: str) -> int:
        """Return the number of a state of a variable."""
        arity = self.schema[v].arity
        if int(digits) >= arity:
            last = f"{'or' if arity == 2 else 'to'} {arity - 1}" if arity > 1 else "alone"
            raise ValueError(f"expected value 0 {last} of a variable, got {digits}")
        return int(digits)

    def _code(self, text: str) -> int:
        """Return the code of a condition."""
        match = LITERAL.fullmatch(text)
        assert match
        v = self.variable(match[2])
        state = self.state(v, match[3])
        if self.schema[v].arity == 1:
            if match[1] == "-":
                raise ValueError(f"expected a condition that can hold, v{v} has only the value 0")
            return _ALWAYS
        column, value = self.schema.literal(v, state)
        return 2 * column + (value if match[1] == "+" else 1 - value)

    def _simplified(self, codes: set[int]) -> set[int]:
        """Return the codes with one positive literal of a variable, or only negative ones."""
        out: set[int] = set()
        literals = [(code >> 1, code & 1) for code in codes]
        for v, holds in allowed_states(self.schema, literals).items():
            possible = np.flatnonzero(holds).tolist()
            if not possible and len(holds) == 2:
                raise ValueError("a feature asks one variable for both values")
            if not possible:
                raise ValueError(f"a feature asks v{v} for no value that it can have")
            own = [literal for literal in literals if self._variable_of[literal[0]] == v]
            kept = [self.schema.literal(v, possible[0])] if len(possible) == 1 else own
            out |= {2 * column + value for column, value in kept}
        return out


def condition_texts(schema: Schema) -> list[tuple[str, str]]:
    """Return for each column how a file says that it is 0, and that it is 1."""
    out = []
    for v, variable in enumerate(schema):
        if variable.n_columns == 1:
            out.append((f"+v{v}_0", f"+v{v}_1"))
        elif variable.n_columns:
            out += [(f"-v{v}_{state}", f"+v{v}_{state}") for state in range(variable.arity)]
    return out


def number_text(number: float) -> str:
    """Return the shortest text that reads back exactly, of which Libra's reader takes each.

    Libra refuses an exponent behind a number without a decimal point.
    """
    text = repr(number)
    return text if "." in text else text.replace("e", ".0e")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")
