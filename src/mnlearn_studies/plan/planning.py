"""What a run of the workflow has to make, decided once, before Snakemake starts.

The name of a record's file has the digest of its recipe, so a record that exists under its current
name is current, whatever git, clocks and kills did. A record that was made by another recipe keeps
its old name until the new one is there.
"""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_json
from mnlearn_studies.datasets.sample_names import base_of
from mnlearn_studies.records.files import read_models
from mnlearn_studies.records.kind import BESIDE
from mnlearn_studies.records.kinds import ASKED, KINDS, NAMED
from mnlearn_studies.records.record import Job, Recipe, Record, recipe_digest
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.reading import hint

# Hexadecimal digits of a recipe's digest in the name of a file.
DIGITS = 8
# Stands for the digest of a record that is to be made again, though it was current.
AGAIN = "0" * DIGITS


@dataclass(kw_only=True, eq=False)
class Plan:
    """Which records of some studies a run makes.

    studies : those that are run, and those whose models they query, by name. running : those that
    are run; of the others only the models are made that these query. local : how a person's own
    datasets are given, by name. datasets : those that are asked for; all of each study if empty.
    left_out : the reason by dataset that cannot be had; the records of these and of their samples
    are used as they are. recorded : whether all records are used as they are and none is made.
    mirror : where public data are fetched from; empty for their source. n_parts : most jobs that
    share out the learning of a cell.
    """

    studies: Mapping[str, Study]
    running: list[str]
    results: Path
    seed: int
    local: Mapping[str, Any]
    datasets: Collection[str] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    recorded: bool = False
    mirror: str = ""
    n_parts: int = 1

    def __post_init__(self) -> None:
        for name, study in self.studies.items():
            for kind in study.content.get("records", {}):
                if kind not in NAMED:
                    end = hint(kind, NAMED) or "."
                    raise InputError(
                        f"study {name}, records: {kind!r} is no kind for this key{end}"
                    )
        self._asked = {name: frozenset(self._expand(name)) for name in self.studies}
        self._recipes: dict[Record, Recipe] = {}
        self._versions: dict[Record, list[Path]] = {}
        # What records say of their models, by file; and the records that are about some models.
        self._said: dict[Path, Mapping[str, str]] = {}
        self._about: dict[Record, list[Record]] = {}
        # The record of each file that was named as an input.
        self._owners: dict[str, Record] = {}

    def _expand(self, study: str) -> list[str]:
        """Return the datasets of a study that are asked for and can be had."""
        if self.recorded:
            return []
        asked = self.studies[study].expand(self.datasets) or self.studies[study].datasets
        return [dataset for dataset in asked if base_of(dataset) not in self.left_out]

    def all_datasets(self, study: str) -> list[str]:
        """Return all datasets of a study, then others that are asked for."""
        known = self.studies[study].datasets
        return [*known, *sorted(self._asked[study] - set(known))]

    def records(self, study: str, kind: str) -> list[Record]:
        """Return the records of a kind that are asked for, and those that there are."""
        found = (
            Record(kind, study, dataset, names)
            for dataset in self.all_datasets(study)
            # A method may be asked for twice, such as by two figures.
            for names in dict.fromkeys(KINDS[kind].asked(self.studies[study], dataset))
        )
        return [record for record in found if self.is_wanted(record) or self.versions(record)]

    def all_records(self, study: str) -> list[Record]:
        """Return the records of all kinds that studies ask for by themselves."""
        return [record for kind in ASKED for record in self.records(study, kind)]

    def recipe(self, record: Record) -> Recipe:
        """Return the recipe of a record: everything that it depends on."""
        if record not in self._recipes:
            self._recipes[record] = KINDS[record.kind].recipe(self, record)
        return self._recipes[record]

    def digest(self, record: Record) -> str:
        """Return the digest of the recipe of a record, as names of files have it."""
        return recipe_digest(self.recipe(record))[:DIGITS]

    def path(self, record: Record, name: str = "") -> Path:
        """Return a file of a record under its current name; its first file if none is named."""
        return self.results / _filled(record, self.digest(record), name)

    def versions(self, record: Record) -> list[Path]:
        """Return the files of a record that there are, the current one first."""
        if record not in self._versions:
            found, current = self.results.glob(_filled(record, "*", "")), self.path(record)
            self._versions[record] = sorted(found, key=lambda path: (path != current, path.name))
        return self._versions[record]

    def is_wanted(self, record: Record) -> bool:
        """Whether a record is asked for."""
        return not self.recorded and (
            not record.study or record.dataset in self._asked[record.study]
        )

    def is_made(self, record: Record) -> bool:
        """Whether a record is used as it is."""
        versions = self.versions(record)
        if not versions:
            return False
        return self._is_current(record) or not self.is_wanted(record)

    def _is_current(self, record: Record) -> bool:
        """Whether a record is there by its current recipe, and of the models of its cells."""
        return self._has_recipe(record) and not self._is_of_other_models(record)

    def _has_recipe(self, record: Record) -> bool:
        return self.versions(record)[:1] == [self.path(record)]

    def _is_of_other_models(self, record: Record) -> bool:
        """Whether a current cell says that its model is another one than a record is about."""
        kind = KINDS[record.kind]
        if record.kind == "cells" or not kind.is_asked:
            return False
        said = self._models_said(record)
        for models in kind.learned(self, record):
            cell, (name,) = models.of("cells", *models.names), models.names
            if not self._has_recipe(cell) or name not in said:
                continue
            if self._models_said(cell).get(name, said[name]) != said[name]:
                return True
        return False

    def _models_said(self, record: Record) -> Mapping[str, str]:
        path = self.versions(record)[0]
        if path not in self._said:
            # A damaged record is named when it is gathered.
            with suppress(InputError):
                self._said[path] = read_models(path)
        return self._said.get(path, {})

    def of_other_models(self, study: str) -> list[Path]:
        """Return the records of a study that are about another model than the cell has."""
        return [
            self.path(record)
            for record in self.all_records(study)
            if self._has_recipe(record) and self._is_of_other_models(record)
        ]

    def _beside(self, record: Record) -> list[str]:
        """Return the records that are used as they are and are about the same models as one."""
        if not self._about:
            for each in (each for study in self.studies for each in self.all_records(study)):
                for models in KINDS[each.kind].learned(self, each):
                    self._about.setdefault(models, []).append(each)
        kind = KINDS[record.kind]
        learned = kind.learned(self, record) if kind.is_asked else []
        near = dict.fromkeys(each for of in learned for each in self._about.get(of, ()))
        return [str(self.path(each)) for each in near if self._is_current(each)]

    def used(self, record: Record) -> Path | None:
        """Return the file of a record that there is or that the run makes; None for neither."""
        versions = self.versions(record)
        if self.is_made(record):
            return versions[0]
        return self.path(record) if self.is_wanted(record) else None

    def file(self, record: Record, name: str = "") -> str:
        """Return a file of a record as an input of a job; the record itself if none is named."""
        file = str(self.path(record, name))
        self._owners[file] = record
        return file

    def stale(self, record: Record) -> list[str]:
        """Return what of a record's recipe has changed; nothing if it is current or missing."""
        versions = self.versions(record)
        if not versions or self._is_current(record):
            return []
        if self._has_recipe(record):
            return ["model"]
        recorded = _recorded_recipe(versions[0])
        if recorded is None:
            return ["no recipe"]
        return differences(recorded, self.recipe(record)) or ["asked for again"]

    def job(self, record: Record) -> Job:
        """Return what the process that makes a record is given."""
        kind = KINDS[record.kind]
        outputs = {name: self.path(record, name) for name in kind.files}
        return Job(
            record,
            self.recipe(record),
            self.seed,
            kind.inputs(self, record),
            outputs,
            {**kind.given(self, record), BESIDE: self._beside(record)},
        )

    def kept(self, study: str) -> dict[str, list[Path]]:
        """Return the files of the records of a study that there are, by kind."""
        return {
            kind: [found[0] for each in self.records(study, kind) if (found := self.versions(each))]
            for kind in ASKED
        }

    def missing(self, study: str) -> list[Record]:
        """Return the records that a run makes because a study asks for them."""
        return [record for record in self.all_records(study) if not self.is_made(record)]

    def jobs(self) -> set[Record]:
        """Return the records that a run makes: those that are missing, and what they lack."""
        missing = (record for study in self.running for record in self.missing(study))
        return set(self.in_order(missing))

    def in_order(self, wanted: Iterable[Record]) -> list[Record]:
        """Return wanted records and what they lack, each after those that it is made from.

        A record that is there is made again if one of its other files is an input and is missing:
        git does not keep the scores by example of a cell.
        """
        ordered: dict[Record, None] = {}

        def add(record: Record) -> None:
            if record in ordered:
                return
            for given in KINDS[record.kind].inputs(self, record).values():
                for file in [given] if isinstance(given, str) else given:
                    if file in self._owners and not Path(file).exists():
                        add(self._owners[file])
            ordered[record] = None

        for record in wanted:
            add(record)
        return list(ordered)

    def needed_datasets(self) -> list[str]:
        """Return the datasets of which something has to be made."""
        missing = (record for study in self.running for record in self.missing(study))
        return list(dict.fromkeys(record.dataset for record in missing))

    def drop_superseded(self, study: str) -> None:
        """Remove older versions of the records of a study that are current, as git can leave."""
        for record in self.all_records(study):
            current, *older = self.versions(record) or [Path()]
            if current != self.path(record):
                continue
            for path in older:
                digest = path.stem.rpartition("@")[2]
                for name in KINDS[record.kind].files:
                    (self.results / _filled(record, digest, name)).unlink(missing_ok=True)

    def forget(self, study: str) -> None:
        """Plan as if the records of a study that are asked for were not there."""
        for record in self.all_records(study):
            if self.is_wanted(record):
                self._versions[record] = []

    def set_aside(self, study: str, *, again: bool = False) -> None:
        """Rename records that are to be made again, so that Snakemake sees that they are missing.

        These are those that are about another model than their cell; with `again`, all.
        """
        records = [
            record
            for record in self.all_records(study)
            if self.is_wanted(record) and (again or self.stale(record) == ["model"])
        ]
        for record in records:
            for name in KINDS[record.kind].files:
                current = self.path(record, name)
                if current.exists():
                    current.rename(self.results / _filled(record, AGAIN, name))
        self._versions.clear()


def _filled(record: Record, digest: str, name: str) -> str:
    files = KINDS[record.kind].files
    template = files[name] if name else next(iter(files.values()))
    return template.format(
        study=record.study, dataset=record.dataset, names="-".join(record.names), digest=digest
    )


def _recorded_recipe(path: Path) -> Recipe | None:
    """Return the recipe that a record was made by; None if it has none that can be read."""
    try:
        record = read_json(path)
    except InputError:
        return None
    recipe = record.get("recipe") if isinstance(record, dict) else None
    return recipe if isinstance(recipe, dict) else None


def differences(recorded: Recipe, recipe: Recipe) -> list[str]:
    """Return what of a recipe differs from the recorded one."""
    names = dict.fromkeys([*recipe, *recorded])
    return [name for name in names if recorded.get(name) != recipe.get(name)]
