"""The places that name versions agree; nothing names a package index."""

import re
import tomllib
from pathlib import Path

import yaml
from packaging.markers import Marker
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
PIN = re.compile(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)(?:\s*;\s*([^\\]+?))?\s*\\?$", re.MULTILINE)


def pins(python):
    """Versions in the lock file for Linux and one Python version."""
    environment = {
        "python_full_version": f"{python}.0",
        "python_version": python,
        "sys_platform": "linux",
        "platform_machine": "x86_64",
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
        "os_name": "posix",
        "platform_system": "Linux",
    }
    found = {}
    for name, version, marker in PIN.findall((ROOT / "requirements.lock").read_text()):
        if not marker or Marker(marker).evaluate(environment):
            found[name.lower()] = version
    return found


def test_the_lock_file_pins_every_direct_dependency_with_hashes():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    direct = project["dependencies"] + extras["study"] + extras["dev"]
    for python in ("3.11", "3.12", "3.13"):
        locked = pins(python)
        for text in direct:
            requirement = Requirement(text)
            assert requirement.specifier.contains(locked[requirement.name.lower()])
    text = (ROOT / "requirements.lock").read_text()
    assert text.count("--hash=sha256:") > len(pins("3.11"))


def test_conda_users_get_the_same_pins():
    content = yaml.safe_load((ROOT / "environment.yml").read_text())
    python = next(d for d in content["dependencies"] if str(d).startswith("python=")).split("=")[1]
    listed = next(d["pip"] for d in content["dependencies"] if isinstance(d, dict))
    conda = dict(p.lower().split("==") for p in listed if "==" in p)
    assert conda == pins(python)


def test_no_address_of_a_package_index():
    for name in ("requirements.lock", "environment.yml", "pyproject.toml", "Makefile"):
        text = (ROOT / name).read_text()
        assert not re.search(r"https?://|--(extra-)?index-url|find-links", text), name


def test_the_places_that_name_the_version_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased, released = re.findall(r"^## (.*)$", changes, re.MULTILINE)[:2]
    assert unreleased == "Unreleased"
    assert released == f"{project['version']} ({citation['date-released']})"
    assert citation["version"] == project["version"]
    assert all(part.count("\n") <= 90 for part in changes.split("\n## "))
