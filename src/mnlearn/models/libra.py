"""Libra's text forms: Markov networks (`.mn`) and dependency networks (`.dn`).

Read are all kinds of factors, over binary variables only. The reader accepts line ends around
braces and inside trees where Libra does not, and refuses what Libra lets pass but cannot be meant:
a conjunction that asks one variable for both values (Libra drops all but its first literal), two
CPDs or none for a variable, values other than 0 and 1, and text after the closing brace. The forms
have no names of variables.
"""

import math
import re
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import read_only
from mnlearn.errors import InputError
from mnlearn.files import read_text, write_text
from mnlearn.models.dependency_network import LEAF, DependencyNetwork, Trees
from mnlearn.models.features import FeatureSet, feature_set
from mnlearn.models.markov_network import MarkovNetwork, markov_network

MAX_TABLE_PARENTS = 20

# Log-probabilities that sum to one this closely are taken as they are, so that what `write_dn`
# writes is read back to the last bit. Libra's own files carry seven digits.
_NORMALISED = 1e-12

_NUMBER = r"-?(?:[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|inf)"
# Bounded, because int() refuses numbers of thousands of digits.
_INDEX = r"[0-9]{1,18}"
_SPACE = r"[ \t\n]*"
_ROW = rf"{_SPACE}(?:[0-9]+[ \t]+)?({_NUMBER})((?:[ \t]*[+-]v{_INDEX}_{_INDEX})*)[ \t]*"
_FEATURE = re.compile(rf"{_ROW}\n")
_UNFINISHED_FEATURE = re.compile(_ROW)
_LITERAL = re.compile(rf"([+-])v({_INDEX})_({_INDEX})")
_LITERAL_TEXT = re.compile(rf"[+-]v{_INDEX}_{_INDEX}")
_LEAF = re.compile(rf"{_SPACE}({_NUMBER})(?![\w.])")
_TEST = re.compile(rf"{_SPACE}\({_SPACE}v({_INDEX})_({_INDEX})(?!\w)")
_CPD = re.compile(rf"{_SPACE}v({_INDEX})(?!\w)")
_KEYWORD = re.compile(rf"{_SPACE}([A-Za-z]+)(?!\w)")
_WEIGHT_DECLARATION = re.compile(rf"[ \t]+[0-9]+[ \t]+{_NUMBER}(?![\w.])")
_MARK = {mark: re.compile(rf"{_SPACE}{re.escape(mark)}") for mark in "{})"}
_ANYTHING = re.compile(r"[^\s{}()]+|[^ \t\n]")
_BLANK = re.compile(_SPACE)


class _Row(NamedTuple):
    """A weighted conjunction; a literal is coded as 2 * variable + value, codes ascending."""

    weight: float
    codes: list[int]
    where: int


class _Table(NamedTuple):
    """The rows of a `table`: the entry of a state is the sum of the rows that it satisfies."""

    rows: list[_Row]
    where: int


class _Tree(NamedTuple):
    """A `tree` as it stands in the file, root first, every parent before its children.

    var : variable tested at each node, or LEAF. child : nodes for its values 0 and 1.
    value : log value of each leaf. where : position in the text.
    """

    var: list[int]
    child: list[list[int]]
    value: list[float]
    where: list[int]

    def add(self, var: int, value: float, where: int) -> int:
        """Append a node without children and return it."""
        self.var.append(var)
        self.child.append([LEAF, LEAF])
        self.value.append(value)
        self.where.append(where)
        return len(self.var) - 1


class _TargetTree(NamedTuple):
    """A tree over the parents of a CPD, nodes ordered as in `Trees`.

    value : float64, shape (n_nodes, 2). Log value of each leaf for either value of the target.
    where : int64, shape (n_nodes,). Position of each leaf in the text.
    """

    split_var: NDArray
    child: NDArray
    value: NDArray
    where: NDArray


class _Reader:
    """Recursive descent over the text of one file; `at` is the position reached."""

    def __init__(self, path: Path | str, kind: str) -> None:
        self.path = path
        self.kind = kind
        self.text = read_text(path).replace("\r\n", "\n").replace("\r", "\n")
        self.at = 0
        self.n_vars = self._schema()
        self._code_of: dict[str, int] = {}
        word = self.take(_KEYWORD)
        if not word or word[1].upper() != kind:
            self.fail(kind, word.start(1) if word else None)
        self.expect("{")

    def refuse(self, message: str, at: int) -> NoReturn:
        """Raise InputError with the file and the line of position `at`."""
        line = self.text.count("\n", 0, min(at, max(len(self.text) - 1, 0))) + 1
        raise InputError(f"{self.path}, line {line}: {message}.")

    def fail(self, expected: str, at: int | None = None) -> NoReturn:
        """Raise InputError: `expected` was expected, and what stands at `at` was found."""
        at = self._skip_blank(self.at if at is None else at)
        found = _ANYTHING.match(self.text, at)
        got = _shown(found[0]) if found else "the end of the file"
        self.refuse(f"expected {expected}, got {got}", at)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match `pattern` here and move past it."""
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def expect(self, mark: str) -> None:
        """Move past `mark`."""
        if not self.take(_MARK[mark]):
            self.fail(mark)

    def finish(self) -> None:
        """Check that nothing follows the closing brace."""
        if self._skip_blank(self.at) < len(self.text):
            self.fail("nothing after the closing }")

    def factors(self) -> Iterator[_Row | _Table | _Tree]:
        """Yield the factors up to the closing brace; those of `features` row by row."""
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
                yield _Table(list(self._rows()), where)
            elif keyword == "tree":
                self.expect("{")
                yield self._tree()
                self.expect("}")
            elif keyword == "w" and self.kind == "MN":
                # Libra, too, drops the declarations of weights.
                if not self.take(_WEIGHT_DECLARATION):
                    self.fail("a weight id and a number")
            else:
                self.fail("a feature, features, table, tree or }", where)

    def target(self) -> tuple[int, int] | None:
        """Move past `vN {` and return N and the position, or past `}` and return None."""
        if self.take(_MARK["}"]):
            return None
        match = self.take(_CPD)
        if not match:
            self.fail("a CPD such as v0 { or }")
        var = self._variable(match[1], match.start(1))
        self.expect("{")
        return var, match.start(1)

    def _schema(self) -> int:
        """Read the first line and return the number of variables."""
        line = self.text.partition("\n")[0]
        self.at = len(line)
        sizes = [size.strip(" \t") for size in line.split(",")]
        if len(sizes) > 1 and not sizes[-1]:
            sizes.pop()
        for v, size in enumerate(sizes):
            if not re.fullmatch(_INDEX, size):
                got = _shown(size) if size else "nothing"
                self.refuse(f"expected a schema such as 2,2,2, got {got}", 0)
            if int(size) != 2:
                self.refuse(f"expected binary variables, v{v} has {int(size)} values", 0)
        return len(sizes)

    def _skip_blank(self, at: int) -> int:
        match = _BLANK.match(self.text, at)
        return match.end() if match else at

    def _row(self) -> _Row | None:
        """Read one feature and its line end, or return None if there is no feature here."""
        match = self.take(_FEATURE)
        if not match:
            match = _UNFINISHED_FEATURE.match(self.text, self.at)
            if match:
                self.fail("a literal such as +v0_1 or the end of the line", match.end())
            return None
        weight, literals = match.groups()
        where = match.start(1)
        texts = _LITERAL_TEXT.findall(literals)
        try:
            codes = {self._code_of[text] for text in texts}
        except KeyError:
            self._code_of.update((text, self._code(text, where)) for text in texts)
            codes = {self._code_of[text] for text in texts}
        if len({code >> 1 for code in codes}) < len(codes):
            self.refuse("a feature asks one variable for both values", where)
        return _Row(float(weight), sorted(codes), where)

    def _rows(self) -> Iterator[_Row]:
        """Yield the features up to the closing brace."""
        while row := self._row():
            yield row
        if not self.take(_MARK["}"]):
            self.fail("a feature or }")

    def _tree(self) -> _Tree:
        """Read one tree, without its braces."""
        tree = _Tree([], [], [], [])
        closing = -1
        agenda = [(LEAF, 0)]  # what is still to come: a subtree of a node, or its )
        while agenda:
            parent, branch = agenda.pop()
            if branch == closing:
                self.expect(")")
                continue
            if parent != LEAF:
                tree.child[parent][branch] = len(tree.var)
            leaf = self.take(_LEAF)
            if leaf:
                tree.add(LEAF, float(leaf[1]), leaf.start(1))
                continue
            test = self.take(_TEST)
            if not test:
                self.fail("a number or a test such as (v0_1")
            where = test.start(1)
            value = self._value(test[2], where)
            node = tree.add(self._variable(test[1], where), 0.0, where)
            agenda += [(node, closing), (node, 1 - value), (node, value)]
        return tree

    def _code(self, text: str, where: int) -> int:
        """Return the code of a literal; -vI_0 is +vI_1 and the other way round."""
        match = _LITERAL.fullmatch(text)
        assert match
        negated = match[1] == "-"
        return 2 * self._variable(match[2], where) + (self._value(match[3], where) ^ negated)

    def _variable(self, digits: str, where: int) -> int:
        if int(digits) >= self.n_vars:
            self.refuse(f"expected a variable from v0 to v{self.n_vars - 1}, got v{digits}", where)
        return int(digits)

    def _value(self, digits: str, where: int) -> int:
        if int(digits) > 1:
            self.refuse(f"expected value 0 or 1 of a variable, got {digits}", where)
        return int(digits)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")


class _Collector:
    """Weighted conjunctions in flat arrays that grow."""

    def __init__(self) -> None:
        self.weight = array("d")
        self.length = array("q")
        self.codes = array("q")

    def add(self, row: _Row) -> None:
        """Append one conjunction."""
        self.weight.append(row.weight)
        self.length.append(len(row.codes))
        self.codes.extend(row.codes)

    def features(self) -> FeatureSet:
        """Return the conjunctions as they were added."""
        codes = np.array(self.codes, np.int64)
        start = np.concatenate([[0], np.cumsum(np.array(self.length, np.int64))])
        return feature_set(start, codes >> 1, codes & 1)


def read_mn(path: Path | str) -> MarkovNetwork:
    """Read a Markov network; every factor becomes features, constants are dropped.

    Raises
    ------
    InputError
        The file is missing or malformed, has variables of more than two values, or an infinite
        constant (the sentence names the line), or gives one feature both infinities.

    """
    reader = _Reader(path, "MN")
    collected = _Collector()
    for factor in reader.factors():
        for row in _rows_of(factor):
            if row.codes:
                collected.add(row)
            elif math.isinf(row.weight):
                reader.refuse(
                    f"expected a finite weight without literals, got {row.weight}", row.where
                )
    reader.finish()
    if not collected.weight:
        return MarkovNetwork(reader.n_vars, collected.features(), read_only(np.zeros(0)))
    try:
        return markov_network(reader.n_vars, collected.features(), np.array(collected.weight))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _rows_of(factor: _Row | _Table | _Tree) -> Iterable[_Row]:
    """Return the weighted conjunctions whose sum is the factor."""
    if isinstance(factor, _Row):
        return (factor,)
    if isinstance(factor, _Table):
        return factor.rows
    return _leaf_rows(factor)


def _leaf_rows(tree: _Tree) -> Iterator[_Row]:
    """Yield the path to each leaf that can be reached, with the value of the leaf."""
    paths: dict[int, dict[int, int]] = {0: {}}
    for node, var in enumerate(tree.var):
        path = paths.pop(node, None)
        if path is None:
            continue
        if var == LEAF:
            codes = sorted(2 * v + value for v, value in path.items())
            yield _Row(tree.value[node], codes, tree.where[node])
            continue
        for value, child in enumerate(tree.child[node]):
            if path.get(var, value) == value:
                paths[child] = {**path, var: value}


def read_dn(path: Path | str) -> DependencyNetwork:
    """Read a dependency network.

    The first tree or table of a CPD that mentions its target becomes its tree (a table only with
    at most MAX_TABLE_PARENTS parents); all other factors become features. What does not mention
    the target cancels in the normalisation and is dropped. The files say nothing about how many
    examples reached an inner node; its log-probabilities are those of the mean of its children's
    distributions.

    Raises
    ------
    InputError
        The file is missing or malformed, has variables of more than two values, lacks a CPD or
        has one twice, or an infinite weight leaves a distribution undefined; the sentence names
        the line.

    """
    reader = _Reader(path, "DN")
    rows: dict[int, list[_Row]] = {}
    trees: dict[int, _TargetTree] = {}
    while header := reader.target():
        target, where = header
        if target in rows:
            reader.refuse(f"v{target} has a second CPD", where)
        rows[target] = []
        for factor in reader.factors():
            if target not in trees and _becomes_tree(factor, target):
                trees[target] = _target_tree(reader, factor, target)
            else:
                rows[target] += _rows_with(reader, factor, target)
    missing = sorted(set(range(reader.n_vars)) - set(rows))
    if missing:
        reader.refuse(f"expected a CPD of v{missing[0]} before the closing }}", reader.at - 1)
    reader.finish()
    collected = _Collector()
    for target in range(reader.n_vars):
        for row in rows[target]:
            collected.add(row)
    n_rows = [len(rows[target]) for target in range(reader.n_vars)]
    return DependencyNetwork(
        _assemble(reader, trees),
        collected.features(),
        read_only(np.repeat(np.arange(reader.n_vars, dtype=np.int32), n_rows)),
        read_only(np.array(collected.weight, np.float64)),
    )


def _rows_with(reader: _Reader, factor: _Row | _Table | _Tree, target: int) -> Iterator[_Row]:
    """Yield the conjunctions of the factor that contain the target."""
    for row in _rows_of(factor):
        if any(code >> 1 == target for code in row.codes):
            yield row
        elif math.isinf(row.weight):
            reader.refuse(
                f"expected a finite weight without v{target}, got {row.weight}", row.where
            )


def _becomes_tree(factor: _Row | _Table | _Tree, target: int) -> bool:
    """Tell whether the factor is a tree or a table that mentions the target."""
    if isinstance(factor, _Tree):
        return target in factor.var
    if isinstance(factor, _Table):
        mentioned = {code >> 1 for row in factor.rows for code in row.codes}
        return target in mentioned and len(mentioned) <= MAX_TABLE_PARENTS + 1
    return False


def _target_tree(reader: _Reader, factor: _Row | _Table | _Tree, target: int) -> _TargetTree:
    """Return the tree over the parents that is equal to a tree or a table."""
    assert not isinstance(factor, _Row)
    tree = _by_target(factor, target) if isinstance(factor, _Tree) else _dense(factor, target)
    leaf = tree.split_var == LEAF
    if np.isnan(tree.value[leaf]).any():
        reader.refuse("rows of this table add up infinities of both signs", int(tree.where[0]))
    undefined = np.isinf(tree.value[:, 0]) & (tree.value[:, 0] == tree.value[:, 1])
    if undefined.any():
        node = int(np.flatnonzero(undefined)[0])
        reader.refuse(
            f"both values of v{target} have log-probability {tree.value[node, 0]}",
            int(tree.where[node]),
        )
    return tree


def _by_target(tree: _Tree, target: int) -> _TargetTree:
    """Return the tree without its tests of the target and without branches out of reach.

    The tree as it is for target = 0 and the tree as it is for target = 1 are descended together;
    a node tests what the first of them tests there, or else what the second does.
    """
    split_var: list[int] = []
    children: list[list[int]] = []
    values: list[tuple[float, float]] = []
    where: list[int] = []
    known: dict[int, int] = {}
    tested: list[int] = []  # the keys of `known`, in the order of the path

    def settle(node: int, target_value: int) -> int:
        while tree.var[node] == target or tree.var[node] in known:
            node = tree.child[node][known.get(tree.var[node], target_value)]
        return node

    agenda = [(0, 0, LEAF, 0, 0)]
    while agenda:
        for_zero, for_one, parent, value, depth = agenda.pop()
        while len(tested) >= max(depth, 1):
            del known[tested.pop()]
        if parent != LEAF:
            children[parent][value] = len(split_var)
            known[split_var[parent]] = value
            tested.append(split_var[parent])
        for_zero, for_one = settle(for_zero, 0), settle(for_one, 1)
        var = tree.var[for_zero] if tree.var[for_zero] != LEAF else tree.var[for_one]
        node = len(split_var)
        split_var.append(var)
        children.append([LEAF, LEAF])
        where.append(tree.where[for_zero])
        values.append((tree.value[for_zero], tree.value[for_one]) if var == LEAF else (0.0, 0.0))
        if var != LEAF:
            agenda += [(for_zero, for_one, node, value, depth + 1) for value in (1, 0)]
    return _TargetTree(np.array(split_var), np.array(children), np.array(values), np.array(where))


def _dense(table: _Table, target: int) -> _TargetTree:
    """Return the complete tree over the parents of a table, level by level."""
    mentioned = {code >> 1 for row in table.rows for code in row.codes}
    parents = sorted(mentioned - {target})
    axis = {var: i for i, var in enumerate([*parents, target])}
    entry = np.zeros((2,) * len(axis))
    for row in table.rows:
        index: list[int | slice] = [slice(None)] * len(axis)
        for code in row.codes:
            index[axis[code >> 1]] = code & 1
        with np.errstate(invalid="ignore"):
            entry[tuple(index)] += row.weight
    n_inner = 2 ** len(parents) - 1
    n_nodes = 2 * n_inner + 1
    split_var = np.full(n_nodes, LEAF)
    split_var[:n_inner] = np.repeat(np.array(parents, int), 2 ** np.arange(len(parents)))
    child = np.full((n_nodes, 2), LEAF)
    child[:n_inner] = np.arange(1, n_nodes).reshape(-1, 2)
    value = np.zeros((n_nodes, 2))
    value[n_inner:] = entry.reshape(-1, 2)
    return _TargetTree(split_var, child, value, np.full(n_nodes, table.where))


def _assemble(reader: _Reader, trees: dict[int, _TargetTree]) -> Trees:
    """Return the trees of all variables in flat arrays, log-probabilities normalised."""
    single = _TargetTree(np.array([LEAF]), np.full((1, 2), LEAF), np.zeros((1, 2)), np.zeros(1))
    ordered = [trees.get(target, single) for target in range(reader.n_vars)]
    start = np.concatenate([[0], np.cumsum([len(tree.split_var) for tree in ordered])])
    shifted = [
        np.where(tree.child == LEAF, LEAF, tree.child + offset)
        for tree, offset in zip(ordered, start[:-1], strict=True)
    ]
    split_var = np.concatenate([tree.split_var for tree in ordered])
    child = np.concatenate(shifted)
    log_prob = _normalised(np.concatenate([tree.value for tree in ordered]))
    _fill_inner(split_var, child, log_prob)
    return Trees(
        read_only(start.astype(np.int64)),
        read_only(split_var.astype(np.int32)),
        read_only(child.astype(np.int32)),
        read_only(log_prob),
    )


def _normalised(value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log-probabilities proportional to exp(value), shape (n_nodes, 2).

    An infinity outweighs all else: (0, inf) becomes (-inf, 0).
    """
    certain = np.isposinf(value).any(axis=1, keepdims=True)
    value = np.where(certain, np.where(np.isposinf(value), 0.0, -np.inf), value)
    with np.errstate(over="ignore"):
        total = np.logaddexp(value[:, :1], value[:, 1:])
        return np.where(np.abs(total) <= _NORMALISED, value, value - total)


def _fill_inner(split_var: NDArray, child: NDArray, log_prob: NDArray[np.float64]) -> None:
    """Overwrite the log-probabilities of inner nodes by those of their children's mean."""
    inner = np.flatnonzero(split_var != LEAF)
    share = np.exp(log_prob[:, 1]).tolist()
    pairs = child[inner].tolist()
    for node, (a, b) in zip(inner[::-1].tolist(), pairs[::-1], strict=True):
        share[node] = 0.5 * (share[a] + share[b])
    ones = np.minimum(np.array(share)[inner], 1.0)
    with np.errstate(divide="ignore"):
        log_prob[inner] = np.log(np.column_stack([1.0 - ones, ones]))


def write_mn(network: MarkovNetwork, path: Path | str) -> None:
    """Write a Markov network as bare features, digits enough to read the weights back exactly."""
    _check_numbers(network.weight, path)
    lines = _feature_lines(network.features, network.weight)
    write_text(path, f"{_schema_line(network.n_vars)}MN {{\n{''.join(lines)}}}\n")


def write_dn(network: DependencyNetwork, path: Path | str) -> None:
    """Write a dependency network: of each CPD its tree, if it says anything, and its features.

    Every leaf becomes a test of the target, so that the tree holds the leaf's log-probabilities.
    The log-probabilities of inner nodes are not written.
    """
    _check_numbers(network.weight, path)
    _check_numbers(network.trees.log_prob[network.trees.is_leaf], path)
    lines = _feature_lines(network.features, network.weight)
    own: list[list[str]] = [[] for _ in range(network.n_vars)]
    for target, line in zip(network.target.tolist(), lines, strict=True):
        own[target].append(line)
    parts = [_schema_line(network.n_vars), "DN {\n"]
    for v in range(network.n_vars):
        parts.append(f"v{v} {{\n")
        if not _is_flat(network.trees, v):
            parts += _tree_parts(network.trees, v)
        if own[v]:
            parts += ["features {\n", *own[v], "}\n\n"]
        parts.append("}\n")
    parts.append("}\n")
    write_text(path, "".join(parts))


def _check_numbers(values: NDArray[np.float64], path: Path | str) -> None:
    if np.isnan(values).any():
        raise InputError(f"{path}: the model has a weight that is not a number.")


def _schema_line(n_vars: int) -> str:
    return ",".join(["2"] * n_vars) + "\n"


def _feature_lines(features: FeatureSet, weight: NDArray[np.float64]) -> list[str]:
    """Return the line of each feature; repr is the shortest form that reads back exactly."""
    pairs = zip(features.var.tolist(), features.value.tolist(), strict=True)
    literals = [f" +v{var}_{value}" for var, value in pairs]
    start = features.start.tolist()
    return [
        f"{w!r}{''.join(literals[start[f] : start[f + 1]])}\n"
        for f, w in enumerate(weight.tolist())
    ]


def _is_flat(trees: Trees, v: int) -> bool:
    """Tell whether tree `v` is a single leaf of log-odds 0."""
    root = trees.start[v]
    return bool(trees.is_leaf[root] and trees.log_prob[root, 0] == trees.log_prob[root, 1])


def _tree_parts(trees: Trees, v: int) -> list[str]:
    """Return tree `v` in Libra's layout, in pieces."""
    begin, end = int(trees.start[v]), int(trees.start[v + 1])
    split_var = trees.split_var[begin:end].tolist()
    child = (trees.child[begin:end] - begin).tolist()
    log_prob = trees.log_prob[begin:end].tolist()
    parts = ["tree {"]
    closing = -1
    agenda = [(0, 0)]
    while agenda:
        node, depth = agenda.pop()
        if node == closing:
            parts.append(")")
            continue
        parts.append("\n" + "    " * depth)
        if split_var[node] == LEAF:
            parts.append(f"(v{v}_0 {log_prob[node][0]!r} {log_prob[node][1]!r})")
            continue
        parts.append(f"(v{split_var[node]}_0")
        zero, one = child[node]
        agenda += [(closing, 0), (one, depth + 1), (zero, depth + 1)]
    parts.append("\n}\n\n")
    return parts
