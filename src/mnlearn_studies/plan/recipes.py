"""Recipes: everything that a record of a study depends on, known before anything is computed.

A record keeps the recipe that it was made by. It is current while the study, the data and the
code give the same recipe; then a run uses it as it is. A recipe names what it depends on, so that
one can say why a record is stale.
"""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from mnlearn.data.splits import SPLITS
from mnlearn.methods import learner_root
from mnlearn.runtime.code_digest import code_digest
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import file_digest, read_json
from mnlearn_studies.datasets.built import BUILT
from mnlearn_studies.datasets.embedded import EMBEDDED
from mnlearn_studies.datasets.prepare import EXPANDED_KEY
from mnlearn_studies.datasets.registry import load_registry
from mnlearn_studies.datasets.sample_names import parse_drawn
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.folders import own_file

Recipe = dict[str, Any]


def recipe_digest(recipe: Recipe) -> str:
    """Digest a recipe (16 hexadecimal digits), to name it in another one."""
    return hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()[:16]


def data_recipe(dataset: str, seed: int, local: Mapping[str, Any]) -> Recipe:
    """Return what the three splits of a dataset depend on.

    local : how a person's own datasets are given, by name.
    """
    sub = parse_drawn(dataset)
    if sub is not None:
        return {
            "base": recipe_digest(data_recipe(sub.base, seed, local)),
            "size": sub.size,
            "fold": sub.fold,
            "seed": seed,
            "code": code_digest("mnlearn_studies.datasets.drawn_samples.draw_sample"),
        }
    if dataset in local:
        # The limit decides whether files are read, not what is read of them.
        entry = {key: value for key, value in local[dataset].items() if key != EXPANDED_KEY}
        paths = [own_file(entry[split]) for split in SPLITS if split in entry]
        files = [file_digest(path) if path.exists() else None for path in paths]
        code = code_digest("mnlearn_studies.datasets.prepare.load_own")
        return {"given": entry, "files": files, "seed": seed, "code": code}
    if dataset in EMBEDDED:
        return {
            "name": dataset,
            "seed": seed,
            "code": code_digest("mnlearn_studies.datasets.embedded.load_embedded"),
        }
    if dataset in BUILT:
        built = BUILT[dataset]
        files = [built.source.file(part).blob_id for part in built.source.parts]
        code = code_digest("mnlearn_studies.datasets.built.build")
        return {"files": files, "splits": list(built.blob_ids), "code": code}
    benchmark = load_registry()[dataset]
    files = [benchmark.file(split).blob_id for split in SPLITS]
    return {"files": files, "code": code_digest("mnlearn.data.text.load_benchmark")}


@cache
def _root(learner: str) -> str:
    return learner_root(learner)


class Recipes:
    """The recipes of all records of one study.

    local : how a person's own datasets are given, by name. others : the recipes of other studies
    by name, whose models this one queries.
    """

    def __init__(
        self,
        study: Study,
        seed: int,
        local: Mapping[str, Any],
        others: "Mapping[str, Recipes] | None" = None,
    ) -> None:
        self.study = study
        self.seed = seed
        self.local = local
        self.others = {} if others is None else others
        self._learning: dict[tuple[str, str], Recipe] = {}

    def learning(self, dataset: str, method: str) -> Recipe:
        """Return the recipe of the models of a cell."""
        key = dataset, method
        if key not in self._learning:
            self._learning[key] = self._learning_of(dataset, method)
        return self._learning[key]

    def _learning_of(self, dataset: str, method: str) -> Recipe:
        study, learner = self.study, self.study.learner(method)
        network = study.network(method)
        built_on = None if network is None else recipe_digest(self.learning(dataset, network))
        return {
            "learner": learner,
            "code": code_digest(_root(learner), "mnlearn_studies.records.learn.learn_cell"),
            "data": recipe_digest(data_recipe(dataset, self.seed, self.local)),
            "grid": study.grid(method, dataset),
            "criterion": study.tuning_cmll(method, dataset),
            "network": built_on,
            "seed": self.seed,
        }

    def scoring(self, dataset: str, method: str) -> Recipe:
        """Return the recipe of a cell: its models, scored on test data."""
        study = self.study
        further = study.further_inference(method, dataset)
        return {
            "learning": recipe_digest(self.learning(dataset, method)),
            "code": code_digest(
                _root(study.learner(method)),
                "mnlearn_studies.records.score.score_cell",
                "mnlearn.inference.query_groups.partitions",
            ),
            "inference": study.inference(dataset),
            "groups": [study.content["cmll"]["groups"], study.n_partitions(dataset)],
            "cmll_of": study.cmll_of(method, dataset),
            **({"further_inference": further} if further else {}),
        }

    def timing(self, dataset: str, method: str) -> Recipe:
        """Return the recipe of the seconds of a cell's chosen model."""
        learning = self.learning(dataset, method)
        return {
            "learning": recipe_digest(learning),
            "code": code_digest("mnlearn_studies.records.timing.time_cell"),
        }

    def pair(self, dataset: str, first: str, second: str) -> Recipe:
        """Return the recipe of the comparison of two cells by test example."""
        return {
            "first": recipe_digest(self.scoring(dataset, first)),
            "second": recipe_digest(self.scoring(dataset, second)),
            "code": code_digest("mnlearn_studies.records.pair.compare_paired"),
        }

    def curve(self, dataset: str, method: str) -> Recipe:
        """Return the recipe of a query curve, of a model of this study or of another."""
        queries = self.study.content["queries"]
        sampled = queries.get("sampled")
        by_sampling = sampled is not None and method in sampled["methods"]
        owner = self.others[sampled["study"]] if by_sampling else self
        return {
            "learning": recipe_digest(owner.learning(dataset, method)),
            "code": code_digest(
                "mnlearn_studies.records.query_curve.query_curve",
                "mnlearn_studies.records.query_curve.draw_queries",
            ),
            "examples": queries["examples"],
            "percentages": queries["percentages"],
            "n_sampled": sampled["examples"] if sampled else None,
            "inference": self.study.inference(dataset) if by_sampling else None,
            "beliefs": bool(sampled and sampled.get("beliefs")) if by_sampling else None,
            "seed": self.seed,
        }

    def export(self, dataset: str, method: str) -> Recipe:
        """Return the recipe of the check that a model survives other forms of files."""
        return {
            "learning": recipe_digest(self.learning(dataset, method)),
            "code": code_digest("mnlearn_studies.records.round_trip.check_exports"),
            "forms": self.study.content["exports"][method],
        }

    def divergence(self, dataset: str, first: str, second: str) -> Recipe:
        """Return the recipe of the divergence of one circuit from another."""
        return {
            "first": recipe_digest(self.learning(dataset, first)),
            "second": recipe_digest(self.learning(dataset, second)),
            "code": code_digest("mnlearn_studies.records.divergence.estimate_divergence"),
            "seed": self.seed,
        }

    def likelihoods(self, dataset: str, method: str) -> Recipe:
        """Return the recipe of the log-likelihoods with approximate partition functions."""
        settings = self.study.content["likelihoods"]
        return {
            "learning": recipe_digest(self.learning(dataset, method)),
            "code": code_digest("mnlearn_studies.records.likelihoods.compare_likelihoods"),
            "settings": {key: settings[key] for key in ("beliefs", "annealing", "queries")},
            "seed": self.seed,
        }

    def structure(self, dataset: str, method: str) -> Recipe:
        """Return the recipe of the couplings of a model, which a figure draws."""
        return {
            "learning": recipe_digest(self.learning(dataset, method)),
            "code": code_digest("mnlearn_studies.records.structure.write_structure"),
        }


def recorded_recipe(path: Path) -> Recipe | None:
    """Return the recipe that a record was made by; None if there is no record or it has none."""
    try:
        record = read_json(path)
    except InputError:
        return None
    recipe = record.get("recipe") if isinstance(record, dict) else None
    return recipe if isinstance(recipe, dict) else None


def differences(recorded: Recipe | None, recipe: Recipe) -> list[str]:
    """Return what of a recipe differs from the recorded one; nothing if the record is current."""
    if recorded is None:
        return ["no recipe"]
    names = dict.fromkeys([*recipe, *recorded])
    return [name for name in names if recorded.get(name) != recipe.get(name)]
