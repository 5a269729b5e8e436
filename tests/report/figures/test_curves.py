"""Curves over queries and over sizes of the data, and their limits."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from made_figures import BY_KIND, DATASETS, material, scores
from mnlearn.runtime.errors import InputError
from mnlearn_studies.report.figures import draw
from mnlearn_studies.report.figures.canvas import visible_range
from mnlearn_studies.report.figures.of_lem import CurveSeries, LearningCurves
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.published import Source, load_published


def test_query_curves_have_a_panel_per_dataset_and_a_line_per_method(structures):
    frame = scores()
    frame = frame[~((frame["dataset"] == "d1") & (frame["quantity"] == "cll_q10"))]
    figure = draw(material(structures, frame), BY_KIND["query_curves"])
    panels = [ax for ax in figure.axes if ax.get_visible()]
    # Dataset d1 lacks a point of every line.
    assert [ax.get_title("left") for ax in panels] == [f"Dataset {n}" for n in (0, *range(2, 8))]
    value = frame.set_index(["dataset", "method", "quantity", "variant"])["value"]
    for line, method in zip(panels[0].get_lines(), ("dtsl", "trees"), strict=True):
        expected = [value["d0", method, f"cll_q{p}", ""] for p in (10, 50)]
        assert line.get_ydata().tolist() == expected
    assert len(figure.legends) == 1


def test_eight_lines_look_different(structures):
    methods = [f"m{k}" for k in range(8)]
    rows = [("s", "d0", m, "", f"cll_q{p}", -1.0 / p, 0.1) for m in methods for p in (10, 50)]
    frame = pd.DataFrame(rows, columns=scores().columns)
    series = [{"head": m.upper(), "method": m} for m in methods]
    figure = draw(material(structures, frame), {**BY_KIND["query_curves"], "series": series})
    lines = figure.axes[0].get_lines()
    assert len(lines) == len({(line.get_color(), line.get_marker()) for line in lines}) == 8


def test_lines_of_a_panel_may_show_different_quantities(structures):
    frame = scores()
    more = [("s", "d2", "dtsl", "", f"cll_sampled_q{p}", -1.0 / p, 0.1) for p in (10, 50)]
    more += [("s", d, "trees", "", f"cmll_q{p}", -2.0 / p, 0.1) for d in DATASETS for p in (10, 50)]
    frame = pd.concat([frame, pd.DataFrame(more, columns=frame.columns)])
    product = {key: value for key, value in BY_KIND["query_curves"].items() if key != "quantity"}
    product |= {
        "datasets": ["d2", "d0"],
        "fraction": True,
        "series": [
            {"head": "A", "method": "dtsl", "quantity": "cll_sampled"},
            {"head": "B", "method": "trees", "quantity": "cmll", "dashed": True},
            {"head": "C", "method": "atomic", "quantity": "seconds_single"},
        ],
    }
    figure = draw(material(structures, frame), product)
    panels = [ax for ax in figure.axes if ax.get_visible()]
    # The second panel lacks line A; no panel has line C.
    assert [ax.get_title("left") for ax in panels] == ["Dataset 2", "Dataset 0"]
    first, second = (ax.get_lines() for ax in panels)
    assert first[0].get_ydata().tolist() == [-0.1, -0.02]
    assert [line.get_linestyle() for line in first] == ["-", "--"]
    assert [line.get_linestyle() for line in second] == ["--"]
    for own in (first, second):
        assert own[-1].get_ydata().tolist() == [-0.2, -0.04]
        assert own[0].get_xdata().tolist() == [0.1, 0.5]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["A", "B"]
    with pytest.raises(InputError, match="expected the key 'quantity'"):
        draw(material(structures, frame), {**product, "series": BY_KIND["query_curves"]["series"]})


def test_a_line_that_may_leave_does_not_set_the_limits():
    near, far = np.array([-0.5, -0.4]), np.array([-0.45, -9.0])
    low, high = visible_range(near, np.concatenate([near, far]))
    assert (low, high) == pytest.approx((-0.61, -0.39))
    assert visible_range(near, near) == pytest.approx((-0.505, -0.395))


def learning_curves(structures, far=-13.5):
    """Draw curves of two methods over two sizes and folds; `far` is what DL has at 100 examples."""
    values = {
        ("alarm", "lem_paper"): {100: (-12.0, -13.0), 1000: (-10.0, -10.0)},
        ("b", "lem_paper"): {100: (-11.0, -11.0), 1000: (-9.5, -9.5)},
        ("alarm", "dl"): {100: (far, far), 1000: (-11.0, -11.5)},
    }
    rows = [
        ("s", f"{base}-n{size}-f{k}", method, "", "ll", value, None)
        for (base, method), of in values.items()
        for size, found in of.items()
        for k, value in enumerate(found)
    ]
    rows.append(("s", "alarm-n10000-f0", "lem_paper", "", "seconds_learn", 1.5, None))
    rows.append(("s", "alarm-n10000-f0", "lem_paper", "", "n_vars", 148.0, None))
    frame = pd.DataFrame(rows, columns=scores().columns)
    labels = {"alarm": "Alarm", "traffic": "Traffic"}
    made = dataclasses.replace(
        material(structures, frame),
        study=Study("s", {"datasets": ["alarm"], "unavailable": ["traffic"], "figures": []}),
        published=load_published(),
        labels=labels,
    )
    series = (
        CurveSeries("LEM", Source("lem_paper", "ll"), 0),
        CurveSeries("grouped", Source("lem_paper", "ll"), 1, instead={"alarm": "b"}),
        CurveSeries("DL", Source("dl", "ll"), 2, dashed=True, may_leave=True),
    )
    entry = LearningCurves(**BY_KIND["lem.learning_curves"])
    return entry.draw(made, ("alarm", "traffic"), series)


def test_learning_curves_have_means_spread_both_units_and_the_published_axis(structures):
    figure = learning_curves(structures)
    first, second, third = figure.axes[:3]
    titles = [ax.get_title(loc="left") for ax in (first, second, third)]
    assert titles == ["(a) Alarm", "(b) Traffic", "(c) Minutes; ours below"]
    lines = {line.get_label(): line for line in first.get_lines()}
    np.testing.assert_allclose(lines["LEM"].get_xdata(), [100, 1000])
    np.testing.assert_allclose(lines["LEM"].get_ydata(), [-12.5, -10.0])
    np.testing.assert_allclose(lines["grouped"].get_ydata(), [-11.0, -9.5])
    bars = first.containers[0].lines[2][0].get_segments()
    np.testing.assert_allclose(bars[0][:, 1], [-13.0, -12.0])
    # The axis of the paper goes from -30 to -14: the left end in nats, the right end in bits.
    marked = [line for line in first.get_lines() if line.get_label() == "_axis"]
    low, high = first.get_ylim()
    spans = [sorted(line.get_ydata()) for line in marked]
    # In nats the panel ends above the axis of the paper.
    assert low > -14.0
    assert spans == [pytest.approx([low, -14.0 * np.log(2)])]
    figure.draw_without_rendering()
    (bits,) = first.child_axes
    assert bits.get_ylim() == pytest.approx((low / np.log(2), high / np.log(2)))
    assert [text.get_text() for text in second.texts] == ["the data are\nnot at hand"]
    shown = [text.get_text() for text in third.texts]
    for text in ("Alarm", "148", "60", "91", "1440*", "1.5 s"):
        assert text in shown
    heads = [text.get_text() for text in figure.legends[0].get_texts()]
    assert heads == ["LEM", "grouped", "DL"]


def test_learning_curves_far_below_leave_the_panel(structures):
    low, high = learning_curves(structures, far=-100.0).axes[0].get_ylim()
    assert -20 < low < -13
    assert -9.5 < high < -8


def test_growth_draws_powers_for_comparison(structures):
    product = {**BY_KIND["growth"], "powers": [2, 3]}
    ax = draw(material(structures), product).axes[0]
    dotted = [line for line in ax.get_lines() if line.get_linestyle() == ":"]
    for line, power in zip(dotted, (2, 3), strict=True):
        np.testing.assert_allclose(line.get_ydata(), np.array(line.get_xdata()) ** power)
    assert [text.get_text() for text in ax.texts] == ["$x^2$", "$x^3$"]


def test_the_line_of_growth_has_a_rounded_slope(structures):
    """So that the last bits of logarithms, which differ among processors, move no line."""
    line = draw(material(structures), BY_KIND["growth"]).axes[0].get_lines()[0]
    run, rise = np.diff(np.log(line.get_xydata()), axis=0)[0]
    billionths = 1e9 * rise / run
    assert abs(billionths - round(billionths)) < 1e-4
