"""Every program of the gallery runs and ends with a figure."""

import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

GALLERY = Path(__file__).parent.parent.parent / "docs" / "gallery"
PROGRAMS = sorted(path.name for path in GALLERY.glob("plot_*.py"))


def test_there_are_eight_programs():
    assert len(PROGRAMS) == 8


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_draws_a_figure(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    plt.close("all")
    runpy.run_path(str(GALLERY / name))
    figures = [plt.figure(number) for number in plt.get_fignums()]
    assert figures
    assert all(figure.axes for figure in figures)
    plt.close("all")
