"""The registry of benchmark datasets, and registries that are malformed."""

import re
import shutil
from pathlib import Path

import pytest

from mnlearn.data.own_files import SPLITS
from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.built import RECIPES
from mnlearn_studies.datasets.embedded import EMBEDDED
from mnlearn_studies.datasets.registry import (
    COLUMNS,
    compute_blob_id,
    find_dataset,
    load_datasets,
    load_registry,
    registry_path,
)

REGISTRY = Path(__file__).parents[3] / "workflow" / "datasets.tsv"


def test_registry_of_the_checkout():
    registry = load_registry(REGISTRY)
    assert len(registry) == 20
    assert {b.label for b in registry.values()} >= {"NLTCS", "KDDCup 2000", "20 Newsgroups"}
    for name, benchmark in registry.items():
        assert benchmark.name == name
        assert benchmark.domain
        assert "Van Haaren & Davis" in benchmark.citation
        for split in SPLITS:
            file = benchmark.file(split)
            assert file.n_bytes == 2 * benchmark.n_rows(split) * benchmark.n_vars
            assert re.fullmatch(
                rf"https://raw\.githubusercontent\.com/UCLA-StarAI/Density-Estimation-Datasets/"
                rf"[0-9a-f]{{40}}/datasets/{name}/{name}\.{split}\.data",
                file.url,
            )
    nltcs = registry["nltcs"]
    assert [nltcs.n_rows(split) for split in SPLITS] == [16181, 2157, 3236]
    assert (nltcs.n_vars, nltcs.density) == (16, 0.332)
    assert len({b.file(s).blob_id for b in registry.values() for s in SPLITS}) == 60


def test_datasets_that_are_built_embedded_or_not_public(tmp_path):
    datasets = load_datasets(REGISTRY)
    assert [file.path for file in datasets["adult"].files] == [
        "adult/adult.data",
        "adult/adult.test",
    ]
    assert datasets["alarm"].files == datasets["alarm37"].files
    assert {e.recipe for e in datasets.values() if e.is_built} == set(RECIPES)
    assert [name for name in datasets if datasets[name].recipe == "embedded"] == list(EMBEDDED)
    text = REGISTRY.read_text().replace("\talarm\tpat", "\telsewhere\tpat")
    (tmp_path / "datasets.tsv").write_text(text)
    shutil.copy(REGISTRY.with_name("sources.tsv"), tmp_path)
    with pytest.raises(InputError, match=r"origin: expected one of alarm, asia, .*'elsewhere'"):
        load_datasets(tmp_path / "datasets.tsv")


def test_unknown_dataset_is_refused_with_a_suggestion():
    registry = load_registry(REGISTRY)
    with pytest.raises(InputError, match=r"no dataset 'nltc'; did you mean 'nltcs'\? known: nltcs"):
        find_dataset(registry, "nltc")
    with pytest.raises(InputError, match="did you mean 'tretail'"):
        find_dataset(registry, "Retail")
    with pytest.raises(InputError, match=r"no dataset 'zzzz'; known: nltcs"):
        find_dataset(registry, "zzzz")


def test_blob_id_is_that_of_git():
    assert compute_blob_id(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert compute_blob_id(b"what is up, doc?") == "bd9dbf5aae1a3862dd1526723246b20206e5fc37"


def test_registry_is_found_from_below_and_from_elsewhere(tmp_path, monkeypatch):
    own = tmp_path / "project" / "workflow" / "datasets.tsv"
    own.parent.mkdir(parents=True)
    own.write_text(REGISTRY.read_text())
    below = tmp_path / "project" / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert registry_path() == own
    monkeypatch.chdir(tmp_path)
    assert registry_path().resolve() == REGISTRY.resolve()


def test_registry_that_is_nowhere_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "mnlearn_studies.datasets.registry.__file__", str(tmp_path / "a/b/c/d/registry.py")
    )
    with pytest.raises(InputError, match="run mnlearn inside its checkout"):
        registry_path()
    with pytest.raises(InputError, match="no such file"):
        load_registry(tmp_path / "absent.tsv")


def change(column: str, value: str) -> str:
    """The first two lines of the registry with one value changed."""
    header, row = REGISTRY.read_text().splitlines()[:2]
    cells = dict(zip(COLUMNS, row.split("\t"), strict=True)) | {column: value}
    return header + "\n" + "\t".join(cells.values()) + "\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "line 1: expected the tab-separated columns name, label"),
        ("name\tlabel\n", "line 1: expected the tab-separated columns"),
        (change("label", "a\tb"), "line 2: expected 14 tab-separated values, got 15"),
        (change("name", "../up"), "line 2, name: expected lower-case letters"),
        (change("n_vars", "many"), "line 2, n_vars: expected a positive whole number, got 'many'"),
        (change("n_test", "0"), "line 2, n_test: expected a positive whole number"),
        (change("recipe", "table"), "sources.tsv: no such file"),
        (change("train_blob", "8c47"), "line 2, train_blob: expected 40 hexadecimal"),
        (change("density", "33 %"), "line 2, density: expected a share"),
        (change("origin", "https://example.org/a.data"), "line 2, origin: expected a URL"),
        (change("name", "a") + change("name", "a").splitlines()[1], "line 3: a second dataset"),
    ],
)
def test_malformed_registry_is_refused_with_its_line(tmp_path, content, message):
    path = tmp_path / "datasets.tsv"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        load_registry(path)
    assert str(caught.value).startswith(str(tmp_path))
    assert message in str(caught.value)
