"""The text of arithmetic circuits (`.ac`).

The first line has the numbers of values of the variables. Then each line is a node, children
before parents: `v VARIABLE VALUE`, `n NUMBER`, `+ CHILD...` or `* CHILD...`. Nodes are numbered
from 0; the root is last. A line `EOF` ends them. Lines `NODE NUMBER LITERAL...` and another `EOF`
may follow: the conjunctions whose parameters the number nodes are. The lines `# names` and
`# states` behind the last `EOF`, which Libra does not read, have the names of the variables and of
their values 0 and 1 as JSON.
"""

import json
import math
import re
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.features import FeatureSet, features_of
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import decode_json, read_text, split_lines, write_text
from mnlearn.runtime.names import check_names, labels_of
from mnlearn.variables.schema import Schema, Variable, binary_schema

# Bounded, because int() refuses numbers of thousands of digits.
_INDEX = re.compile(r"[0-9]{1,18}")
_LITERAL = re.compile(rf"([+-])v({_INDEX.pattern})_([01])")


def write_ac(circuit: ArithmeticCircuit, path: Path | str) -> None:
    """Write a circuit; a weight may differ in its last digit, as the file holds exp(weight)."""
    lines = [f"({' '.join(['2'] * circuit.n_vars)})"]
    lines += [f"v {v} {x}" for v in range(circuit.n_vars) for x in (0, 1)]
    numbers = [repr(_exp(w, path)) for w in circuit.weight.tolist()]
    lines += [f"n {number}" for number in numbers]
    child, start = circuit.child.tolist(), circuit.start.tolist()
    for i, is_sum in enumerate(circuit.is_sum.tolist()):
        sign = "+" if is_sum else "*"
        lines.append(f"{sign} {' '.join(map(str, child[start[i] : start[i + 1]]))}")
    lines.append("EOF")
    if circuit.features is not None:
        lines.append("")
        for k, number in enumerate(numbers):
            literals = "".join(f" +v{v}_{x}" for v, x in circuit.features.literals(k))
            lines.append(f"{2 * circuit.n_vars + k} {number}{literals}")
        lines.append("EOF")
    lines += [
        f"# {key} {json.dumps(given, ensure_ascii=False)}"
        for key, given in (("names", circuit.names), ("states", circuit.states))
        if given is not None
    ]
    write_text(path, "\n".join(lines) + "\n")


def _exp(weight: float, path: Path | str) -> float:
    try:
        return math.exp(weight)
    except OverflowError:
        raise InputError(f"{path}: a parameter of exp({weight:g}) is too large.") from None


def read_ac(path: Path | str) -> ArithmeticCircuit:
    """Read a circuit over binary variables.

    Raises
    ------
    InputError
        Names the line that is malformed, or the node at which a sum is not smooth or a product is
        not decomposable.
    """
    return _Reader(path).circuit()


def _is_index(word: str) -> bool:
    return _INDEX.fullmatch(word) is not None


class _Reader:
    """Collects the nodes of one file; a node of the file is (kind, position among its kind)."""

    def __init__(self, path: Path | str) -> None:
        self.path = path
        self.lines = split_lines(read_text(path))
        self.at = 0
        self.n_vars = self._schema()
        self.nodes: list[tuple[str, int]] = []
        self.weight: list[float] = []
        self.inner: list[tuple[bool, list[int]]] = []

    def circuit(self) -> ArithmeticCircuit:
        """Return the circuit in the file."""
        self._read_nodes()
        features = self._read_features()
        n_literals, n_leaves = 2 * self.n_vars, 2 * self.n_vars + len(self.weight)
        if self.nodes[-1][0] != "inner":
            self.inner.append((False, [len(self.nodes) - 1]))
        offset = {"literal": 0, "parameter": n_literals, "inner": n_leaves}
        place = np.array([offset[kind] + k for kind, k in self.nodes], np.int64)
        length = [len(children) for _, children in self.inner]
        child = place[np.concatenate([children for _, children in self.inner])]
        circuit = ArithmeticCircuit(
            self._variables(),
            np.array([is_sum for is_sum, _ in self.inner], np.uint8),
            np.cumsum([0, *length], dtype=np.int64),
            child.astype(np.int32),
            np.array(self.weight, np.float64),
            features,
        )
        try:
            circuit.check()
        except InputError as error:
            raise InputError(f"{self.path}: {error}") from error
        return circuit

    def _variables(self) -> Schema:
        """Return the variables; their names and states are in the last lines if they have any."""
        names, states = self._named("names"), self._named("states")
        if states is None:
            return binary_schema(self.n_vars, names)
        pairs = zip(labels_of(names, self.n_vars), states, strict=True)
        return Schema(tuple(Variable(*pair) for pair in pairs), names is not None)

    def _named(self, key: str) -> Any:
        """Return the names of variables or of their values in the last lines; None without any."""
        for number, line in enumerate(self.lines[-2:], start=len(self.lines) - 1):
            if not line.startswith(f"# {key} "):
                continue
            where = f"{self.path}, line {number}"
            try:
                given = decode_json(line.removeprefix(f"# {key} "), where)
            except json.JSONDecodeError as error:
                raise InputError(f"{where}: is not JSON: {error.msg}.") from error
            pairs = key == "states"
            if not isinstance(given, list) or len(given) != self.n_vars:
                raise InputError(f"{where}: expected a list for {self.n_vars} variables.")
            texts = [text for own in given for text in (own if isinstance(own, list) else [own])]
            if not all(isinstance(own, list) == pairs for own in given) or not all(
                isinstance(text, str) for text in texts
            ):
                raise InputError(f"{where}: expected texts.")
            if pairs and any(len(own) != 2 for own in given):
                raise InputError(f"{where}: expected two texts for each variable.")
            for own in given if pairs else [given]:
                check_names(own, where)
            return tuple(map(tuple, given)) if pairs else tuple(given)
        return None

    def _schema(self) -> int:
        line = self._line()
        values = line[1:-1].split()
        if (line[:1], line[-1:]) != ("(", ")") or not values or not all(map(_is_index, values)):
            self._refuse("the numbers of values, as in (2 2 2)")
        if set(values) != {"2"}:
            self._refuse("variables of two values")
        return len(values)

    def _line(self) -> str:
        self.at += 1
        if self.at > len(self.lines):
            raise InputError(f"{self.path}: ends too early, expected EOF.")
        return self.lines[self.at - 1].strip()

    def _refuse(self, expected: str) -> NoReturn:
        got = self.lines[self.at - 1].strip()
        raise InputError(f"{self.path}, line {self.at}: expected {expected}, got {got[:60]!r}.")

    def _read_nodes(self) -> None:
        while (line := self._line()) != "EOF":
            sign, _, rest = line.partition(" ")
            words = rest.split()
            if sign == "v":
                if not (len(words) == 2 and _is_index(words[0]) and words[1] in ("0", "1")):
                    self._refuse("v, a variable and a value")
                if int(words[0]) >= self.n_vars:
                    self._refuse(f"a variable from 0 to {self.n_vars - 1}")
                self.nodes.append(("literal", 2 * int(words[0]) + int(words[1])))
            elif sign == "n":
                self.nodes.append(("parameter", len(self.weight)))
                self.weight.append(self._log(rest))
            elif sign in ("+", "*"):
                if not words or not all(_is_index(c) and int(c) < len(self.nodes) for c in words):
                    self._refuse("the numbers of nodes that stand before")
                self.nodes.append(("inner", len(self.inner)))
                self.inner.append((sign == "+", [int(c) for c in words]))
            else:
                self._refuse("a node: v, n, + or *")
        if not self.nodes:
            self._refuse("at least one node")

    def _log(self, text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            self._refuse("n and a number")
        if not 0.0 <= number < math.inf:
            self._refuse("a number of at least 0")
        return math.log(number) if number else -math.inf

    def _read_features(self) -> FeatureSet | None:
        """Return the conjunction of each parameter; None unless every parameter has one."""
        literals: dict[int, list[tuple[int, int]]] = {}
        while self.at < len(self.lines) and (line := self._line()) != "EOF":
            if not line or line.startswith("# "):
                continue
            node, *words = line.split()
            known = _is_index(node) and int(node) < len(self.nodes)
            if not (known and len(words) >= 1 and self.nodes[int(node)][0] == "parameter"):
                self._refuse("the number of a parameter node, a number and literals")
            found = [_LITERAL.fullmatch(word) for word in words[1:]]
            pairs = sorted(
                (int(m[2]), int(m[3]) if m[1] == "+" else 1 - int(m[3])) for m in found if m
            )
            if len(pairs) < len(found) or len({v for v, _ in pairs}) < len(pairs):
                self._refuse("literals of different variables, as in +v0_1")
            if any(v >= self.n_vars for v, _ in pairs):
                self._refuse(f"variables from 0 to {self.n_vars - 1}")
            literals[self.nodes[int(node)][1]] = pairs
        if len(literals) < len(self.weight) or not literals:
            return None
        return features_of(literals[k] for k in range(len(self.weight)))
