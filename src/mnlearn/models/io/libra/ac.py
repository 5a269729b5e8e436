"""The text of arithmetic circuits (`.ac`).

The first line has the numbers of values of the variables. Then each line is a node, children
before parents: `v VARIABLE VALUE`, `n NUMBER`, `+ CHILD...` or `* CHILD...`. Nodes are numbered
from 0; the root is last. A line `EOF` ends them. Lines `NODE NUMBER LITERAL...` and another `EOF`
may follow: the conjunctions whose parameters the number nodes are.
"""

import math
import re
from pathlib import Path
from typing import NoReturn

import numpy as np

from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.features import FeatureSet, features_of
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_text, write_text

_LITERAL = re.compile(r"([+-])v([0-9]+)_([01])")


def write_ac(circuit: ArithmeticCircuit, path: Path | str) -> None:
    """Write a circuit; a weight may differ in its last digit, as the file holds exp(weight)."""
    lines = [f"({' '.join(['2'] * circuit.n_vars)})"]
    lines += [f"v {v} {x}" for v in range(circuit.n_vars) for x in (0, 1)]
    numbers = [repr(_exp(w)) for w in circuit.weight.tolist()]
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
    write_text(path, "\n".join(lines) + "\n")


def _exp(weight: float) -> float:
    try:
        return math.exp(weight)
    except OverflowError:
        raise InputError(
            f"circuit: a parameter of exp({weight:g}) is too large to write."
        ) from None


def read_ac(path: Path | str) -> ArithmeticCircuit:
    """Read a circuit over binary variables.

    Raises
    ------
    InputError
        Names the line that is malformed, or the node at which a sum is not smooth or a product is
        not decomposable.
    """
    return _Reader(path).circuit()


class _Reader:
    """Collects the nodes of one file; a node of the file is (kind, position among its kind)."""

    def __init__(self, path: Path | str) -> None:
        self.path = path
        self.lines = read_text(path).splitlines()
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
            self.n_vars,
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

    def _schema(self) -> int:
        match = re.fullmatch(r"\(\s*((?:[0-9]+\s*)+)\)", self._line())
        if not match:
            self._refuse("the numbers of values, as in (2 2 2)")
        values = match[1].split()
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
                if not (len(words) == 2 and words[0].isdecimal() and words[1] in ("0", "1")):
                    self._refuse("v, a variable and a value")
                if int(words[0]) >= self.n_vars:
                    self._refuse(f"a variable from 0 to {self.n_vars - 1}")
                self.nodes.append(("literal", 2 * int(words[0]) + int(words[1])))
            elif sign == "n":
                self.nodes.append(("parameter", len(self.weight)))
                self.weight.append(self._log(rest))
            elif sign in ("+", "*"):
                if not words or not all(c.isdecimal() and int(c) < len(self.nodes) for c in words):
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
            if not line:
                continue
            node, *words = line.split()
            known = node.isdecimal() and int(node) < len(self.nodes)
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
