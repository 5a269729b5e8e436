"""Records: the files that the experiments of a study leave, and the jobs that make them."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mnlearn_studies.records.files import CHOSEN, model_path

Recipe = dict[str, Any]


@dataclass(frozen=True)
class Record:
    """One record of a study: its kind and methods; splits of a dataset are of no study."""

    kind: str
    study: str
    dataset: str
    names: tuple[str, ...] = ()

    @property
    def data(self) -> "Record":
        """Return the splits of its dataset."""
        return Record("data", "", self.dataset)

    def of(self, kind: str, *names: str) -> "Record":
        """Return the record of another kind of the same study and dataset, and of some methods."""
        return Record(kind, self.study, self.dataset, names)

    @property
    def models(self) -> "Record":
        """Return the models of its first method."""
        return self.of("models", *self.names[:1])


@dataclass(frozen=True)
class Job:
    """What a process needs to make one record; `mnlearn step record` is given it as JSON.

    inputs, outputs : files by name, the first output is the record. given : what changes no number.
    models : digests of the chosen models, which `make_record` reads from the inputs.
    """

    record: Record
    recipe: Recipe
    seed: int
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Path]
    given: Mapping[str, Any]
    threads: int = 1
    models: Mapping[str, str] = field(default_factory=dict)

    @property
    def identity(self) -> dict[str, Any]:
        """Return what a record says first: study, dataset, (first) method, recipe, models."""
        record, models = self.record, dict(self.models)
        method = {"method": record.names[0]} if record.names else {}
        head = {"study": record.study, "dataset": record.dataset, **method, "recipe": self.recipe}
        return {**head, "models": models} if models else head

    @property
    def checkpoints(self) -> Path | None:
        """Return the folder of what is finished, if there is one: a killed job resumes."""
        folder = self.given.get("checkpoints")
        return None if folder is None else Path(folder)

    @property
    def out(self) -> Path:
        """Return the file of the record."""
        return next(iter(self.outputs.values()))

    def paths(self, name: str) -> list[Path]:
        """Return the files of an input; none if there is no such input."""
        given = self.inputs.get(name, [])
        return [Path(path) for path in ([given] if isinstance(given, str) else given)]

    def path(self, name: str) -> Path:
        """Return the file of an input that is one file."""
        (path,) = self.paths(name)
        return path

    def all_chosen(self, name: str = "models") -> list[Path]:
        """Return the files of the chosen models among models that are an input."""
        return [model_path(path.parent, CHOSEN) for path in self.paths(name)]

    def chosen(self, name: str = "models") -> Path:
        """Return the file of the chosen model of an input that is the models of one method."""
        (path,) = self.all_chosen(name)
        return path

    def to_json(self) -> str:
        """Return the job as JSON, the record first; threads are an option of the command."""
        record = self.record
        content = {
            "record": [record.kind, record.study, record.dataset, list(record.names)],
            "recipe": self.recipe,
            "seed": self.seed,
            "inputs": dict(self.inputs),
            "outputs": {name: str(path) for name, path in self.outputs.items()},
            "given": dict(self.given),
        }
        return json.dumps(content)

    @classmethod
    def from_json(cls, text: str, threads: int) -> "Job":
        """Return the job that `to_json` wrote.

        It raises ValueError, LookupError or TypeError for something else.
        """
        content = json.loads(text)
        kind, study, dataset, names = content["record"]
        outputs = {name: Path(path) for name, path in content["outputs"].items()}
        return cls(
            Record(kind, study, dataset, tuple(names)),
            content["recipe"],
            int(content["seed"]),
            content["inputs"],
            outputs,
            content["given"],
            threads,
        )


def recipe_digest(recipe: Recipe) -> str:
    """Digest a recipe (16 hexadecimal digits), to name it in another one."""
    return hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()[:16]
