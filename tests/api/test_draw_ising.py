"""`mn.draw_ising`: which figures there are, what they need, and bridge centrality."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import mnlearn as mn
from made_questionnaires import answers

ROWS = answers("rare")
FRAME = pd.DataFrame(ROWS, columns=[f"item{v}" for v in range(ROWS.shape[1])])
FRAME = FRAME.loc[:, FRAME.sum() > 5]
FRAME = FRAME.loc[:, FRAME.sum() < len(FRAME) - 5]
GROUPS = {name: "even" if v % 2 == 0 else "odd" for v, name in enumerate(FRAME)}


@pytest.fixture(scope="module")
def ising():
    return mn.Ising(random_state=0).fit(FRAME)


def test_what_needs_a_bootstrap_says_so(ising):
    with pytest.raises(mn.InputError, match=r"figure 'stability': call bootstrap\(\) first"):
        mn.draw_ising(ising, "stability")
    with pytest.raises(mn.InputError, match=r"figure 'case_drop': call drop_cases\(\) first"):
        mn.draw_ising(ising, "case_drop")
    with pytest.raises(mn.InputError, match=r"figure: expected one of network, .*, got 'edges'"):
        mn.draw_ising(ising, "edges")
    with pytest.raises(NotFittedError):
        mn.draw_ising(mn.Ising())


def test_every_figure_is_drawn(ising, tmp_path):
    whole = mn.Ising(random_state=0).fit(FRAME)
    whole.bootstrap(3)
    whole.drop_cases(2)
    for name in ("network", "centrality", "stability", "differences", "case_drop"):
        figure = mn.draw_ising(whole, name, groups=GROUPS)
        figure.savefig(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 5_000
    labels = [text.get_text() for text in mn.draw_ising(ising, groups=GROUPS).legends[-1].texts]
    assert {"even", "odd"} <= set(labels)


def test_weights_of_another_coding(ising):
    def largest(coding):
        legend = mn.draw_ising(ising, coding=coding).legends[0]
        return max(float(text.get_text()) for text in legend.texts[2:])

    assert largest("-1/1") < largest("0/1")


def test_networks_that_were_compared_are_side_by_side():
    found = mn.compare_ising({"first": FRAME[:200], "second": FRAME[200:]}, 2, random_state=0)
    figure = mn.draw_ising(found, groups={**GROUPS, "left out": "odd"})
    assert [axes.get_title() for axes in figure.axes] == ["first", "second"]


def test_bridges_are_sums_over_other_groups(ising):
    frame = ising.centrality_frame(groups=GROUPS)
    names = list(FRAME)
    for v, name in enumerate(names):
        other = [u for u, second in enumerate(names) if GROUPS[second] != GROUPS[name]]
        own = frame.set_index("variable").loc[name]
        assert own["bridge_strength"] == pytest.approx(np.abs(ising.weights_[v, other]).sum())
        assert own["bridge_expected_influence"] == pytest.approx(ising.weights_[v, other].sum())
    titles = [axes.get_title() for axes in mn.draw_ising(ising, "centrality", groups=GROUPS).axes]
    assert "bridge strength" in titles
    plain = mn.draw_ising(ising, "centrality")
    assert "bridge strength" not in [axes.get_title() for axes in plain.axes]


def test_variables_without_a_group_are_named(ising):
    name = list(FRAME)[-1]
    groups = {k: g for k, g in GROUPS.items() if k != name}
    with pytest.raises(
        mn.InputError, match=f"groups: expected a group for each item, lacks {name}"
    ):
        mn.draw_ising(ising, groups=groups)
    with pytest.raises(mn.InputError, match="groups: expected a group for each variable, lacks"):
        ising.centrality_frame(groups=groups)


def test_groups_of_unknown_variables_are_refused(ising):
    with pytest.raises(mn.InputError, match="groups: the network has no item 'x'"):
        mn.draw_ising(ising, groups={**GROUPS, "x": "odd"})
