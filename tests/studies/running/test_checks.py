"""Faults of a study that are found before a job runs."""

import pytest

from mnlearn.runtime.errors import InputError
from mnlearn_studies.running.run import check_datasets, check_grids
from mnlearn_studies.study.definition import Study
from workflow_tree import TINY


def study(**dtsl):
    methods = {**TINY["methods"], "dtsl": {**TINY["methods"]["dtsl"], **dtsl}}
    return Study("tiny", {**TINY, "methods": methods})


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"grid": {"kapa": [1.0]}}, "study tiny, dtsl, grid: .*kapa"),
        ({"grid": {"kappa": [-1.0]}}, "study tiny, dtsl, grid: .*kappa"),
        ({"exceptions": {"triples": {"kapa": [1.0]}}}, "study tiny, dtsl, grid: .*kapa"),
        ({"learner": "dtls"}, "dtls"),
    ],
)
def test_grids_have_parameters_of_the_learner(change, sentence):
    check_grids(study())
    with pytest.raises(InputError, match=sentence):
        check_grids(study(**change))


def test_datasets_exist_with_their_files(tmp_path, monkeypatch):
    monkeypatch.setattr("mnlearn_studies.study.folders.run_folder", lambda: tmp_path)
    (tmp_path / "there.csv").write_text("a,b\n0,1\n")
    local = {"mine": {"train": "there.csv"}, "other": {"train": "there.csv", "test": "gone.csv"}}
    check_datasets(["grid", "mine", "mine-n10-f1"], local)
    with pytest.raises(InputError, match=r"config.yaml, local.other.test: there is no file .*gone"):
        check_datasets(["grid", "other"], local)
    with pytest.raises(InputError, match="dataset minne: expected one of mine, other, "):
        check_datasets(["minne"], local)
