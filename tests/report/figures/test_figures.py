import dataclasses
import itertools

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.text import Text

from mnlearn.models.features import features_of
from mnlearn.models.io.formats import save_model
from mnlearn.models.markov_network import markov_network
from mnlearn.report import figures
from mnlearn.report.figures import draw, write_figures
from mnlearn.report.figures.canvas import NOTHING, Material, render
from mnlearn.report.figures.critical_difference import find_runs
from mnlearn.report.figures.pareto import _beaten
from mnlearn.report.figures.query_curves import _limits
from mnlearn.runtime.errors import InputError
from mnlearn.study.cells.structure import couplings, write_structure
from mnlearn.study.definition import Study
from mnlearn.study.published import COLUMNS, load_published, tidy_scores

DATASETS = {f"d{n}": f"Dataset {n}" for n in range(8)}
NO_PUBLISHED = pd.DataFrame(columns=[*COLUMNS, "printed", "decimals"])
SCORE = {
    m: {"method": m, "quantity": "cmll", "head": m.upper()} for m in ("atomic", "dtsl", "trees")
}

PRODUCTS = [
    {"kind": "scatter", "x": SCORE["trees"], "y": SCORE["dtsl"]},
    {"kind": "scatter", "x": SCORE["trees"], "y": SCORE["dtsl"], "linear": True, "width": "page"},
    {
        "kind": "accuracy_time",
        "baseline": SCORE["atomic"],
        "relative": True,
        "series": [
            {"head": m, "score": SCORE[m], "seconds": {"method": m, "quantity": "seconds_learn"}}
            for m in ("dtsl", "trees")
        ],
    },
    {"kind": "variants", "method": "dtsl"},
    {"kind": "critical_difference", "columns": list(SCORE.values())},
    {
        "kind": "pareto",
        "series": [
            {"head": m, "score": SCORE[m], "seconds": {"method": m, "quantity": "seconds_learn"}}
            for m in ("dtsl", "trees")
        ],
    },
    {"kind": "reproduction", "a": SCORE["dtsl"], "b": SCORE["trees"], "relative": True},
    {
        "kind": "distances",
        "series": [{"head": m, "source": SCORE[m]} for m in ("dtsl", "atomic")],
        "published": [SCORE["trees"]],
    },
    {"kind": "structure", "dataset": "d0", "method": "dtsl", "max_edges": 8},
    {
        "kind": "differences",
        "quantity": "cmll",
        "panels": [{"method": "dtsl", "reference": SCORE["trees"]}],
        "variants": [{"name": v, "head": v} for v in ("default", "prune")],
    },
    {
        "kind": "conversion_loss",
        "quantity": "cmll",
        "panels": [{"method": "dtsl", "reference": SCORE["trees"]}],
        "variants": [{"name": v, "head": v} for v in ("default", "prune")],
    },
    {
        "kind": "query_curves",
        "quantity": "cll",
        "percentages": [10, 50],
        "y_label": "CLL",
        "series": [{"head": m, "method": m} for m in ("dtsl", "trees")],
    },
    {
        "kind": "growth",
        "x_label": "x",
        "y_label": "y",
        "series": [
            {
                "x": {"method": "dtsl", "quantity": "seconds_learn"},
                "y": {"method": "trees", "quantity": "seconds_learn"},
            }
        ],
    },
    {
        "kind": "learning_curves",
        "panels": ["alarm", "traffic"],
        "series": [
            {"head": "LEM", "method": "lem", "quantity": "ll"},
            {"head": "grouped", "method": "lem", "quantity": "ll", "instead": {"alarm": "b"}},
            {"head": "DL", "method": "dl", "quantity": "ll", "dashed": True, "may_leave": True},
        ],
        "axes": {"study": "lem", "table": 2},
        "times": {
            "study": "lem",
            "table": "2f",
            "size": 1000,
            "methods": [{"head": m.upper(), "method": m, "published": m} for m in ("dl", "lem")],
        },
        "limit": 1440,
    },
]
for number, product in enumerate(PRODUCTS):
    product |= {"name": f"f{number}", "caption": ""}
BY_KIND = {product["kind"]: product for product in reversed(PRODUCTS)}


def scores():
    rng = np.random.default_rng(0)
    rows = []
    for dataset in DATASETS:
        base = -float(rng.uniform(2, 100))
        for method, factor in {"atomic": 1.4, "trees": 1.02, "dtsl": 1.0}.items():
            values = {"cmll": base * factor, "seconds_learn": float(rng.uniform(0.1, 100))}
            values |= {f"cll_q{p}": base * factor / p for p in (10, 50)}
            rows += [("s", dataset, method, "", q, v, 0.05) for q, v in values.items()]
        for variant in ("default", "prune"):
            value = base * float(rng.uniform(1, 1.1))
            rows += [
                ("s", dataset, "dtsl", variant, q, value, None) for q in ("cmll", "validation")
            ]
    columns = ["study", "dataset", "method", "variant", "quantity", "value", "stderr"]
    return pd.DataFrame(rows, columns=columns)


def ring(n_vars=6, extra=()):
    pairs = [tuple(sorted((v, (v + 1) % n_vars))) for v in range(n_vars)]
    conjunctions = [[(u, 1), (v, 1)] for u, v in (*pairs, *extra)]
    weight = np.linspace(1, 2, len(conjunctions)) * np.where(
        np.arange(len(conjunctions)) % 2, 1, -1
    )
    return markov_network(n_vars, features_of(conjunctions), weight)


@pytest.fixture(scope="module")
def structures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("structures")
    record(ring(extra=[(0, 3)]), folder)
    return folder


def record(network, folder):
    """Record the structure of a network as that of `dtsl` on `d0`."""
    save_model(network, folder / "model.npz")
    identity = {"study": "s", "dataset": "d0", "method": "dtsl"}
    write_structure(folder / "model.npz", identity, folder / "d0" / "dtsl.json")


def material(structures, frame=None, truths=None):
    study = Study("s", {"datasets": list(DATASETS), "figures": PRODUCTS, "title": ""})
    frame = scores() if frame is None else frame
    return Material(study, tidy_scores(frame), NO_PUBLISHED, DATASETS, structures, truths or {})


def test_every_kind_is_tried_here():
    assert set(BY_KIND) == set(figures.KINDS)


def test_equal_input_gives_equal_bytes_and_both_files(structures, tmp_path):
    study = material(structures).study
    for folder in ("a", "b"):
        truths = {"d0": ring()}
        write_figures(
            study,
            scores(),
            NO_PUBLISHED,
            DATASETS,
            folder=tmp_path / folder,
            structure_folder=structures,
            truths=truths,
        )
    names = {f"{p['name']}.{suffix}" for p in PRODUCTS for suffix in ("pdf", "png")}
    assert {path.name for path in (tmp_path / "a").iterdir()} == names
    for name in names:
        content = (tmp_path / "a" / name).read_bytes()
        assert content == (tmp_path / "b" / name).read_bytes()
        assert content.startswith(b"%PDF" if name.endswith("pdf") else b"\x89PNG")
        assert b"CreationDate" not in content


def test_only_the_named_figures_are_drawn(structures, tmp_path):
    study = material(structures).study
    write_figures(
        study,
        scores(),
        NO_PUBLISHED,
        DATASETS,
        folder=tmp_path,
        structure_folder=structures,
        only=["f3"],
    )
    assert {path.stem for path in tmp_path.iterdir()} == {"f3"}
    with pytest.raises(InputError, match="no 'f99'"):
        write_figures(
            study,
            scores(),
            NO_PUBLISHED,
            DATASETS,
            folder=tmp_path,
            structure_folder=structures,
            only=["f99"],
        )


@pytest.mark.parametrize("kind", list(BY_KIND))
def test_without_results_a_figure_says_so(kind, tmp_path):
    figure = draw(material(tmp_path, scores().iloc[:0]), BY_KIND[kind])
    assert [text.get_text() for text in figure.axes[0].texts] == [NOTHING]


def test_scatter_labels_keep_apart_and_inside(structures):
    figure = draw(material(structures), BY_KIND["scatter"])
    figure.draw_without_rendering()
    ax = figure.axes[0]
    texts = ax.texts
    assert {text.get_text() for text in texts} >= set(DATASETS.values())
    assert "DTSL better on 8" in {text.get_text() for text in texts}
    # An annotation's own extent includes its line to the point.
    boxes = [Text.get_window_extent(text) for text in texts]
    for a, b in itertools.combinations(boxes, 2):
        assert not a.overlaps(b)
    frame = ax.get_window_extent()
    for box in boxes:
        assert frame.x0 - 1 <= box.x0 < box.x1 <= frame.x1 + 1
        assert frame.y0 - 1 <= box.y0 < box.y1 <= frame.y1 + 1


def test_scatter_per_variable_divides_by_the_size_of_the_model(structures):
    product = {**BY_KIND["scatter"], "per_variable": True}
    frame = scores()
    sized = frame[(frame.dataset == "d0") & (frame.quantity == "cmll")].head(1)
    frame = pd.concat([frame, sized.assign(quantity="n_vars", value=6.0)])
    figure = draw(material(structures, frame), product)
    (points,) = [c for c in figure.axes[0].collections if isinstance(c, PathCollection)]
    frame = scores()
    cmll = frame[(frame.dataset == "d0") & (frame.quantity == "cmll") & (frame.variant == "")]
    by_method = cmll.set_index("method")["value"]
    expected = [[-by_method["trees"] / 6, -by_method["dtsl"] / 6]]
    np.testing.assert_allclose(points.get_offsets(), expected)


def test_sizes_in_inches(structures):
    widths = {p["name"]: draw(material(structures), p).get_size_inches()[0] for p in PRODUCTS[:2]}
    assert widths == {"f0": 3.4, "f1": 7.0}
    with pytest.raises(InputError, match="width: expected column or page"):
        draw(material(structures), {**BY_KIND["scatter"], "width": "wall"})


def test_a_point_far_off_is_an_arrow_and_the_axis_stays_short(structures):
    frame = scores()
    far = (frame.dataset == "d1") & (frame.method == "dtsl") & (frame.quantity == "cmll")
    frame.loc[far, "value"] *= 3
    figure = draw(material(structures, frame), BY_KIND["reproduction"])
    ax = figure.axes[0]
    assert ax.get_xlim()[0] > -20
    assert [text.get_text() for text in ax.texts] == ["−194.1"]


def test_structure_tells_found_missed_and_extra_edges(structures):
    product = {**BY_KIND["structure"], "max_edges": 3}
    figure = draw(material(structures, truths={"d0": ring()}), product)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    # The strongest three of the learned: the last pairs of the ring and the chord.
    assert labels == ["positive", "negative", "found, 2", "missed, 4", "extra, 1"]
    assert len(figure.axes[0].patches) == 3 + 4


def test_structure_draws_the_names_of_the_variables(structures, tmp_path):
    network = ring()
    names = tuple(f"item_{v + 1}" for v in range(6))
    named = markov_network(6, network.features, network.weight, names)
    record(named, tmp_path)
    figure = draw(material(tmp_path), BY_KIND["structure"])
    assert [text.get_text() for text in figure.axes[0].texts] == list("123456")


def test_couplings_are_those_of_the_energy_in_signs():
    rng = np.random.default_rng(1)
    conjunctions = [[(0, 1), (1, 0)], [(0, 0), (1, 1), (2, 1)], [(1, 1), (2, 0)], [(2, 1)]]
    network = markov_network(3, features_of(conjunctions), rng.normal(size=4))
    states = np.array(list(itertools.product((0, 1), repeat=3)), np.uint8)
    energy, signs = network.log_potential(states), 2.0 * states - 1
    expected = {
        (u, v): np.mean(energy * signs[:, u] * signs[:, v]) for u, v in ((0, 1), (0, 2), (1, 2))
    }
    assert couplings(network) == pytest.approx(expected)


def test_unknown_kinds_and_missing_options_are_named(structures):
    with pytest.raises(InputError, match="study s, figures, x: kind 'pie' is none of scatter"):
        draw(material(structures), {"name": "x", "kind": "pie"})
    with pytest.raises(InputError, match="study s, figure x: expected the key 'x'"):
        draw(material(structures), {"name": "x", "kind": "scatter"})


def test_drawing_leaves_the_settings_of_matplotlib_alone(structures):
    before = dict(mpl.rcParams)
    render(draw(material(structures), BY_KIND["variants"]))
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize(
    ("ranks", "critical", "runs"),
    [
        ([1.0, 2.0, 3.0, 4.0], 0.5, []),
        ([1.0, 2.0, 3.0, 4.0], 1.5, [(0, 1), (1, 2), (2, 3)]),
        ([1.2, 1.4, 3.4, 4.0], 1.0, [(0, 1), (2, 3)]),
        ([2.0, 2.1, 2.2, 3.7], 1.0, [(0, 2)]),
    ],
)
def test_runs_of_ranks_that_are_not_told_apart(ranks, critical, runs):
    assert find_runs(np.array(ranks), critical) == runs


def test_series_that_another_beats_in_both_are_off_the_line():
    x, y = np.array([1.0, 2.0, 3.0, 0.5]), np.array([-2.0, -3.0, -1.0, 0.0])
    ours = np.array([True, True, True, False])
    assert [_beaten(i, x, y, ours) for i in range(3)] == [False, True, False]


def conversions(losses, n_vars, base=-40.0):
    """Scores of a source network and of conversions with the losses given, by dataset."""
    rows = []
    for dataset, of_variant in losses.items():
        rows.append(("s", dataset, "dn", "", "pll", base, None))
        for variant, loss in of_variant.items():
            rows.append(("s", dataset, "mn", variant, "pll", base - loss * n_vars[dataset], None))
    columns = ["study", "dataset", "method", "variant", "quantity", "value", "stderr"]
    return pd.DataFrame(rows, columns=columns)


def test_conversion_loss_draws_the_losses_over_the_largest_of_each_cluster(structures):
    losses = {
        "d0": {"a": 0.0132, "b": 0.0042, "c": -0.0025},
        "d1": {"a": 0.0052, "b": 0.0171, "c": -0.0001},
        # Every conversion is better than its source.
        "d2": {"a": -0.0020, "b": -0.0010, "c": -0.0040},
        # One conversion has not been scored.
        "d3": {"a": 0.00041, "c": 0.00017},
    }
    n_vars = {"d0": 16, "d1": 17, "d2": 64, "d3": 69}
    printed = pd.DataFrame(
        [("p", "1", d, "", "n_vars", n, "", str(n), 0) for d, n in n_vars.items()],
        columns=NO_PUBLISHED.columns,
    )
    product = {
        "name": "x",
        "kind": "conversion_loss",
        "panels": [{"method": "mn", "reference": {"method": "dn", "quantity": "pll"}}],
        "variants": [{"name": v, "head": v} for v in "abc"],
    }
    base = material(structures, conversions(losses, n_vars))
    figure = draw(dataclasses.replace(base, published=printed), product)
    (ax,) = figure.axes
    scales = {"d0": 0.0132, "d1": 0.0171, "d2": 0.0040, "d3": 0.00041}
    expected = [loss / scales[d] for d, of in losses.items() for loss in of.values()]
    assert [bar.get_height() for bar in ax.patches] == pytest.approx(expected)
    assert [text.get_text() for text in ax.texts] == ["0.013", "0.017", "−0.001", "0.000"]
    centres = [bar.get_x() + bar.get_width() / 2 for bar in ax.patches]
    assert centres == sorted(centres)
    # A bar keeps the place of its conversion where another one is missing.
    assert centres[-1] - 3 == pytest.approx(centres[2] - 0)


def test_a_figure_shows_the_datasets_it_names(structures):
    product = {**BY_KIND["scatter"], "datasets": ["d1", "d5"]}
    texts = {text.get_text() for text in draw(material(structures), product).axes[0].texts}
    assert {t for t in texts if t.startswith("Dataset")} == {"Dataset 1", "Dataset 5"}
    assert "DTSL better on 2" in texts
    with pytest.raises(InputError, match="study s, figure f0, datasets: no 'd99' in the study"):
        draw(material(structures), {**product, "datasets": ["d99"]})


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
            {"head": "A", "method": "dtsl", "quantity": "cll_sampled", "instead": "cll"},
            {"head": "B", "method": "trees", "quantity": "cmll", "dashed": True},
            {"head": "C", "method": "atomic", "quantity": "seconds_single"},
        ],
    }
    figure = draw(material(structures, frame), product)
    panels = [ax for ax in figure.axes if ax.get_visible()]
    # The second panel lacks the quantity asked for and shows the other; no panel has line C.
    assert [ax.get_title("left") for ax in panels] == ["Dataset 2", "Dataset 0*"]
    value = frame.set_index(["dataset", "method", "quantity"])["value"]
    first, second = (ax.get_lines() for ax in panels)
    assert first[0].get_ydata().tolist() == [-0.1, -0.02]
    assert second[0].get_ydata().tolist() == [value["d0", "dtsl", f"cll_q{p}"] for p in (10, 50)]
    for own in (first, second):
        assert own[1].get_ydata().tolist() == [-0.2, -0.04]
        assert [line.get_linestyle() for line in own] == ["-", "--"]
        assert own[0].get_xdata().tolist() == [0.1, 0.5]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["A", "B"]
    with pytest.raises(InputError, match="expected the key 'quantity'"):
        draw(material(structures, frame), {**product, "series": BY_KIND["query_curves"]["series"]})


def test_a_line_that_may_leave_does_not_set_the_limits():
    near, far = np.array([-0.5, -0.4]), np.array([-0.45, -9.0])
    low, high = _limits(near, np.concatenate([near, far]))
    assert (low, high) == pytest.approx((-0.61, -0.39))
    assert _limits(near, near) == pytest.approx((-0.505, -0.395))


def learning_curves(structures, far=-13.5):
    """Draw curves of two methods over two sizes and folds; `far` is what DL has at 100 examples."""
    values = {
        ("alarm", "lem"): {100: (-12.0, -13.0), 1000: (-10.0, -10.0)},
        ("b", "lem"): {100: (-11.0, -11.0), 1000: (-9.5, -9.5)},
        ("alarm", "dl"): {100: (far, far), 1000: (-11.0, -11.5)},
    }
    rows = [
        ("s", f"{base}-n{size}-f{k}", method, "", "ll", value, None)
        for (base, method), of in values.items()
        for size, found in of.items()
        for k, value in enumerate(found)
    ]
    rows.append(("s", "alarm-n1000-f0", "lem", "", "seconds_learn", 1.5, None))
    rows.append(("s", "alarm-n1000-f0", "lem", "", "n_vars", 148.0, None))
    frame = pd.DataFrame(rows, columns=scores().columns)
    labels = {"alarm": "Alarm", "traffic": "Traffic"}
    made = dataclasses.replace(
        material(structures, frame),
        study=Study("s", {"datasets": ["alarm"], "unavailable": ["traffic"], "figures": []}),
        published=load_published(),
        labels=labels,
    )
    return draw(made, BY_KIND["learning_curves"])


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
    assert [text.get_text() for text in second.texts] == ["the data are\nnot public"]
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
