"""The three splits of a dataset, which all studies share."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from mnlearn.data.own_files import SPLITS
from mnlearn.runtime.code_digest import code_digest
from mnlearn.runtime.files import file_digest
from mnlearn_studies.datasets.prepare import EXPANDED_KEY, prepare_dataset
from mnlearn_studies.datasets.registry import EMBEDDED, FETCHED, find_dataset, load_datasets
from mnlearn_studies.datasets.sample_names import base_of, parse_drawn
from mnlearn_studies.records.kind import Kind, Planned
from mnlearn_studies.records.record import Job, Recipe, Record, recipe_digest
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.folders import own_file


class Data(Kind):
    """Splits of a dataset: fetched and verified, drawn, built, or split from own files."""

    name = "data"
    files: ClassVar[Mapping[str, str]] = {
        split: f"data/{{dataset}}/{split}@{{digest}}.npz" for split in SPLITS
    }
    is_asked = False
    is_local = True

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        yield ()

    def recipe(self, plan: Planned, record: Record) -> Recipe:
        dataset = record.dataset
        if (sub := parse_drawn(dataset)) is not None:
            return {
                "base": recipe_digest(plan.recipe(Record("data", "", sub.base))),
                "size": sub.size,
                "fold": sub.fold,
                "seed": plan.seed,
                "code": code_digest("mnlearn_studies.datasets.drawn_samples.draw_sample"),
            }
        if dataset in plan.local:
            # The limit decides whether files are read, not what is read of them.
            local = plan.local[dataset].items()
            given = {key: value for key, value in local if key != EXPANDED_KEY}
            paths = [own_file(given[split]) for split in SPLITS if split in given]
            files = [file_digest(path) if path.exists() else None for path in paths]
            code = code_digest("mnlearn_studies.datasets.prepare.load_own")
            return {"given": given, "files": files, "seed": plan.seed, "code": code}
        entry = find_dataset(load_datasets(), dataset)
        if entry.recipe == EMBEDDED:
            code = code_digest("mnlearn_studies.datasets.embedded.load_embedded")
            return {"name": dataset, "seed": plan.seed, "code": code}
        blobs = [file.blob_id for file in entry.files]
        if entry.recipe == FETCHED:
            return {"files": blobs, "code": code_digest("mnlearn.data.text.load_benchmark")}
        code = code_digest("mnlearn_studies.datasets.built.build")
        return {"files": blobs, "splits": list(entry.blob_ids), "code": code}

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        entry = plan.local.get(base_of(record.dataset), {})
        return {"own": [entry[split] for split in SPLITS if split in entry]}

    def given(self, plan: Planned, record: Record) -> dict[str, Any]:
        return {"local": plan.local.get(base_of(record.dataset), {}), "mirror": plan.mirror}

    def make(self, job: Job) -> None:
        name, folder, given = job.record.dataset, job.out.parent.parent, job.given
        mirror = given["mirror"] or None
        splits = prepare_dataset(name, folder, job.seed, given["local"], mirror=mirror)
        for split, data in splits.items():
            data.save(job.outputs[split])
