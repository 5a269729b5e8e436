"""What is refused before a study runs: it would otherwise show in jobs, one after the other."""

from collections.abc import Iterable, Mapping
from typing import Any

from mnlearn.data.own_files import SPLITS
from mnlearn.methods import load_learner
from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.prepare import check_dataset
from mnlearn_studies.datasets.sample_names import base_of
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.folders import own_file


def check_datasets(names: Iterable[str], local: Mapping[str, Any]) -> None:
    """Refuse a dataset that does not exist, or a person's own one without its files.

    local : how a person's own datasets are given, by name.
    """
    for name in names:
        check_dataset(name, local)
        entry = local.get(base_of(name), {})
        for split in SPLITS:
            if split in entry and not own_file(entry[split]).exists():
                raise InputError(
                    f"config.yaml, local.{base_of(name)}.{split}: there is no file "
                    f"{own_file(entry[split])}."
                )


def check_grids(study: Study) -> None:
    """Refuse a study whose grids have parameters or values that the learners do not have."""
    for method in study.methods:
        learner = load_learner(study.learner(method))
        for dataset in study.datasets:
            try:
                learner.grid(study.grid(method, dataset))
            except InputError as error:
                raise InputError(f"study {study.name}, {method}, grid: {error}") from None
