"""Comparison of the Ising networks of several groups, by permutation (van Borkulo et al. 2022).

For more than two groups a difference is that of the largest and the smallest value. The p-value is
(1 + number of permutations with a statistic at least as large) / (1 + number of permutations).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.learning.ising.estimation import (
    FEWEST,
    GAMMA,
    TOLERANCE,
    check_settings,
    estimate,
    find_dropped,
    select_items,
)
from mnlearn.learning.ising.items import Ordered, items_of
from mnlearn.learning.ising.network import IsingNetwork
from mnlearn.learning.ising.resampling import count_rows, draw_rows, map_resamples, select_rows
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.random_streams import SEED, stream


def holm(p_values: Sequence[float]) -> NDArray[np.float64]:
    """Return p-values adjusted for their number by Holm's step-down rule, in the given order."""
    p = np.asarray(p_values, float)
    order = np.argsort(p, kind="stable")
    factor = len(p) - np.arange(len(p))
    adjusted = np.minimum(np.maximum.accumulate(p[order] * factor), 1.0)
    out = np.empty_like(p)
    out[order] = adjusted
    return out


if TYPE_CHECKING:
    import pandas as pd

# What exchanges examples between groups: the groups of one permutation, drawn with a generator.
Exchange = Callable[[np.random.Generator], Iterator[Dataset]]
# Two statistics that differ by less are the same: weights are exact to about this.
_EQUAL = 1e-5
# The label of all groups, if there are more than two.
ALL = "all"
STRENGTH, LARGEST = "global strength", "largest edge difference"


@dataclass(frozen=True, eq=False)
class IsingComparison:
    """The networks of groups, and tests of whether they differ.

    Attributes
    ----------
    networks : dict of str to IsingNetwork
        The network of each group.
    dropped : tuple of str
        Variables that were left out, because a value occurs fewer than twice in some group.
    tests : pandas.DataFrame
        Columns `groups`, `test`, `value` (the difference), `p`, `p_holm` (for the number of pairs
        of groups), and the global strength of each group, `strength: GROUP`.
    edges : pandas.DataFrame
        For every pair of variables `source`, `target`, `weight: GROUP`, `difference`, `p` and
        `p_holm` (for the number of pairs of variables).
    """

    networks: dict[str, IsingNetwork]
    dropped: tuple[str, ...]
    tests: "pd.DataFrame"
    edges: "pd.DataFrame"


def compare(
    groups: Mapping[str, Dataset],
    n_permutations: int = 1000,
    *,
    paired: bool = False,
    gamma: float = GAMMA,
    merge: str = "and",
    ordered: Ordered = None,
    seed: int = SEED,
    threads: int = 1,
) -> IsingComparison:
    """Test whether the networks of groups differ, by exchanging examples between the groups.

    If `paired`, row i of every group is of the same person, and a permutation exchanges the rows
    of each person between the groups.

    With more than two groups, every two are compared too, by exchanging examples between these.
    Holm's rule corrects each test over the pairs of groups, and those of edges over the pairs of
    variables. ordered : see `items_of`.
    """
    import pandas as pd

    check_settings(gamma, merge)
    if n_permutations < 1:
        raise InputError(f"n_permutations: expected at least 1, got {n_permutations}.")
    items = {name: items_of(data, ordered) for name, data in groups.items()}
    if paired:
        _check_pairs(items)
    dropped, kept = _common_variables(items)
    how = gamma, merge, threads, TOLERANCE
    found = {name: estimate(data, *how) for name, data in kept.items()}
    tests, edges = [], []
    for label, members in _sets(list(kept)):
        chosen = {list(kept).index(name): kept[name] for name in members}
        exchange = _exchange_pairs(chosen) if paired else _exchange_rows(chosen)
        observed, reached = _permute(
            chosen, exchange, n_permutations, (gamma, merge), seed, threads
        )
        p = (1 + reached) / (1 + n_permutations)
        for k, test in enumerate((STRENGTH, LARGEST)):
            tests.append({"groups": label, "test": test, "value": observed[k], "p": p[k]})
        edges.append(_edges_frame(label, found, observed[2:], p[2:]))
    corrected = _correct_pairs(pd.DataFrame(tests))
    for name, network in found.items():
        corrected[f"strength: {name}"] = np.abs(np.triu(network.weight)).sum()
    return IsingComparison(found, dropped, corrected, pd.concat(edges, ignore_index=True))


def _sets(names: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the sets of groups that are compared, with their labels."""
    sets: list[tuple[str, tuple[str, ...]]] = [] if len(names) == 2 else [(ALL, tuple(names))]
    return sets + [(f"{a} – {b}", (a, b)) for a, b in combinations(names, 2)]


def _correct_pairs(tests: "pd.DataFrame") -> "pd.DataFrame":
    """Return the tests with p-values that are corrected for the number of pairs of groups."""
    tests["p_holm"] = tests["p"]
    for test in (STRENGTH, LARGEST):
        rows = (tests["groups"] != ALL) & (tests["test"] == test)
        tests.loc[rows, "p_holm"] = holm(tests.loc[rows, "p"].tolist())
    return tests


def _common_variables(
    groups: Mapping[str, Dataset],
) -> tuple[tuple[str, ...], dict[str, Dataset]]:
    """Return the names of variables to leave out, and the groups without them."""
    if len(groups) < 2:
        raise InputError("groups: expected at least two.")
    first = next(iter(groups.values()))
    labels = first.schema.names
    for name, data in groups.items():
        if data.schema != first.schema:
            raise InputError(f"group {name}: expected the variables of the first group.")
        count_rows(data)
    rare = {name: find_dropped(data) for name, data in groups.items()}
    left_out = np.any(list(rare.values()), axis=0)
    if np.count_nonzero(~left_out) < 2:
        worst = max(rare, key=lambda name: int(rare[name].sum()))
        raise InputError(
            "groups: fewer than two variables have both values twice in each group; the group "
            f"{worst} of {groups[worst].n_examples:g} rows lacks most, {rare[worst].sum()} of them."
        )
    kept = np.flatnonzero(~left_out)
    chosen = {name: select_items(data, kept) for name, data in groups.items()}
    return tuple(labels[v] for v in np.flatnonzero(left_out)), chosen


def _check_pairs(groups: Mapping[str, Dataset]) -> None:
    """Refuse groups whose rows cannot be of the same persons."""
    (first, data), *others = groups.items()
    for name, other in others:
        if other.n_examples != data.n_examples:
            raise InputError(
                "paired: expected a row for each person in every group, in the same order, got "
                f"{data.n_examples:g} rows in {first} and {other.n_examples:g} in {name}."
            )


def _exchange_rows(groups: Mapping[int, Dataset]) -> Exchange:
    """Return what draws groups of the same sizes from the examples of all groups."""
    sizes = [int(data.n_examples) for data in groups.values()]
    schema = next(iter(groups.values())).schema
    every = [data.rows[data.row_of] for data in groups.values()]
    pooled = merge_rows(np.concatenate(every), schema=schema)
    count = count_rows(pooled)

    def exchange(rng: np.random.Generator) -> Iterator[Dataset]:
        left = count
        for size in sizes:
            drawn = draw_rows(left, size, rng)
            left = left - drawn
            yield select_rows(pooled, drawn)

    return exchange


def _exchange_pairs(groups: Mapping[int, Dataset]) -> Exchange:
    """Return what hands the rows of each person to the groups in random order."""
    schema = next(iter(groups.values())).schema
    rows = np.stack([data.rows[data.row_of] for data in groups.values()])
    person = np.arange(rows.shape[1])
    places = np.tile(np.arange(len(rows)), (len(person), 1))

    def exchange(rng: np.random.Generator) -> Iterator[Dataset]:
        for taken in rng.permuted(places, axis=1).T:
            yield merge_rows(rows[taken, person], schema=schema)

    return exchange


def _permute(
    groups: Mapping[int, Dataset],
    exchange: Exchange,
    n_permutations: int,
    settings: tuple[float, str],
    seed: int,
    threads: int,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the statistics, and how many permutations have one that is at least as large."""

    def learn(b: int) -> NDArray[np.float64]:
        rng = stream(seed, "ising", "permutation", *map(str, groups), str(b))
        return _statistics([estimate(each, *settings) for each in exchange(rng)])

    observed = _statistics([estimate(data, *settings, threads) for data in groups.values()])
    permuted = map_resamples(learn, n_permutations, "permutations", threads)
    return observed, np.sum([each >= observed - _EQUAL for each in permuted], axis=0)


def _statistics(networks: Sequence[IsingNetwork]) -> NDArray[np.float64]:
    """Return the differences of global strength, of the edge that differs most, and of each.

    The difference of an edge is the weight of the difference of its interactions.
    """
    upper, sizes = np.triu_indices(len(networks[0].weight), 1), networks[0].scores.sizes
    strength = [np.abs(network.weight[upper]).sum() for network in networks]
    pairs = combinations([network.interaction for network in networks], 2)
    edges = np.max([np.abs(sizes(one - other)[upper]) for one, other in pairs], axis=0)
    return np.concatenate([[np.ptp(strength), edges.max()], edges])


def _edges_frame(
    label: str,
    networks: Mapping[str, IsingNetwork],
    difference: NDArray[np.float64],
    p: NDArray[np.float64],
) -> "pd.DataFrame":
    """Return the tests of the edges, the least p-value first."""
    import pandas as pd

    labels = np.array(next(iter(networks.values())).labels, dtype=object)
    u, v = np.triu_indices(len(labels), 1)
    columns = {"groups": label, "source": labels[u], "target": labels[v]}
    columns |= {f"weight: {name}": network.weight[u, v] for name, network in networks.items()}
    columns |= {"difference": difference, "p": p, "p_holm": holm(p.tolist())}
    frame = pd.DataFrame(columns)
    return frame.iloc[np.lexsort((-difference, p))]


# A value that occurs less often says little about the other variables.
_RARE = 10


def cautions(data: Dataset, network: IsingNetwork) -> list[str]:
    """Return sentences on examples and items that make an estimate unreliable."""
    rare = np.array([_rarest(data, network, v) < _RARE for v in range(data.n_vars)])
    rare = np.flatnonzero(rare & ~network.dropped)
    lines = []
    if data.n_vars > data.n_examples:
        lines.append(
            f"{data.n_vars} items and {data.n_examples:g} rows: expected a row for each person."
        )
    if network.dropped.any():
        listed = ", ".join(network.dropped_labels)
        lines.append(f"no edges for what has a value fewer than {FEWEST} times: {listed}.")
    if len(rare):
        listed = ", ".join(network.labels[v] for v in rare)
        lines.append(
            f"a value occurs fewer than {_RARE} times in {listed}: their estimates are unreliable."
        )
    if network.at_end.any():
        listed = ", ".join(network.labels[v] for v in np.flatnonzero(network.at_end))
        lines.append(f"the smallest penalty of the path was chosen for {listed}.")
    alike = _alike(data, network.labels)
    if alike:
        listed = ", ".join(alike)
        lines.append(f"the same or opposite answers in all rows: {listed}; leave one out.")
    right = [(logits.argmax(axis=1) == s).all() for s, logits in network.conditionals(data)]
    follows = np.array(right) & ~network.dropped
    # The pairs above follow from each other.
    if follows.any() and not alike:
        listed = ", ".join(network.labels[v] for v in np.flatnonzero(follows))
        lines.append(
            f"{listed}: the other items say the answer in every row, so weights grow without end."
        )
    return lines


def describe_dropped(comparison: IsingComparison) -> list[str]:
    """Return a sentence on the items that were not compared, if there are any."""
    if not comparison.dropped:
        return []
    return [f"not compared, rare in a group: {', '.join(comparison.dropped)}."]


def _alike(data: Dataset, labels: Sequence[str]) -> list[str]:
    """Return the pairs of items whose answers are the same, or opposite, in all rows."""
    values = data.schema.values(data.rows)
    # Once values are numbered as they come, such items are equal, and constant ones are 0.
    found = [np.unique(column, return_index=True, return_inverse=True)[1:] for column in values.T]
    turned = np.column_stack([np.argsort(np.argsort(at))[place] for at, place in found])
    _, first, kind = np.unique(turned, axis=1, return_index=True, return_inverse=True)
    return [
        f"{labels[first[k]]} – {labels[v]}"
        for v, k in enumerate(kind.ravel())
        if v != first[k] and turned[:, v].any()
    ]


def _rarest(data: Dataset, network: IsingNetwork, v: int) -> float:
    """Return how often the value occurs that says least about an item."""
    count = data.counts(v)
    # All values of an ordered item but the most frequent say something about its weights.
    return count.sum() - count.max() if network.scores.scored[v] else count.min()
