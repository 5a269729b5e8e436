"""Scores of a cell: what of them is kept, and of what they depend."""

import json

import pytest

from made_random import random_data, random_network
from made_study import make
from mnlearn.models.io.formats import save_model
from mnlearn_studies.records.files import CHOSEN, TRACE, TUNING_RECORD, model_path

GROUPS = [[[0, 1, 2], [3, 4, 5]], [[0, 3], [1, 2, 4, 5]], [[0], [1, 2, 3, 4, 5]]]
SAMPLES = {"method": "gibbs", "burn_in": 5, "samples": 20}
EXACT = {"method": "exact"}


@pytest.fixture
def score(tmp_path, monkeypatch):
    """A function that scores a cell of three variants, of which the last is the chosen one."""
    monkeypatch.chdir(tmp_path)
    for variant, seed in ((CHOSEN, 0), ("first", 1), ("second", 0)):
        save_model(random_network(seed), model_path(tmp_path, variant))
    (tmp_path / TRACE).write_text("stage\n0\n")
    (tmp_path / "groups.json").write_text(json.dumps(GROUPS))
    for seed in (0, 1):
        random_data(seed).save(tmp_path / f"test{seed}.npz")

    def run(settings=EXACT, *, test=0, seed=20, kept=None, **more):
        """Return the scores of each variant."""
        variants = {
            variant: {"parameters": {"sd": sd}}
            for variant, sd in ((CHOSEN, 1.0), ("first", 2.0), ("second", 1.0))
        }
        record = {
            "learner": "dtsl", "dataset": "d", "method": "m", "seed": seed, "recipe": {},
            "variants": variants,
        }  # fmt: skip
        (tmp_path / TUNING_RECORD).write_text(json.dumps(record))
        inputs = {"models": TUNING_RECORD, "test": f"test{test}.npz", "groups": "groups.json"}
        given = {} if kept is None else {"checkpoints": kept}
        recipe = {"inference": settings, "cmll_of": "all", **more}
        cell = make("cells", "cell.json", recipe, inputs=inputs, given=given)
        scored = json.loads(cell.read_text())["variants"]
        return {variant: entry["scores"] for variant, entry in scored.items()}

    return run


@pytest.mark.parametrize("change", [{"test": 1}, {"settings": {**SAMPLES, "samples": 10}}])
def test_kept_scores_are_of_the_same_test_data_and_settings(score, change):
    first = score(settings=SAMPLES, kept="kept")
    assert score(settings=SAMPLES, kept="kept") == first == score(SAMPLES)
    changed = {"settings": SAMPLES, **change}
    assert score(**changed, kept="kept") == score(**changed) != first


def test_samples_depend_on_the_seed_of_the_record(score):
    one, other = (score(SAMPLES, seed=seed)[CHOSEN] for seed in (20, 21))
    assert one["pll"] == other["pll"]
    assert one["cmll"]["mean"] != other["cmll"]["mean"]


@pytest.mark.parametrize(
    ("cmll_of", "expected"),
    [("all", [3, 1, 1]), ("chosen", [3, 0, 0]), ("first", [1, 0, 0]), ("none", [0, 0, 0])],
)
def test_partitions_of_the_chosen_model_and_of_other_variants(score, cmll_of, expected):
    found = score(cmll_of=cmll_of)
    partitions = [scores.get("cmll", {"partitions": []})["partitions"] for scores in found.values()]
    assert list(map(len, partitions)) == expected
    if cmll_of == "all":
        for scores in found.values():
            assert scores["cmll"]["mean"] == scores["cmll"]["partitions"][0]
        assert found["second"]["pll"] == found[CHOSEN]["pll"] != found["first"]["pll"]
