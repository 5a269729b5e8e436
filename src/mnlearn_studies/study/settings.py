"""What config.yaml may have, as dataclasses that `reading.read` checks it against."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from mnlearn_studies.study.content import Dataset, Name
from mnlearn_studies.study.reading import Limit, from_to

_Shares = Annotated[tuple[float, ...], Limit("a list of three numbers", lambda s: len(s) == 3)]
_Gigabytes = Annotated[float, Limit("a number above 0, up to 1e9", lambda x: 0 < x <= 1e9)]


@dataclass(frozen=True, kw_only=True)
class OwnData:
    """A person's own dataset.

    train, valid, test : its files; `train` alone has everything. fractions : shares of the splits
    then. max_expanded : largest size that a compressed file may expand to, in gigabytes; if it is
    not given, 4.3, and 200 times the compressed size if that is above 0.27. The other keys say what
    the files cannot say, see `mnlearn.data.rules`.
    """

    train: str
    valid: str | None = None
    test: str | None = None
    fractions: _Shares | None = None
    states: Mapping[str, tuple[Any, ...]] | None = None
    cut: Any = None
    columns: list[str] | None = None
    leave_out: list[str] | None = None
    keep: list[str] | None = None
    na: list[str] | None = None
    empty: Any = None
    weights: str | None = None
    baskets: bool | None = None
    max_expanded: _Gigabytes | None = None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What to run; the page on the configuration has what each key means."""

    studies: tuple[Name, ...] = field(
        metadata={"help": "Names of files in workflow/studies, without suffix."}
    )
    datasets: list[Dataset] = field(
        metadata={
            "help": "Run every study on these datasets; empty for those of each study. A name "
            "stands for all its samples."
        }
    )
    seed: int = field(metadata={"help": "Seed of every random stream."})
    mirror: str = field(
        metadata={
            "help": "Folder or URL to fetch data from, or several with a colon between them (a "
            "semicolon on Windows); empty for their source."
        }
    )
    recorded: bool = field(
        metadata={"help": "Compute nothing; make tables, figures and claims from what is recorded."}
    )
    parts: Annotated[int, from_to(1, 1000)] = field(
        metadata={
            "help": "Processes that share out the learning of one method on one dataset, where the "
            "method allows it; 1 for one process. Results do not depend on it."
        }
    )
    local: Mapping[Name, OwnData] = field(
        metadata={
            "help": "Your own datasets, by name; they can then be listed in a study or in datasets."
        }
    )
