"""What writing the products of a study takes from the run."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from mnlearn_studies.datasets.embedded import build_true_network
from mnlearn_studies.report import study_products


@pytest.mark.parametrize("seed", [None, 7])
def test_figures_show_the_true_networks_of_the_seed_of_the_run(monkeypatch, tmp_path, seed):
    study = SimpleNamespace(datasets=["grid", "nltcs"])
    given = {}
    monkeypatch.setattr(study_products, "scored", lambda name: (study, tmp_path, pd.DataFrame()))
    monkeypatch.setattr(
        study_products.figures, "write_figures", lambda *args, **options: given.update(options)
    )
    study_products.write_study_figures("s", seed=seed)
    (truth,) = given["truths"].values()
    expected = build_true_network("grid", 20 if seed is None else seed)
    np.testing.assert_array_equal(truth.weight, expected.weight)
