"""What holds for all figures, and for conversions."""

import dataclasses
import shutil

import matplotlib as mpl
import pandas as pd
import pytest

from made_figures import BY_KIND, NO_PUBLISHED, PRODUCTS, material, ring, scores
from mnlearn.drawing.style import render
from mnlearn.runtime.errors import InputError
from mnlearn_studies.report import figures
from mnlearn_studies.report.figures import draw, write_figures
from mnlearn_studies.report.figures.reproduction import PANELS, VARIANTS


def test_every_kind_is_tried_here():
    assert set(BY_KIND) == set(figures.KINDS)


@pytest.mark.nightly
def test_equal_input_gives_equal_bytes_and_both_files(structures, tmp_path):
    given = material(structures, truths={"d0": ring()})
    for name in ("a", "b"):
        shutil.copytree(structures / "structures", tmp_path / name / "structures")
        write_figures(dataclasses.replace(given, folder=tmp_path / name))
    drawn = [p["name"] for p in PRODUCTS if draw(given, p) is not None]
    assert len(drawn) > len(PRODUCTS) / 2
    names = {f"{name}.{suffix}" for name in drawn for suffix in ("pdf", "png")}
    assert {path.name for path in (tmp_path / "a/figures").iterdir()} == names
    for name in names:
        content = (tmp_path / "a/figures" / name).read_bytes()
        assert content == (tmp_path / "b/figures" / name).read_bytes()
        assert content.startswith(b"%PDF" if name.endswith("pdf") else b"\x89PNG")
        assert b"CreationDate" not in content


def test_only_the_named_figures_are_drawn(structures, tmp_path):
    given = material(tmp_path)
    write_figures(given, only=["f0"])
    assert {path.stem for path in (tmp_path / "figures").iterdir()} == {"f0"}
    with pytest.raises(InputError, match="no 'f99'"):
        write_figures(given, only=["f99"])


@pytest.mark.parametrize("kind", list(BY_KIND))
def test_without_results_there_is_no_figure(kind, tmp_path):
    assert draw(material(tmp_path, scores().iloc[:0]), BY_KIND[kind]) is None


def test_a_figure_of_an_earlier_run_is_removed(tmp_path):
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures/f0.png").write_bytes(b"of before")
    write_figures(material(tmp_path, scores().iloc[:0]), only=["f0", "f1"])
    assert list((tmp_path / "figures").iterdir()) == []


def test_sizes_in_inches(structures):
    widths = {p["name"]: draw(material(structures), p).get_size_inches()[0] for p in PRODUCTS[:2]}
    assert widths == {"f0": 3.4, "f1": 7.0}


def test_unknown_kinds_and_missing_options_are_named(structures):
    with pytest.raises(InputError, match="study s, figure x: kind 'pie' is none of growth"):
        draw(material(structures), {"name": "x", "kind": "pie", "caption": ""})
    with pytest.raises(InputError, match="study s, figure x: expected the key 'x'"):
        draw(material(structures), {"name": "x", "kind": "scatter", "caption": ""})


def test_drawing_leaves_the_settings_of_matplotlib_alone(structures):
    before = dict(mpl.rcParams)
    render(draw(material(structures), BY_KIND["scatter"]))
    assert dict(mpl.rcParams) == before


def conversions(losses, n_vars, base=-40.0):
    """Scores of a source network and of conversions with the losses given, by dataset."""
    rows = []
    for dataset, of_variant in losses.items():
        rows.append(("s", dataset, "dn_tree", "", "pll", base, None))
        for variant, loss in of_variant.items():
            rows.append(
                ("s", dataset, "variants_tree", variant, "pll", base - loss * n_vars[dataset], None)
            )
    columns = ["study", "dataset", "method", "variant", "quantity", "value", "stderr"]
    return pd.DataFrame(rows, columns=columns)


def test_conversion_loss_draws_the_losses_over_the_largest_of_each_cluster(structures):
    a, b, c = list(VARIANTS)[:3]
    losses = {
        "d0": {a: 0.0132, b: 0.0042, c: -0.0025},
        "d1": {a: 0.0052, b: 0.0171, c: -0.0001},
        # Every conversion is better than its source.
        "d2": {a: -0.0020, b: -0.0010, c: -0.0040},
        # One conversion has not been scored.
        "d3": {a: 0.00041, c: 0.00017},
    }
    n_vars = {"d0": 16, "d1": 17, "d2": 64, "d3": 69}
    printed = pd.DataFrame(
        [("p", "1", d, "", "n_vars", n, "", str(n), 0) for d, n in n_vars.items()],
        columns=NO_PUBLISHED.columns,
    )
    base = material(structures, conversions(losses, n_vars))
    figure = draw(dataclasses.replace(base, published=printed), BY_KIND["dn2mn.conversion_loss"])
    ax, other = figure.axes
    assert [one.get_title("left") for one in (ax, other)] == [panel.head for panel in PANELS]
    assert not other.patches
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
