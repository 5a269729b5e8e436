"""The digest of code: what changes it and what does not."""

import shutil
from pathlib import Path

import pytest

from mnlearn import provenance


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the package that digests are taken of."""
    copy = tmp_path / "mnlearn"
    shutil.copytree(provenance.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(provenance, "PACKAGE", copy)
    clear()
    yield copy
    clear()


def clear():
    for cached in (provenance._parsed, provenance._syntax, provenance._imports):
        cached.cache_clear()


def digests():
    clear()
    return {
        name: provenance.code_digest(*modules)
        for name, modules in {
            "dtsl": ("methods.dtsl", "cell_learning"),
            "atomic": ("methods.atomic", "cell_learning"),
            "acmn": ("methods.acmn", "cell_learning"),
            "scores": ("methods.atomic", "cell_scoring"),
            "circuit scores": ("methods.acmn", "cell_scoring"),
            "tables": ("tables",),
            "figures": ("figures",),
        }.items()
    }


def changed(package: Path, name: str, edit) -> set[str]:
    before = digests()
    path = package / name
    path.write_text(edit(path.read_text()))
    after = digests()
    return {key for key in before if before[key] != after[key]}


def test_comments_docstrings_and_layout_change_nothing(package):
    def edit(text):
        text = text.replace('"""Which rows a feature', '"""(Reworded.) Which rows a feature')
        return "# a comment\n\n\n" + text.replace("import numpy as np", "import  numpy  as np")

    assert changed(package, "kernels/touched.py", edit) == set()


def test_an_edited_kernel_changes_what_uses_it_and_nothing_else(package):
    edit = lambda text: text.replace("1.0 / 21.0", "1.0 / 21.5")  # noqa: E731
    assert changed(package, "kernels/logistic.py", edit) >= {"dtsl", "scores"}
    edit = lambda text: text + "\nEXTRA = 1\n"  # noqa: E731
    assert changed(package, "methods/dtsl.py", edit) == {"dtsl"}
    assert changed(package, "kernels/gibbs.py", edit) >= {"scores"}
    circuits = {"acmn", "circuit scores"}
    assert changed(package, "kernels/circuit.py", edit) == circuits
    assert not changed(package, "inference/marginals.py", edit) & circuits
    assert changed(package, "models/libra/parse.py", edit) == set()
    assert changed(package, "tables/compare.py", edit) == {"tables"}
    assert changed(package, "figures/labels.py", edit) == {"figures"}
    assert changed(package, "products.py", edit) == {"tables", "figures"}


@pytest.mark.parametrize("name", ["tables", "figures"])
def test_the_digest_of_a_package_covers_all_its_files(name):
    covered = set()
    provenance._collect(name, covered)
    files = {path.stem for path in (provenance.PACKAGE / name).glob("*.py")} - {"__init__"}
    assert {f"{name}.{file}" for file in files} <= covered


def test_a_record_names_versions_and_machine():
    record = provenance.provenance("scores")
    assert set(record) == {"source", "versions", "machine"}
    assert {"python", "numpy", "numba"} <= set(record["versions"])
    assert "cores" in record["machine"]
    assert provenance.peak_memory_mib() > 1
