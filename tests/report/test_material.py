"""What the products of a study are made from."""

import numpy as np
import pytest

from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.embedded import build_true_network
from mnlearn_studies.plan.planning import Plan
from mnlearn_studies.report.material import load_material
from mnlearn_studies.study.definition import Study

SCORES = (
    "study,dataset,method,variant,quantity,value,stderr\ns,grid,a,,ll,-1.0,\nt,grid,a,,ll,-2.0,\n"
)


@pytest.mark.parametrize("seed", [20, 7])
def test_the_true_networks_are_of_the_seed_of_the_run(tmp_path, seed):
    study = Study("s", {"datasets": ["grid", "nltcs"]})
    plan = Plan(studies={"s": study}, running=["s"], results=tmp_path, seed=seed, local={})
    with pytest.raises(InputError, match=r"scores\.csv: no such file; run the study first"):
        load_material(plan, "s")
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "scores.csv").write_text(SCORES)
    found = load_material(plan, "s")
    assert found.ours("a", "ll")["grid"].value == -1.0
    (truth,) = found.truths.values()
    expected = build_true_network("grid", seed)
    np.testing.assert_array_equal(truth.weight, expected.weight)
