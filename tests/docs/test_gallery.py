"""Every program of the gallery runs and ends with a figure."""

import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from daily import daily

GALLERY = Path(__file__).parent.parent.parent / "docs" / "gallery"
PROGRAMS = sorted(path.name for path in GALLERY.glob("plot_*.py"))


def check_page(curves):
    """The page on inference tells the last errors of the program's curves."""
    page = " ".join((GALLERY.parent / "inference.md").read_text("utf-8").split())
    last = {key: f"{errors[-1]:.1g}" for key, (_, errors) in curves.items()}
    assert curves["tree", "bp"][1][0] < 1e-12
    weak = [last["weak grid", m] for m in ("bp", "meanfield")]
    strong = [last["strong grid", m] for m in ("bp", "meanfield", "gibbs", "tempering")]
    assert f"an error of {weak[0]}, and mean field with {weak[1]}" in page
    assert f"are off by {strong[0]} and {strong[1]}. A single chain is off by {strong[2]}" in page
    assert f") by {strong[3]} after one" in page


def test_there_are_eight_programs():
    assert len(PROGRAMS) == 8


SLOW = ("plot_2_missing_pixels.py", "plot_6_inference.py")


@pytest.mark.parametrize("name", daily(PROGRAMS, set(PROGRAMS) - set(SLOW)))
def test_a_program_draws_a_figure(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    plt.close("all")
    made = runpy.run_path(str(GALLERY / name))
    if name == "plot_6_inference.py":
        check_page(made["curves"])
    figures = [plt.figure(number) for number in plt.get_fignums()]
    assert figures
    assert all(figure.axes for figure in figures)
    plt.close("all")
