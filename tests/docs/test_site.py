"""The documentation site is complete, and its environment is locked. `make docs` builds it."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import mnlearn
from mnlearn.cli.commands import COMMANDS, ENTRY_POINTS
from mnlearn_studies.study.definition import load_study

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
PIN = re.compile(r"^([a-z0-9.-]+)==([^\s;\\]+)(?: ; ([^\\]+))?", re.MULTILINE)


def test_the_reference_has_every_public_name():
    text = (DOCS / "api" / "index.rst").read_text(encoding="utf-8")
    listed = re.findall(r"^   (\w+)$", text, re.MULTILINE)
    assert sorted(listed) == sorted(set(dir(mnlearn)) - {"__version__"})


def test_the_reference_has_every_command_for_people():
    text = (DOCS / "command-line.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^   :commands: (.*)$", text, re.MULTILINE)
    library = {name for names in COMMANDS.values() for name in names}
    studies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    people = library | set(studies[ENTRY_POINTS]) - {"step"}
    assert sorted(listed.split(",")) == sorted(people)


def test_the_shortest_study_is_one(tmp_path):
    text = (DOCS / "howto" / "new-study.md").read_text(encoding="utf-8")
    found = re.findall(r"^   ```yaml\n(.*?)^   ```$", text, re.MULTILINE | re.DOTALL)
    settings, study = (re.sub(r"^   ", "", part, flags=re.MULTILINE) for part in found)
    assert "mine" in yaml.safe_load(settings)["local"]
    path = tmp_path / "studies" / "mine.yaml"
    path.parent.mkdir()
    path.write_text(study)
    assert set(load_study(path).methods) == {"chow_liu", "dtsl"}


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda path: path.name)
def test_a_page_is_in_the_navigation(page):
    indexes = ("index", "reference", "development", "howto/index")
    texts = [(DOCS / f"{name}.md").read_text(encoding="utf-8") for name in indexes]
    linked = re.compile(rf"^(?:\.\./)?{re.escape(page.stem)}$", re.MULTILINE)
    # README.md takes the place of index.md on a forge.
    assert page.stem in ("index", "README") or any(linked.search(text) for text in texts)


def test_the_lock_of_the_site_pins_its_extra_and_agrees_with_the_other():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    text = (DOCS / "requirements.lock").read_text()
    assert not re.search(r"https?://|--(extra-)?index-url|find-links", text)
    locked = {}
    for name, version, _ in PIN.findall(text):
        locked.setdefault(name, set()).add(version)
    assert text.count("--hash=sha256:") > len(locked)
    for requirement in map(Requirement, project["optional-dependencies"]["docs"]):
        versions = locked[requirement.name]
        assert all(requirement.specifier.contains(version) for version in versions)
    # pip installs both files into one environment.
    for name, version, _ in PIN.findall((ROOT / "requirements.lock").read_text()):
        assert version in locked.get(name, {version}), name
