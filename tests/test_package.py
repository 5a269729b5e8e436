"""The package as it is built: what it holds, and that it works in a folder without the checkout."""

import json
import os
import re
import shutil
import subprocess
import sys
from email import message_from_string
from pathlib import Path

import pytest
import yaml

from workflow_tree import NOTHING, TINY, jobs_of

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.xdist_group("package")
STUDY_FILES = Path("mnlearn_studies", "study_files")
SOURCES = (
    *("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"),
    *("CHANGELOG.md", "CITATION.cff", "config.yaml", "workflow", "docs", "src"),
)
BUILD = "import setuptools.build_meta as build, sys; build.build_{}(sys.argv[1])"


def run(*command, folder, **more):
    # The rules call `mnlearn`, also where the environment is not activated.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PATH": path, **more}
    done = subprocess.run(
        [sys.executable, *map(str, command)], cwd=folder, env=environment, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Build a source distribution, from it a wheel, and install the wheel; return the folder."""
    folder = tmp_path_factory.mktemp("package")
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "_build")
    (folder / "sources").mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / "sources" / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder / "sources" / name)
    # What an earlier build has left is not packed.
    left = folder / "sources/build/lib" / STUDY_FILES / "workflow/studies/old.yaml"
    left.parent.mkdir(parents=True)
    left.write_text("old")
    address = {"MNLEARN_REPOSITORY": "https://forge.example/us/mnlearn/"}
    done = run("-c", BUILD.format("sdist"), folder, folder=folder / "sources")
    assert done.returncode == 0, done.stderr
    (archive,) = folder.glob("*.tar.gz")
    shutil.unpack_archive(archive, folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    done = run("-c", BUILD.format("wheel"), folder, folder=unpacked, **address)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    target = folder / "site"
    options = ("--no-deps", "--no-index", "--no-compile", "--disable-pip-version-check")
    done = run("-m", "pip", "install", "-q", *options, "--target", target, wheel, folder=folder)
    assert done.returncode == 0, done.stderr
    return target


def mnlearn(installed, folder, *arguments):
    """Run the installed command in a folder."""
    return run("-m", "mnlearn", *arguments, folder=folder, PYTHONPATH=str(installed))


def listing(folder):
    """Return the content of all files below a folder by their names there."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_the_wheel_holds_what_studies_need(installed):
    """New files of the workflow have to be found by the patterns in setup.py, or named here."""
    wanted = {"config.yaml": (ROOT / "config.yaml").read_bytes()}
    for place, pattern in (("workflow", "*"), ("docs/methods", "*.md")):
        for path in (ROOT / place).rglob(pattern):
            if path.is_file() and path.suffix not in (".py", ".pyc"):
                wanted[path.relative_to(ROOT).as_posix()] = path.read_bytes()
    assert listing(installed / STUDY_FILES) == wanted


def test_the_wheel_holds_the_package_and_its_types(installed):
    code = {path.relative_to(ROOT / "src") for path in (ROOT / "src").rglob("*.py*")}
    code = {path.as_posix() for path in code if path.suffix in (".py", ".pyi")}
    found = {name for name in listing(installed) if name.endswith((".py", ".pyi"))}
    assert found == code
    assert (installed / "mnlearn/py.typed").exists()


def test_a_plain_installation_is_light(installed):
    (path,) = installed.glob("*.dist-info/METADATA")
    metadata = message_from_string(path.read_text())
    plain = [text for text in metadata.get_all("Requires-Dist") if "extra ==" not in text]
    names = {re.match(r"[\w.-]+", text)[0].lower() for text in plain}
    tools = {"snakemake", "markdown", "psutil", "pytest", "hypothesis", "mypy", "ruff"}
    assert {"numba", "numpy", "scikit-learn"} < names
    assert not names & {*tools, "setuptools", "jax"}
    assert {"study", "slurm"} <= set(metadata.get_all("Provides-Extra"))
    links = dict(link.split(", ") for link in metadata.get_all("Project-URL"))
    assert links["Repository"] == "https://forge.example/us/mnlearn"


@pytest.mark.nightly
def test_a_folder_without_a_checkout(installed, tmp_path):
    """The installed package finds its own files, and writes nothing that is not asked for."""
    done = mnlearn(installed, tmp_path, "datasets", "--json")
    rows = json.loads(done.stdout)["datasets"]
    assert rows[0]["name"] == "nltcs"
    done = mnlearn(installed, tmp_path, "study", "dtsl", "--stale")
    said = "120 of 120 records are not made yet\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, "", said)
    assert list(tmp_path.iterdir()) == []


def own_folder(folder):
    """Fill a folder with an own dataset and an own study of it."""
    (folder / "workflow/studies").mkdir(parents=True)
    study = {**TINY, "datasets": ["triples", "mine"]}
    (folder / "workflow/studies/own.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
    (folder / "config.yaml").write_text("local: {mine: {train: mine.csv}}\nseed: 5\n")
    rows = ["1,1,0", "0,0,1", "1,1,1", "0,0,0", "1,0,1"]
    (folder / "mine.csv").write_text("\n".join(rows * 40) + "\n")


@pytest.mark.nightly
def test_a_plan_without_a_checkout(installed, tmp_path):
    """Snakemake finds all inputs of an own study of own data."""
    own_folder(tmp_path)
    source = installed / STUDY_FILES
    files = (source / "config.yaml", "config.yaml")
    options = ("--snakefile", source / "workflow/Snakefile", "--configfile", *files)
    done = run(
        *("-m", "snakemake", "-n", "--cores", "1", *options, "--config", "studies=[own]"),
        folder=tmp_path,
        PYTHONPATH=str(installed),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    jobs = jobs_of(done.stdout + done.stderr)
    assert (jobs["data"], jobs["models"], jobs["products_own"]) == (2, 4, 1)


@pytest.mark.nightly
def test_an_own_study_without_a_checkout(installed, tmp_path):
    own_folder(tmp_path)
    before = listing(installed)
    done = mnlearn(installed, tmp_path, "study", "own", "--cores", "2")
    assert done.returncode == 0, done.stderr
    assert listing(installed) == before
    results = tmp_path / "results"
    assert (results / "own/index.html").stat().st_size > 10_000
    (cell,) = results.glob("own/cells/mine/dtsl@*.json")
    assert json.loads(cell.read_text())["seed"] == 5
    assert "](../../docs" not in (results / "own/README.md").read_text()
    assert "](own/README.md)" in (results / "README.md").read_text()
    scores = (results / "own/scores.csv").read_bytes()
    done = mnlearn(installed, tmp_path, "study", "own", "--cores", "2", "--verbose")
    assert NOTHING in done.stdout + done.stderr
    assert (results / "own/scores.csv").read_bytes() == scores


@pytest.mark.nightly
def test_the_demo_without_a_checkout(installed, tmp_path):
    done = mnlearn(installed, tmp_path, "demo")
    assert done.returncode == 0, done.stderr
    assert "24 of its 24 strongest interactions" in done.stderr
    assert (tmp_path / "results/demo/index.html").exists()


# One table of each study.
TABLES = {
    "dtsl": "cmll",
    "dn2mn": "table4_tree",
    "gssl": "cmll",
    "acmn": "ll",
    "lem": "delta",
    "frontier": "ll",
    "dtsl_tuning": "tuning",
}
# What follows from records, and what git does not keep.
FOLLOWS = ("tables", "figures", "scores.csv", "models", "per_example", "queries")


@pytest.mark.nightly
def test_tables_from_recorded_cells_without_a_checkout(installed, tmp_path):
    """The source distribution has all that is needed to write the tables of the record again."""
    kept = shutil.ignore_patterns(*FOLLOWS)
    for study in TABLES:
        shutil.copytree(ROOT / "results" / study, tmp_path / "results" / study, ignore=kept)
    (tmp_path / "config.yaml").write_text("recorded: true\n")
    for study, table in TABLES.items():
        for product in (["scores"], ["tables", "--only", table]):
            done = mnlearn(installed, tmp_path, "step", "write", study, *product)
            assert done.returncode == 0, done.stderr
        for name in ("scores.csv", f"tables/{table}.csv"):
            path = Path("results", study, name)
            assert (tmp_path / path).read_bytes() == (ROOT / path).read_bytes(), path
