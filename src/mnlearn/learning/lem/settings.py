"""The parameters of LEM."""

from dataclasses import dataclass

from mnlearn.kernels.lem.node import INADMISSIBLE, ONE_BLOCK, SINGLETONS, Settings

SEARCHES = ("greedy", "exhaustive")
SIDE_SCORES = ("joint", "sum")
SMALL_SIDES = {"one-block": ONE_BLOCK, "singletons": SINGLETONS, "inadmissible": INADMISSIBLE}
LITERALS = ("positive", "both")


@dataclass(frozen=True)
class LemSettings:
    """What the paper leaves open is named in its own parameter.

    delta : variables with more mutual information (nats) stay in one block.
    subset_size : largest set of variables that is looked at for it, 2 or 3 (q in the paper).
    max_feature_length : most literals of a feature (k).
    search : "greedy" (Section 4) or "exhaustive" (Algorithm 2).
    side_score : "sum", 1/d1 + 1/d0, the paper's; "joint", 1/(d1 + d0). d is the sum of the numbers
        of states of the blocks of a side.
    small_side : what a side with too few examples counts as: "one-block", "singletons" (the paper's
        Algorithm 1), or "inadmissible".
    min_rows : fewer examples are too few to look for blocks.
    pseudocount : added to every count.
    bias_correction : subtract the expected bias of the plug-in estimate from mutual information.
    table_below : fewer variables than this get a full table where no partition is found.
    similar : share by which scores may differ and be called similar.
    balance : of the features with similar scores take the one with the most balanced sides.
    literals : "positive": features ask binary variables for 1 only; "both": for 0 as well, where
        they have several literals.
    """

    delta: float = 0.05
    subset_size: int = 3
    max_feature_length: int = 3
    search: str = "greedy"
    side_score: str = "joint"
    small_side: str = "one-block"
    min_rows: int = 10
    pseudocount: float = 1.0
    bias_correction: bool = False
    table_below: int = 5
    similar: float = 0.0
    balance: bool = True
    literals: str = "positive"

    def for_kernels(self) -> Settings:
        """Return the settings as the kernels take them."""
        return Settings(
            float(self.delta),
            self.subset_size,
            self.max_feature_length,
            self.search == "exhaustive",
            self.side_score == "joint",
            SMALL_SIDES[self.small_side],
            self.min_rows,
            self.bias_correction,
            float(self.similar),
            self.balance,
            self.literals == "both",
        )
