"""What a run of the workflow has to make: which records are current, and which are not asked for.

A record that is current, or of a dataset that the run was not asked for, is settled: it is used as
it is, and the rule that would make it gets no inputs. All other rules get, beside their inputs, an
order, a small file with the recipe (see `study.orders`). So Snakemake, which compares times of
files, makes again exactly what is not current, in a fresh clone too.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mnlearn_studies.datasets.sample_names import base_of
from mnlearn_studies.plan.orders import Orders
from mnlearn_studies.plan.recipes import Recipe, Recipes, data_recipe, differences, recorded_recipe
from mnlearn_studies.records.files import TUNING_RECORD
from mnlearn_studies.records.per_example import are_of_cell
from mnlearn_studies.study.definition import Study


@dataclass(frozen=True)
class Record:
    """One record of a study. names : of the methods it is about. path : relative to the results."""

    kind: str
    study: str
    dataset: str
    names: tuple[str, ...]

    @property
    def path(self) -> Path:
        """Return its file, below the folder of the results."""
        name = "-".join(self.names)
        if self.kind == "models":
            return Path(self.study, "models", self.dataset, name, TUNING_RECORD)
        return Path(self.study, self.kind, self.dataset, f"{name}.json")


class Plan:
    """Which records of some studies a run makes.

    Parameters
    ----------
    studies : Mapping
        The studies that are run, and those whose models they query, by name.
    running : list of str
        The studies that are run. Of the others only the models are made that these query.
    results : Path
        The folder of the results.
    seed : int
        Of all randomness.
    local : Mapping
        How a person's own datasets are given, by name.
    datasets : list of str
        The datasets that are asked for; all of each study if empty.
    left_out : Mapping
        The reason by dataset that cannot be had. The records of these and of their samples are
        used as they are.
    again : bool
        Whether current records that are asked for are made again.
    recorded : bool
        Whether all records are used as they are and none is made.
    plans : bool
        Whether this process plans the run and does not only a job of it, see `Orders`.
    was_killed : function of str to bool
        Whether the job that makes a file was killed before its end, so that it is run again.
    """

    def __init__(
        self,
        *,
        studies: Mapping[str, Study],
        running: list[str],
        results: Path,
        seed: int,
        local: Mapping[str, Any],
        datasets: Collection[str] = (),
        left_out: Mapping[str, str] | None = None,
        again: bool = False,
        recorded: bool = False,
        plans: bool = True,
        was_killed: Callable[[str], bool] = lambda path: False,
    ) -> None:
        self.studies = studies
        self.running = running
        self.results = results
        self.seed = seed
        self.local = local
        self.left_out = {} if left_out is None else left_out
        self.again = again
        self.recorded = recorded
        self.was_killed = was_killed
        self.orders = Orders(results, plans=plans)
        self._asked = list(datasets)
        self._recipes: dict[str, Recipes] = {}
        for name, study in studies.items():
            self._recipes[name] = Recipes(study, seed, local, self._recipes)
        self._known: dict[Record, bool] = {}
        self._changed: dict[Record, list[str]] = {}

    def datasets(self, study: str) -> list[str]:
        """Return the datasets of a study that are asked for and can be had."""
        if self.recorded:
            return []
        asked = self.studies[study].expand(self._asked) or self.studies[study].datasets
        return [dataset for dataset in asked if base_of(dataset) not in self.left_out]

    def all_datasets(self, study: str) -> list[str]:
        """Return all datasets of a study, then others that are asked for."""
        own = self.studies[study].datasets
        return [*own, *(d for d in self.datasets(study) if d not in own)]

    def records(self, study: str, kind: str) -> list[Record]:
        """Return the records of a kind that are asked for, and those that there are.

        kind : one of KINDS.
        """
        asked = set(self.datasets(study))
        found = []
        for dataset in self.all_datasets(study):
            # A method may be asked for twice, such as by two figures.
            for names in dict.fromkeys(_names(self.studies[study], kind, dataset)):
                record = Record(kind, study, dataset, names)
                if dataset in asked or (self.results / record.path).exists():
                    found.append(record)
        return found

    def owner(self, curve: Record) -> str:
        """Return the study whose models a query curve is of."""
        sampled = self.studies[curve.study].content["queries"].get("sampled", {"methods": []})
        return str(sampled["study"]) if curve.names[0] in sampled["methods"] else curve.study

    def recipe(self, record: Record) -> Recipe:
        """Return the recipe of a record."""
        recipes = self._recipes[record.study]
        by_kind: dict[str, Callable[..., Recipe]] = {
            "models": recipes.learning,
            "cells": recipes.scoring,
            "times": recipes.timing,
            "paired": recipes.pair,
            "curves": recipes.curve,
            "exports": recipes.export,
            "structures": recipes.structure,
            "divergences": recipes.divergence,
            "likelihoods": recipes.likelihoods,
        }
        return by_kind[record.kind](record.dataset, *record.names)

    def stale(self, record: Record) -> list[str]:
        """Return what of a record's recipe has changed; nothing if the record is current.

        Each record is read once: a plan is of one moment.
        """
        if record not in self._changed:
            recorded = recorded_recipe(self.results / record.path)
            self._changed[record] = differences(recorded, self.recipe(record))
        return self._changed[record]

    def stale_cells(self, study: str, kinds: Collection[str]) -> list[list[str]]:
        """Return the cells, as [dataset, method], of which a run uses a record that is not current.

        kinds : of the records. A record of two methods counts for both.
        """
        return [
            list(cell)
            for cell in dict.fromkeys(
                (record.dataset, name)
                for kind in kinds
                for record in self.records(study, kind)
                if self.is_settled(record) and self.stale(record)
                for name in record.names
            )
        ]

    def is_settled(self, record: Record) -> bool:
        """Whether a record is used as it is."""
        if record not in self._known:
            self._known[record] = self._settled(record)
        return self._known[record]

    def _settled(self, record: Record) -> bool:
        if not (self.results / record.path).exists():
            return False
        if self._was_killed(record):
            return False
        if record.dataset not in self.datasets(record.study):
            return True
        if self.again or self.stale(record):
            return False
        return record.kind != "cells" or not self._lacks_examples(record)

    def _was_killed(self, record: Record) -> bool:
        """Whether the job of a record was killed, after it had written the record."""
        path = self.results / record.path
        # The models of a cell are a folder for Snakemake.
        return self.was_killed(str(path)) or self.was_killed(str(path.parent))

    def _lacks_examples(self, cell: Record) -> bool:
        """Whether a pair has to be compared, and the scores by test example are not of the cell."""
        (method,) = cell.names
        pairs = self.studies[cell.study].content.get("paired", [])
        kept = self.results / cell.study / "per_example" / cell.dataset / f"{method}.csv"
        wanted = any(
            not self.is_settled(Record("paired", cell.study, cell.dataset, tuple(pair)))
            for pair in pairs
            if method in pair
        )
        return wanted and not are_of_cell(kept, self.results / cell.path)

    def unless_settled(self, record: Record, **inputs: Any) -> dict[str, Any]:
        """Return the inputs of the rule that makes a record, with its order; none if settled."""
        if self.is_settled(record):
            return {}
        order = self.orders.write(record.path, self.recipe(record))
        path = self.results / record.path
        # The models of a cell are a folder for Snakemake, which may be there without its record.
        is_half_made = record.kind == "models" and path.parent.exists() and not path.exists()
        if is_half_made or (path.exists() and (self.again or self.stale(record))):
            # A checkout in git can give an old record a new time.
            self.orders.renumber(order)
        return {**inputs, "order": str(order)}

    def data_order(self, dataset: str) -> str:
        """Return the order of a dataset's splits."""
        recipe = data_recipe(dataset, self.seed, self.local)
        return str(self.orders.write(Path("data", dataset), recipe))

    def needed_datasets(self) -> list[str]:
        """Return the datasets of which something has to be made."""
        return list(
            dict.fromkeys(
                record.dataset
                for study in self.running
                for kind in KINDS
                for record in self.records(study, kind)
                if not self.is_settled(record)
            )
        )


KINDS = (
    *("cells", "times", "paired", "curves", "exports", "structures", "divergences"),
    "likelihoods",
)


def _names(study: Study, kind: str, dataset: str) -> Iterator[tuple[str, ...]]:
    """Yield the methods of each record of a kind on a dataset, in the order of the study."""
    content, methods = study.content, study.methods_on(dataset)
    if kind == "cells":
        yield from ((method,) for method in methods)
    elif kind == "times":
        timed = content.get("timed", []) if study.is_timed(dataset) else []
        yield from ((method,) for method in timed if method in methods)
    elif kind in ("paired", "divergences"):
        yield from (tuple(pair) for pair in content.get(kind, []) if set(pair) <= set(methods))
    elif kind == "likelihoods":
        asked = content.get("likelihoods", {"methods": []})
        timed = asked.get("timed", []) if study.is_timed(dataset) else []
        yield from ((method,) for method in (*asked["methods"], *timed) if method in methods)
    elif kind == "exports":
        yield from ((method,) for method in content.get("exports", {}) if method in methods)
    elif kind == "structures":
        drawn = [f for f in content["figures"] if f["kind"] == "structure"]
        yield from ((f["method"],) for f in drawn if f["dataset"] == dataset)
    else:
        queries = content.get("queries", {"methods": []})
        sampled = queries.get("sampled", {"methods": []})
        asked = [method for method in queries["methods"] if method in methods]
        yield from ((method,) for method in [*asked, *sampled["methods"]])
