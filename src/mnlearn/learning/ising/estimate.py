"""All that is known of the Ising network of a questionnaire, for the command and for Python."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mnlearn.data.dataset import Dataset
from mnlearn.learning.ising import resampling
from mnlearn.learning.ising.comparison import IsingComparison, cautions, compare, describe_dropped
from mnlearn.learning.ising.estimation import learn_ising
from mnlearn.learning.ising.items import Ordered, items_of
from mnlearn.learning.ising.network import (
    CODINGS,
    IsingNetwork,
    centrality_frame,
    check_coding,
    predictability_frame,
)
from mnlearn.learning.ising.stability import CaseDropping, EdgeStability
from mnlearn.variables.schema import Schema

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class ItemGroups:
    """The group of each variable of a questionnaire, and the colour of each group."""

    group: tuple[str, ...]
    colour_of: dict[str, str]

    @property
    def colours(self) -> list[str]:
        return [self.colour_of[name] for name in self.group]

    def select(self, labels: Sequence[str], kept: Sequence[str]) -> "ItemGroups":
        """Return the groups of some of the variables; `labels` names all."""
        group_of = dict(zip(labels, self.group, strict=True))
        return ItemGroups(tuple(group_of[name] for name in kept), self.colour_of)


@dataclass(eq=False, kw_only=True)
class Estimate:
    """An Ising network, how stable it is, and how it differs between groups.

    `data` has the variables of two states or more, `schema` all. `summary` is what the folder of
    the command says beside all this.
    """

    data: Dataset
    schema: Schema
    network: IsingNetwork
    settings: Mapping[str, Any]
    stability: EdgeStability | None = None
    cases: CaseDropping | None = None
    comparison: IsingComparison | None = None
    coding: str = "0/1"
    ordered: Ordered = None
    groups: ItemGroups | None = None
    summary: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def learn(
        cls, data: Dataset, gamma: float, merge: str, threads: int = 1, **more: Any
    ) -> "Estimate":
        """Learn the network of examples; `more` are further attributes."""
        ordered = more.get("ordered")
        items = items_of(data, ordered)
        check_coding(more.get("coding", CODINGS[0]), items.schema)
        network = learn_ising(data, gamma, merge, threads, ordered)
        settings = {"gamma": gamma, "merge": merge, "threads": threads}
        return cls(data=items, schema=data.schema, network=network, settings=settings, **more)

    def bootstrap(self, n_resamples: int, seed: int, **more: Any) -> EdgeStability:
        """Learn the network again from resampled examples; `more` is beside the settings."""
        run = {**self.settings, **more}
        self.stability = resampling.bootstrap(self.data, n_resamples, seed=seed, **run)
        return self.stability

    def drop_cases(self, n_resamples: int, seed: int, **more: Any) -> CaseDropping:
        """Learn the network again from some of the examples; `more` is beside the settings."""
        run = {**self.settings, **more}
        self.cases = resampling.drop_cases(self.data, n_resamples, seed=seed, **run)
        return self.cases

    def compare(
        self, groups: Mapping[str, Dataset], n_permutations: int, seed: int, *, paired: bool
    ) -> None:
        how = {"paired": paired, "seed": seed, "ordered": self.ordered, **self.settings}
        self.comparison = compare(groups, n_permutations, **how)

    def cs_coefficients(self) -> dict[str, float]:
        """Return the CS coefficient of each measure; empty without `drop_cases`."""
        cases = self.cases
        return (
            {} if cases is None else {name: cases.coefficient(name) for name in cases.correlation}
        )

    def cautions(self) -> list[str]:
        """Return what a person should know before trusting the network and the comparison."""
        lines = cautions(self.data, self.network)
        return lines if self.comparison is None else [*lines, *describe_dropped(self.comparison)]

    def item_frame(self) -> "pd.DataFrame":
        """Return group, centrality and predictability of each variable."""
        groups = None if self.groups is None else self.groups.group
        frame = centrality_frame(self.network, self.coding, groups).merge(
            predictability_frame(self.network, self.data), on="variable", validate="one_to_one"
        )
        if groups is not None:
            frame.insert(1, "group", list(groups))
        return frame
