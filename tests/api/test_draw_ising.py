"""`mn.draw_ising`: which figures there are, what they need, and bridge centrality."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from made_questionnaires import answers

ROWS = answers("rare")
FRAME = pd.DataFrame(ROWS, columns=[f"item{v}" for v in range(ROWS.shape[1])])
FRAME = FRAME.loc[:, FRAME.sum() > 5]
FRAME = FRAME.loc[:, FRAME.sum() < len(FRAME) - 5]
GROUPS = {name: "even" if v % 2 == 0 else "odd" for v, name in enumerate(FRAME)}

LAST = list(FRAME)[-1]


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
    rare = FRAME.assign(rare=0)
    rare.loc[:3, "rare"] = 1
    with pytest.warns(UserWarning, match="rare in a group: rare"):
        found = mn.compare_ising({"first": rare[:200], "second": rare[200:]}, 2, random_state=0)
    for groups in (GROUPS, {"rare": "first of all", **GROUPS}):
        figure = mn.draw_ising(found, groups=groups)
        assert [axes.get_title() for axes in figure.axes] == ["first", "second"]
    with pytest.raises(mn.InputError, match="figure: expected network for a comparison, got 'st"):
        mn.draw_ising(found, "stability")
    with pytest.raises(mn.InputError, match="groups: there is no variable 'x'"):
        mn.draw_ising(found, groups={**GROUPS, "x": "odd"})


def test_groups_have_bridges(ising):
    titles = [axes.get_title() for axes in mn.draw_ising(ising, "centrality", groups=GROUPS).axes]
    assert "bridge strength" in titles
    plain = mn.draw_ising(ising, "centrality")
    assert "bridge strength" not in [axes.get_title() for axes in plain.axes]


@pytest.mark.parametrize(
    ("groups", "sentence"),
    [
        ({k: g for k, g in GROUPS.items() if k != LAST}, f"a group for each .*, lacks '{LAST}'"),
        ({**GROUPS, "x": "odd"}, "groups: there is no variable 'x'"),
        ({**GROUPS, LAST: np.nan}, f"groups, '{LAST}': expected the name of a group, got nan"),
        (list(GROUPS), "groups: expected a mapping of variables to groups, got list"),
    ],
)
def test_wrong_groups_are_named(ising, groups, sentence):
    with pytest.raises(mn.InputError, match=sentence):
        mn.draw_ising(ising, groups=groups)
    with pytest.raises(mn.InputError, match=sentence):
        ising.centrality_frame(groups=groups)


def test_other_models_are_refused(ising):
    for other in (mn.Atomic().fit(FRAME), ising.network_, mn.Ising()):
        with pytest.raises(mn.InputError, match="found: expected a fitted Ising or an IsingComp"):
            mn.draw_ising(other)


@pytest.mark.parametrize("n", [2, 3])
def test_a_few_items_without_edges_have_room(n, tmp_path):
    rows = pd.DataFrame(np.array(list(np.ndindex(*[2] * n)) * 20), columns=list("abc")[:n])
    figure = mn.draw_ising(mn.Ising().fit(rows), "network")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.savefig(tmp_path / "a.png")
    ax = figure.axes[0]
    at = [ax.transData.transform(text.get_position()) for text in ax.texts]
    assert min(np.hypot(*(a - b)) for a, b in itertools.combinations(at, 2)) > 0.4 * figure.dpi
