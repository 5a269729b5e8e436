"""Structure of latent trees: hidden variables behind neighbourhoods of a Chow-Liu tree."""

import copy
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.circuits.exact import expected_counts_given
from mnlearn.kernels.arithmetic.ties import EQUAL, first_greatest
from mnlearn.learning.latent_trees.chow_liu import pair_tables
from mnlearn.learning.latent_trees.grouping import (
    Distances,
    group_recursively,
    information_distances,
    join_neighbours,
)
from mnlearn.learning.latent_trees.tree import (
    Edge,
    LatentTree,
    TreeMessages,
    conditionals,
    neighbours_of,
    places_of_parents,
    root_tree,
    run_em,
    smooth_tables,
    table_of,
)
from mnlearn.models.circuit_building import tree_circuit
from mnlearn.runtime.errors import DATA, InputError
from mnlearn.runtime.progress import track
from mnlearn.variables.schema import Schema, Variable

# Neighbour joining (CLNJ of the paper) and recursive grouping (CLRG).
GROUPINGS = {"joining": join_neighbours, "recursive": group_recursively}
# EM starts at tables whose cells have at least this probability.
_LOWEST = 1e-4
# A hidden copy of a variable differs from it with this probability at first.
_NOISE = 0.05


def learn_latent_tree(
    data: Dataset,
    grouping: str,
    pseudocount: float,
    trial_iterations: int,
    *,
    n_iterations: int,
    tolerance: float,
) -> LatentTree:
    """Learn a latent tree by regularised CLGrouping (Choi et al. 2011, Sections 5 and 5.4).

    From the Chow-Liu tree on, the tree found behind the distances replaces the neighbourhood of an
    inner node if that raises the BIC; otherwise a hidden near copy of the node is tried (decision
    0026). In the end each hidden node is merged with the nearest neighbour if that raises the BIC.
    """
    _check_data(data)
    # As much for each cell of a table as where there are two states.
    tables = pair_tables(data, pseudocount * int(data.schema.arity[0]) ** 2 / 4.0)
    pairs, parent = tables.all(), tables.tree()
    start = _observed_tree(parent, pairs)
    tree = run_em(start, data, pseudocount, n_iterations=1, tolerance=tolerance)
    search = _Search(tree, data, pseudocount, n_iterations=trial_iterations, tolerance=tolerance)
    _regroup(search, _Grouping(pairs, GROUPINGS[grouping]))
    hidden = [v for v in sorted(search.tree.neighbours()) if v >= data.n_vars]
    for h in track(hidden, "hidden variables"):
        near = search.tree.neighbours()
        heir = _choose_heir(search.tree, h)
        search.improve(_contract(search.tree, h, heir), sorted({h, heir, *near[h], *near[heir]}))
    return run_em(search.tree, data, pseudocount, n_iterations=n_iterations, tolerance=tolerance)


def _observed_tree(parent: NDArray[np.int64], pairs: NDArray[np.float64]) -> LatentTree:
    """Return the tree over the observed variables alone."""
    tables = {}
    for v in range(1, len(parent)):
        u, w = sorted((int(parent[v]), v))
        tables[u, w] = pairs[:, :, u, w]
    return LatentTree(len(parent), tables, -np.inf)


def _check_data(data: Dataset) -> None:
    """Refuse one variable, differing numbers of states, and weights that sum to less than 2."""
    if data.n_vars < 2:
        raise InputError(f"latent tree: expected at least 2 variables, got {data.n_vars}.")
    if data.schema.arity.min() < data.schema.arity.max():
        found = " and ".join(str(k) for k in np.unique(data.schema.arity))
        raise InputError(
            f"latent tree: expected variables with the same number of states, got {found} states; "
            "hclt learns trees of hidden variables for any numbers of states."
        )
    least = min(data.n_rows, 2)
    if data.n_examples < least:
        # The BIC would reward parameters or hardly punish them, and the tree would grow and grow.
        raise InputError(
            f"expected weights that sum to at least {least} for the BIC, got {data.n_examples:g}.",
            where=DATA,
        )


def _regroup(search: "_Search", grouping: "_Grouping") -> None:
    """Regroup neighbourhoods, in rounds, until all of them have been tried."""
    tried: set[tuple[int, ...]] = set()
    while True:
        near = search.tree.neighbours()
        inner = [v for v in sorted(near) if len(near[v]) > 1 and (v, *near[v]) not in tried]
        if not inner:
            return
        for v in track(inner, "neighbourhoods"):
            region = [v, *search.tree.neighbours()[v]]
            tried.add(tuple(region))
            for regroup in (grouping.regroup, grouping.shadow):
                trial, grown = regroup(search.tree, v)
                if search.improve(trial, region):
                    grouping = grown
                    break


class _Search:
    """The best tree so far, and trials of others that differ in a region of it.

    A trial learns only the tables inside the region, given the messages from the rest of the tree.
    """

    def __init__(
        self,
        tree: LatentTree,
        data: Dataset,
        pseudocount: float,
        *,
        n_iterations: int,
        tolerance: float,
    ) -> None:
        self.data = data
        self._pseudocount, self._n_iterations = pseudocount, n_iterations
        self._tolerance = tolerance
        self._messages = TreeMessages(data.schema.values(data.rows), tree.n_states)
        self._take(tree)

    def _take(self, tree: LatentTree) -> None:
        parent, log_prob, nodes = root_tree(tree)
        self._messages.change(nodes, parent, log_prob)
        log_likelihood = float(self.data.weight @ self._messages.log_value())
        self.tree = LatentTree(tree.n_vars, tree.tables, log_likelihood)

    def improve(self, trial: LatentTree, region: list[int]) -> bool:
        """Learn a trial in the region where it differs; keep it if that raises the BIC."""
        inside = set(region)
        changed = {e for e in trial.tables if e not in self.tree.tables or inside >= set(e)}
        if changed <= self.tree.tables.keys():
            return False
        kept = [v for v in region if any(v in e for e in changed)]
        potentials = self._messages.potentials(region)
        potentials = potentials[:, [region.index(v) for v in kept]]
        local = _Region(trial, changed, kept, self._messages.top(region))
        learned = local.learn(
            potentials,
            self.data.weight,
            self._pseudocount,
            n_iterations=self._n_iterations,
            tolerance=self._tolerance,
        )
        n_examples = self.data.n_examples
        if learned.bic(n_examples) <= self.tree.bic(n_examples) + EQUAL * n_examples:
            return False
        self._take(learned)
        return True


class _Region:
    """Edges of a tree whose tables are learned while all others stay as they are.

    `kept` get messages from the rest of the tree; that of `top` includes the prior.
    """

    def __init__(self, tree: LatentTree, edges: set[Edge], kept: list[int], top: int) -> None:
        self.tree = tree
        inside = {node for edge in edges for node in edge}
        self.nodes = [*kept, *sorted(inside - set(kept))]
        self.n_kept = len(kept)
        self.parent = places_of_parents(self.nodes, neighbours_of(edges), top)

    def learn(
        self,
        potentials: NDArray[np.float64],
        weight: NDArray[np.float64],
        pseudocount: float,
        *,
        n_iterations: int,
        tolerance: float,
    ) -> LatentTree:
        """Return the tree after EM in the region, with the log-likelihood of the data."""
        tree, before = self.tree, -np.inf
        n_examples, n_states = float(weight.sum()), tree.n_states
        if n_states > 2:
            # Of a state only the leaf of value 1 of its column is used.
            potentials = potentials.reshape(len(weight), -1, 1)
            potentials = np.concatenate([np.zeros(potentials.shape), potentials], axis=2)
        states = tuple(range(n_states))
        schema = Schema(tuple(Variable(str(k), states) for k in range(self.n_kept)))
        for _ in range(n_iterations):
            # What is known of the root, its prior included, comes with the potentials.
            log_prob = conditionals(tree, self.nodes, self.parent)
            circuit = tree_circuit(self.parent, log_prob, schema, n_states)
            counts, log_likelihood = expected_counts_given(circuit, potentials, weight)
            if log_likelihood - before < tolerance * abs(log_likelihood):
                break
            reached, before = tree, log_likelihood
            tables = smooth_tables(
                self.parent, self.nodes, counts, n_examples, n_states, pseudocount
            )
            tree = LatentTree(tree.n_vars, {**tree.tables, **tables}, before)
        return LatentTree(tree.n_vars, reached.tables, before)


def _choose_heir(tree: LatentTree, h: int) -> int:
    """Return the neighbour that a hidden node is most correlated with."""
    near = tree.neighbours()[h]
    tables = [tree.tables[min(u, h), max(u, h)] for u in near]
    return near[first_greatest(np.array([_likeness(table) for table in tables]), EQUAL)]


def _contract(tree: LatentTree, h: int, heir: int) -> LatentTree:
    """Return the tree in which a neighbour takes the place of a hidden node."""
    near = tree.neighbours()[h]
    link = table_of(tree, heir, h)
    to_h = link / link.sum(axis=1, keepdims=True)
    tables = {edge: table for edge, table in tree.tables.items() if h not in edge}
    for u in near:
        if u != heir:
            # P(heir, u) = sum over h of P(heir, h) P(u | h).
            table = table_of(tree, h, u)
            joint = link.sum(axis=1)[:, None] * (to_h @ (table / table.sum(axis=1, keepdims=True)))
            tables[min(heir, u), max(heir, u)] = joint if heir < u else joint.T
    return LatentTree(tree.n_vars, tables, tree.log_likelihood)


def _likeness(table: NDArray[np.float64]) -> float:
    """Return the absolute correlation of two variables, or what stands for it; see `_Grouping`."""
    if len(table) == 2:
        p, q = table[1].sum(), table[:, 1].sum()
        return float(abs((table[1, 1] - p * q) / np.sqrt(p * (1 - p) * q * (1 - q))))
    spread = np.sqrt(table.sum(axis=0).prod() * table.sum(axis=1).prod())
    return float((abs(np.linalg.det(table)) / spread) ** (1.0 / (len(table) - 1)))


class _Grouping:
    """Distances between observed and hidden nodes, and the tables at which EM starts.

    A hidden node is correlated positively with one observed node, its representative. Of k states
    the paralinear distance (Lake 1994) to the power of 1 / (k - 1) stands for the correlation.
    """

    def __init__(
        self,
        pairs: NDArray[np.float64],
        tree_behind: Callable[[Sequence[int], Distances], list[Edge]],
    ) -> None:
        p_one = pairs[1].sum(axis=0)[:, 0]
        sd = np.sqrt(p_one * (1.0 - p_one))
        self.pairs, self.n_states = pairs, len(pairs)
        if self.n_states == 2:
            self.correlation = (pairs[1, 1] - np.outer(p_one, p_one)) / np.outer(sd, sd)
        else:
            near = [[_likeness(table) for table in own] for own in pairs.transpose(2, 3, 0, 1)]
            self.correlation = np.array(near)
        self.tree_behind = tree_behind
        self.distances = Distances(information_distances(self.correlation))
        self.p_one = p_one.tolist()
        self.representative = list(range(len(p_one)))

    def regroup(self, tree: LatentTree, v: int) -> tuple[LatentTree, "_Grouping"]:
        """Return the tree with the neighbourhood of v grouped anew, and the grouping after it."""
        grown = copy.copy(self)
        grown.distances = Distances(self.distances.matrix)
        grown.p_one, grown.representative = self.p_one.copy(), self.representative.copy()
        near = tree.neighbours()[v]
        edges = self.tree_behind([v, *near], grown.distances)
        for head in range(len(self.p_one), len(grown.distances.matrix)):
            children = [i for h, i in edges if h == head and i < head]
            nearest = children[first_greatest(-grown.distances.matrix[head, children], EQUAL)]
            grown.p_one.append(0.5)
            grown.representative.append(grown.representative[nearest])
        tables = {e: t for e, t in tree.tables.items() if v not in e}
        for a, b in edges:
            u, w = sorted((a, b))
            tables[u, w] = tree.tables[u, w] if (u, w) in tree.tables else grown._table(u, w)
        return LatentTree(tree.n_vars, tables, tree.log_likelihood), grown

    def shadow(self, tree: LatentTree, v: int) -> tuple[LatentTree, "_Grouping"]:
        """Return the tree in which a hidden near copy of v has its neighbours, and v itself."""
        grown = copy.copy(self)
        n = len(self.p_one)
        grown.p_one = [*self.p_one, self.p_one[v]]
        grown.representative = [*self.representative, self.representative[v]]
        matrix = np.zeros((n + 1, n + 1))
        matrix[:n, :n] = self.distances.matrix
        share = _NOISE / (self.n_states - 1)
        step = -np.log(1.0 - self.n_states * share)
        matrix[n, :n] = matrix[:n, n] = self.distances.matrix[v] + step
        grown.distances = Distances(matrix)
        near = tree.neighbours()[v]
        tables = {e: t for e, t in tree.tables.items() if v not in e}
        own = table_of(tree, v, near[0]).sum(axis=1)
        noise = np.full((self.n_states, self.n_states), share)
        np.fill_diagonal(noise, 1.0 - _NOISE)
        tables[v, n] = own[:, None] * noise
        for u in near:
            # P(u, hidden) = sum over v of P(u, v) P(hidden | v).
            tables[u, n] = table_of(tree, u, v) @ noise
        return LatentTree(tree.n_vars, tables, tree.log_likelihood), grown

    def _table(self, u: int, w: int) -> NDArray[np.float64]:
        """Return the joint probabilities of two nodes by their distance."""
        p, q = self.p_one[u], self.p_one[w]
        ru, rw = self.representative[u], self.representative[w]
        if self.n_states > 2:
            size = np.exp(-self.distances.matrix[u, w])
            linked = self.pairs[:, :, ru, rw]
            alone = np.outer(linked.sum(axis=1), linked.sum(axis=0))
            table = np.maximum((1.0 - size) * alone + size * linked, _LOWEST)
            return np.asarray(table / table.sum())
        sign = 1.0 if ru == rw else np.sign(self.correlation[ru, rw])
        size = np.exp(-self.distances.matrix[u, w])
        covariance = sign * size * np.sqrt(p * (1 - p) * q * (1 - q))
        table = np.outer([1 - p, p], [1 - q, q]) + covariance * np.array([[1, -1], [-1, 1]])
        table = np.maximum(table, _LOWEST)
        return table / table.sum()
