"""Claims that are judged with weights of the published rule and with those of the optimum."""

import pandas as pd
import pytest

from mnlearn_studies.records.gather import COLUMNS
from mnlearn_studies.report.material import Material
from mnlearn_studies.report.pages import conclusions
from mnlearn_studies.study.definition import studies_of_papers
from mnlearn_studies.study.mentions import named_methods
from mnlearn_studies.study.published import load_published

STUDIES = studies_of_papers()
LABELS = {"nltcs": "NLTCS", "msnbc": "MSNBC"}


def material_of(name, rows=()):
    rows = [(name, dataset, method, "", "pll", value, None) for dataset, method, value in rows]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    return Material.of(STUDIES[name], frame, load_published(), LABELS)


def claims_of(*rows):
    return pd.DataFrame(rows, columns=["id", "statement", "ours", "verdict"])


@pytest.mark.parametrize("name", ["gssl", "dn2mn"])
def test_each_claim_of_a_published_rule_has_a_twin_at_the_optimum(name):
    found = list(conclusions._pairs(material_of(name), claims_of(), {}))
    references = [
        entry
        for entry in STUDIES[name].content["claims"]
        if named_methods(entry) & conclusions.OPTIMA.keys() and entry["kind"] != "setting"
    ]
    assert len(found) == len(references) >= 4
    assert {row[3:] for row in found} == {(conclusions.NOT_YET, conclusions.NOT_YET, "–")}


def test_a_verdict_flips_and_its_stale_number_is_marked():
    head = "With logistic regressions, DN2MN has a higher test PLL than LW"
    claims = claims_of(
        (51, f"{head} from zero.", "10 of 12", "reproduced"),
        (51, f"{head}.", "2 of 12", "contradicted"),
    )
    stale = {"dn2mn": {("nltcs", "lw_lr")}}
    found = list(conclusions._pairs(material_of("dn2mn"), claims, stale))
    judged = [row for row in found if row[-1] != "–"]
    (row,) = judged
    assert row[3:] == ("10 of 12: reproduced", "2 of 12†: contradicted", "**yes**")
    text = conclusions.build_conclusions({"dn2mn": material_of("dn2mn")}, {"dn2mn": claims}, stale)
    assert "0 have the same verdict, 1 flip (claims 51)" in text


def test_gains_are_of_datasets_with_both():
    rows = [("nltcs", "lw_tree_reference", -6.0), ("nltcs", "lw_tree", -5.5)]
    material = material_of("dn2mn", [*rows, ("msnbc", "lw_tree", -6.0)])
    (change,) = (c for c in conclusions.CHANGES if c.after == "lw_tree")
    assert conclusions.gains(material, change, "pll") == {"nltcs": 0.5}
    text = conclusions.build_conclusions({"dn2mn": material}, {"dn2mn": claims_of()}, {})
    assert f"| {change.head} | 1 | +0.500 | +0.50 (NLTCS) | – | – |" in text
    assert conclusions.FIGURE in text
    conclusions.draw_conclusions({"dn2mn": material}).draw_without_rendering()
    nothing = {"dn2mn": material_of("dn2mn")}
    assert conclusions.draw_conclusions(nothing) is None
    text = conclusions.build_conclusions(nothing, {"dn2mn": claims_of()}, {})
    assert conclusions.FIGURE not in text
