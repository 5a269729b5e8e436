"""All that is known of the Ising network of a questionnaire."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from mnlearn.data.dataset import Dataset
    from mnlearn.drawing.ising import ItemGroups
    from mnlearn.learning.ising.comparison import IsingComparison
    from mnlearn.learning.ising.network import IsingNetwork
    from mnlearn.learning.ising.stability import CaseDropping, EdgeStability


@dataclass(frozen=True, eq=False, kw_only=True)
class Estimate:
    """Everything that is known of one questionnaire.

    codes : the values of the data that stood for 0 and 1, by variable; see `Reading.codes`.
    """

    data: "Dataset"
    network: "IsingNetwork"
    coding: str
    stability: "EdgeStability | None" = None
    cases: "CaseDropping | None" = None
    comparison: "IsingComparison | None" = None
    groups: "ItemGroups | None" = None
    summary: dict[str, Any] = field(default_factory=dict)
    codes: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def item_frame(found: Estimate) -> "pd.DataFrame":
    """Return group, centrality and predictability of each item."""
    from mnlearn.learning.ising.measures import centrality_frame, predictability_frame

    groups = None if found.groups is None else found.groups.group
    frame = centrality_frame(found.network, found.coding, groups).merge(
        predictability_frame(found.network, found.data), on="variable", validate="one_to_one"
    )
    if groups is not None:
        frame.insert(1, "group", list(groups))
    return frame
