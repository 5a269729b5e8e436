"""The text of arithmetic circuits (`.ac`), and d-DNNF (`.nnf`), write only.

The first line has the numbers of values, and each further line a node, children first: `v VARIABLE
VALUE`, `n NUMBER`, `+ CHILD...` or `* CHILD...`. Behind `EOF`, lines `NODE NUMBER LITERAL...` have
conjunctions; the last lines `# names` and `# states` are JSON, which Libra does not read.
"""

import csv
import io
import json
import math
import re
import sys
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from mnlearn.models.circuit import ArithmeticCircuit, state_leaves
from mnlearn.models.features import FeatureSet, features_of
from mnlearn.models.io.libra.parse import (
    INDEX,
    LITERAL,
    MAX_STATES,
    Conditions,
    condition_texts,
    number_text,
)
from mnlearn.models.io.printed import MAX_VARS
from mnlearn.runtime.atomic import atomic_path
from mnlearn.runtime.errors import InputError, name_file
from mnlearn.runtime.files import compress_for, decode_json, read_text, split_lines, write_text
from mnlearn.runtime.names import check_names, guarded
from mnlearn.runtime.progress import say
from mnlearn.variables.schema import Schema, numbered_schema
from mnlearn.variables.variable import is_numbered, variable_of

_INDEX = re.compile(INDEX)
# A node: a literal, a parameter, a sum or a product by its number, or the number 1, which is the
# literal of a variable of one state.
_Node = tuple[str, int]
_ONE: _Node = ("one", 0)


def write_ac(circuit: ArithmeticCircuit, path: Path | str) -> None:
    """Write a circuit; a weight may differ in its last digit, as the file holds exp(weight)."""
    schema, n_literals = circuit.schema, 2 * circuit.n_columns
    states = [(v, x) for v, own in enumerate(schema) if own.n_columns for x in range(own.arity)]
    lines = [f"({' '.join(map(str, schema.arity.tolist()))})"]
    lines += [f"v {v} {x}" for v, x in states]
    place = np.full(circuit.n_nodes, -1)
    place[state_leaves(schema)] = np.arange(len(states))
    place[n_literals:] = len(states) + np.arange(circuit.n_nodes - n_literals)
    numbers = [number_text(_exp_of(w, path)) for w in circuit.weight.tolist()]
    lines += [f"n {number}" for number in numbers]
    child, start = place[circuit.child].tolist(), circuit.start.tolist()
    for i, is_sum in enumerate(circuit.is_sum.tolist()):
        sign = "+" if is_sum else "*"
        lines.append(f"{sign} {' '.join(map(str, child[start[i] : start[i + 1]]))}")
    singles = np.flatnonzero(schema.arity == 1).tolist()
    if singles:
        first = len(lines) - 1
        lines += [f"v {v} 0" for v in singles]
        lines.append(f"* {' '.join(map(str, range(first - 1, first + len(singles))))}")
    lines.append("EOF")
    if circuit.features is not None:
        lines.append("")
        text = condition_texts(schema)
        for k, number in enumerate(numbers):
            literals = "".join(f" {text[c][x]}" for c, x in circuit.features.literals(k))
            lines.append(f"{len(states) + k} {number}{literals}")
        lines.append("EOF")
    write_text(path, "\n".join([*lines, *_last_lines(schema)]) + "\n")


def _last_lines(schema: Schema) -> list[str]:
    """Return the lines of names and of states, unless the states are numbers from 0."""
    given: dict[str, Any] = {"names": schema.names} if schema.is_named else {}
    if not all(is_numbered(variable.states) for variable in schema):
        given["states"] = [variable.states for variable in schema]
    texts = {key: json.dumps(own, ensure_ascii=False, default=str) for key, own in given.items()}
    return [f"# {key} {text}" for key, text in texts.items()]


def write_nnf(circuit: ArithmeticCircuit, path: Path | str) -> None:
    """Write a circuit as d-DNNF, in the form of the compiler d4, and its weights to a second file.

    Nodes are `o N 0` (sum), `a N 0` (product) and `t N 0` (the constant 1), the root first; edges
    are `PARENT CHILD LITERAL... 0`. Literal c says that column c is 1, -c that it is 0.
    """
    weights = _weights(circuit, path)
    n_inner = len(circuit.is_sum)
    # The root is the last inner node, and number 1; the constant has the highest number.
    number = {circuit.n_leaves + i: n_inner - i for i in range(n_inner)}
    constant = n_inner + 1
    lines = [f"{'o' if is_sum else 'a'} {n_inner - i} 0" for i, is_sum in enumerate(circuit.is_sum)]
    lines = [*reversed(lines), f"t {constant} 0"]
    start, child = circuit.start.tolist(), circuit.child.tolist()
    for i, is_sum in enumerate(circuit.is_sum.tolist()):
        own = child[start[i] : start[i + 1]]
        parent = n_inner - i
        literals = [" ".join(map(str, _literals(circuit, c))) for c in own if c < circuit.n_leaves]
        lines += [f"{parent} {number[c]} 0" for c in own if c >= circuit.n_leaves]
        if is_sum:
            lines += [f"{parent} {constant} {literal} 0" for literal in literals]
        elif literals:
            lines.append(f"{parent} {constant} {' '.join(literals)} 0")
    # Both files or none.
    with atomic_path(f"{path}.csv") as of_weights, atomic_path(path) as of_circuit:
        of_weights.write_text(weights, encoding="utf-8")
        of_circuit.write_bytes(compress_for(path, ("\n".join(lines) + "\n").encode()))


def _literals(circuit: ArithmeticCircuit, leaf: int) -> list[int]:
    """Return the literals of a leaf of the circuit, that of its own column first."""
    schema = circuit.schema
    if leaf >= 2 * circuit.n_columns:
        return [leaf - circuit.n_columns + 1]
    column, value = divmod(leaf, 2)
    others = [c for c in schema.columns(int(schema.variable_of[column])) if c != column]
    return [column + 1 if value else -(column + 1), *(-(c + 1) for c in others)]


def _weights(circuit: ArithmeticCircuit, path: Path | str) -> str:
    """Return the table of variables, weights of both literals, and meanings."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["variable", "positive", "negative", "name"])
    for c, label in enumerate(circuit.schema.column_labels, start=1):
        writer.writerow([c, 1.0, 1.0, guarded(label)])
    for k, weight in enumerate(circuit.weight.tolist(), start=circuit.n_columns + 1):
        writer.writerow([k, repr(_exp_of(weight, path)), 1.0, ""])
    return text.getvalue()


def _exp_of(weight: float, path: Path | str) -> float:
    """Return the parameter that a circuit has as a logarithm."""
    try:
        found = math.exp(weight)
    except OverflowError:
        raise InputError(f"{path}: a parameter of exp({weight:g}) is too large.") from None
    if found < sys.float_info.min and weight > -math.inf:
        raise InputError(f"{path}: a parameter of exp({weight:g}) is too small.")
    return found


def read_ac(path: Path | str) -> ArithmeticCircuit:
    """Read a circuit."""
    return _Reader(path).circuit()


def _is_index(word: str) -> bool:
    return _INDEX.fullmatch(word) is not None


class _Reader:
    """Collects the nodes of one file."""

    def __init__(self, path: Path | str) -> None:
        self.path = path
        self.lines = split_lines(read_text(path))
        self.at = 0
        self.schema = self._variables(self._arity())
        self.nodes: list[_Node] = []
        self.weight: list[float] = []
        self.inner: list[tuple[bool, list[_Node]]] = []
        # The parameters that stand for the number 1.
        self.ones: list[int] = []

    def circuit(self) -> ArithmeticCircuit:
        """Return the circuit in the file."""
        self._read_nodes()
        root = self.nodes[-1]
        if root != ("inner", len(self.inner) - 1):
            root = self._parameter(1.0) if root == _ONE else root
            self.inner.append((False, [root]))
        self._add_free_variables()
        features = self._read_features()
        n_literals = 2 * self.schema.n_columns
        offset = {
            "literal": 0,
            "parameter": n_literals,
            "inner": n_literals + len(self.weight),
        }
        child = [offset[kind] + k for _, children in self.inner for kind, k in children]
        circuit = ArithmeticCircuit(
            self.schema,
            np.array([is_sum for is_sum, _ in self.inner], np.uint8),
            np.cumsum([0, *(len(children) for _, children in self.inner)], dtype=np.int64),
            np.array(child, np.int32),
            np.array(self.weight, np.float64),
            features,
        )
        with name_file(self.path):
            circuit.check()
        return circuit

    def _add_free_variables(self) -> None:
        """Multiply the root by all states of the variables that it does not depend on.

        Libra's `acopt` cuts variables whose states are known out of a circuit.
        """
        used = {k // 2 for _, below in self.inner for kind, k in below if kind == "literal"}
        seen = {int(self.schema.variable_of[column]) for column in used}
        free = [v for v, own in enumerate(self.schema) if own.n_columns and v not in seen]
        if not free:
            return
        names = ", ".join(self.schema.names[v] for v in free[:8]) + (", ..." if free[8:] else "")
        say(f"{self.path}: does not mention {names}; all states of a variable count alike.")
        factors: list[_Node] = [("inner", len(self.inner) - 1)]
        for v in free:
            literals = (self.schema.literal(v, x) for x in range(self.schema[v].arity))
            self.inner.append((True, [("literal", 2 * c + x) for c, x in literals]))
            factors.append(("inner", len(self.inner) - 1))
        self.inner.append((False, factors))

    def _variables(self, arity: list[int]) -> Schema:
        """Return the variables; their names and states are in the last lines if they have any."""
        plain = numbered_schema(arity)
        names, states = self._named("names", plain), self._named("states", plain)
        if names is None and states is None:
            return plain
        with name_file(self.path):
            pairs = zip(names or plain.names, states or (v.states for v in plain), strict=True)
            return Schema(tuple(variable_of(n, s) for n, s in pairs), names is not None)

    def _named(self, key: str, plain: Schema) -> list[Any] | None:
        """Return the names or the states of variables in the last lines; None without any."""
        # Other lines may follow them.
        for number in range(len(self.lines), 0, -1):
            line = self.lines[number - 1]
            if line.strip() == "EOF":
                break
            if not line.startswith(f"# {key} "):
                continue
            where = f"{self.path}, line {number}"
            try:
                given = decode_json(line.removeprefix(f"# {key} "), where)
            except json.JSONDecodeError as error:
                raise InputError(f"{where}: is not JSON: {error.msg}.") from error
            if not isinstance(given, list) or len(given) != len(plain):
                raise InputError(f"{where}: expected a list for {len(plain)} variables.")
            if key == "names":
                if not all(isinstance(own, str) for own in given):
                    raise InputError(f"{where}: expected texts.")
                return list(check_names(given, where))
            for v, own in enumerate(given):
                k = plain[v].arity
                if not isinstance(own, list) or len(own) != k:
                    raise InputError(f"{where}: expected a list of {k} states of variable {v}.")
                if not all(isinstance(state, str | int | float) for state in own):
                    raise InputError(f"{where}: expected texts or numbers.")
            return given
        return None

    def _arity(self) -> list[int]:
        line = self._line()
        values = line[1:-1].split()
        if (line[:1], line[-1:]) != ("(", ")") or not values or not all(map(_is_index, values)):
            self._refuse("the numbers of values, as in (2 2 2)")
        if len(values) > MAX_VARS:
            self._refuse(f"at most {MAX_VARS:,} variables")
        if not all(1 <= int(value) <= MAX_STATES for value in values):
            self._refuse(f"variables of 1 to {MAX_STATES} values")
        return [int(value) for value in values]

    def _line(self) -> str:
        self.at += 1
        if self.at > len(self.lines):
            raise InputError(f"{self.path}: ends too early, expected EOF.")
        return self.lines[self.at - 1].strip()

    def _refuse(self, expected: str) -> NoReturn:
        got = self.lines[self.at - 1].strip()
        raise InputError(f"{self.path}, line {self.at}: expected {expected}, got {got[:60]!r}.")

    def _read_nodes(self) -> None:
        while (line := self._line()).upper() != "EOF":
            sign, _, rest = line.partition(" ")
            words = rest.split()
            if sign == "v":
                self.nodes.append(self._literal(words))
            elif sign == "n":
                self.nodes.append(self._parameter(self._number(rest)))
            elif sign in ("+", "*"):
                if not words or not all(_is_index(c) and int(c) < len(self.nodes) for c in words):
                    self._refuse("the numbers of nodes that stand before")
                children = [self.nodes[int(c)] for c in words]
                self.nodes.append(self._sum(children) if sign == "+" else self._product(children))
            else:
                self._refuse("a node: v, n, + or *")
        if not self.nodes:
            self._refuse("at least one node")

    def _literal(self, words: list[str]) -> _Node:
        if not (len(words) == 2 and all(map(_is_index, words))):
            self._refuse("v, a variable and a value")
        v, state = map(int, words)
        if v >= len(self.schema):
            self._refuse(f"a variable from 0 to {len(self.schema) - 1}")
        if state >= self.schema[v].arity:
            self._refuse("v, a variable and a value")
        if not self.schema[v].n_columns:
            return _ONE
        column, value = self.schema.literal(v, state)
        return "literal", 2 * column + value

    def _parameter(self, number: float) -> _Node:
        self.weight.append(math.log(number) if number else -math.inf)
        return "parameter", len(self.weight) - 1

    def _sum(self, children: list[_Node]) -> _Node:
        if children == [_ONE]:
            return _ONE
        if _ONE in children:
            one = self._parameter(1.0)
            self.ones.append(one[1])
            children = [one if child == _ONE else child for child in children]
        self.inner.append((True, children))
        return "inner", len(self.inner) - 1

    def _product(self, children: list[_Node]) -> _Node:
        """Return the product; the number 1 is no factor, and one other factor is the product."""
        factors = [child for child in children if child != _ONE]
        if len(factors) < len(children) and len(factors) <= 1:
            return factors[0] if factors else _ONE
        self.inner.append((False, factors))
        return "inner", len(self.inner) - 1

    def _number(self, text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            self._refuse("n and a number")
        if not 0.0 <= number < math.inf:
            self._refuse("a number of at least 0")
        return number

    def _read_features(self) -> FeatureSet | None:
        """Return the conjunction of each parameter; None unless every parameter has just one.

        Libra's compiler writes equal numbers as one node, which then has several conjunctions.
        """
        literals: dict[int, list[tuple[int, int]]] = {}
        n_given = 0
        conditions = Conditions(self.schema)
        while self.at < len(self.lines) and (line := self._line()) != "EOF":
            if not line or line.startswith("# "):
                continue
            node, *words = line.split()
            known = _is_index(node) and int(node) < len(self.nodes)
            if not (known and len(words) >= 1 and self.nodes[int(node)][0] == "parameter"):
                self._refuse("the number of a parameter node, a number and literals")
            if not all(map(LITERAL.fullmatch, words[1:])):
                self._refuse("literals, as in +v0_1")
            try:
                codes = conditions.codes(words[1:])
            except ValueError as error:
                raise InputError(f"{self.path}, line {self.at}: {error}.") from error
            literals[self.nodes[int(node)][1]] = [(code >> 1, code & 1) for code in codes]
            n_given += 1
        if not literals or len(literals) < n_given:
            return None
        literals |= {k: [] for k in self.ones}
        if len(literals) < len(self.weight):
            return None
        return features_of(literals[k] for k in range(len(self.weight)))
