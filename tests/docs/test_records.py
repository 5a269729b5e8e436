"""Decision records stay few and short; longer notes are outside of the documentation site."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
RECORDS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
NOTES = sorted((ROOT / "docs" / "lab-notes").glob("[0-9]*.md"))
CITING = [
    path
    for place in (
        "src/**/*.py",
        "benchmarks/*.py",
        "workflow/**/*.yaml",
        "workflow/**/*.smk",
        "tests/**/*.py",
        "docs/**/*.md",
    )
    for path in ROOT.glob(place)
]


def number(path):
    """Return the number of a record or note."""
    return path.name.partition("-")[0]


def n_words(text):
    """Return the number of words; the bars of tables are none."""
    return sum(any(letter.isalnum() for letter in word) for word in text.split())


def test_there_are_few_records():
    assert 0 < len(RECORDS) <= 45


@pytest.mark.parametrize("path", RECORDS, ids=number)
def test_a_record_is_short_and_has_its_parts(path):
    text = path.read_text(encoding="utf-8")
    assert n_words(text) <= 300
    assert text.startswith(f"# {number(path)} ")
    parts = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert set(parts) == {"Context", "What was tried", "Decision"}


def test_a_number_is_used_once():
    numbers = [number(path) for path in (*RECORDS, *NOTES)]
    assert len(numbers) == len(set(numbers))


@pytest.mark.parametrize(("words", "paths"), [(r"decision", RECORDS), (r"lab\s+note", NOTES)])
def test_what_is_cited_by_number_exists(words, paths):
    # A citation may go over the end of a line of a comment.
    citation = re.compile(rf"\b{words}\s+(?:#\s+)?(0\d{{3}})\b", re.IGNORECASE)
    known = {number(path) for path in paths}
    cited = {
        (path.relative_to(ROOT).as_posix(), found)
        for path in CITING
        if path.parent.name != "lab-notes"
        for found in citation.findall(path.read_text(encoding="utf-8"))
    }
    assert cited
    assert not {place for place in cited if place[1] not in known}


def git(*arguments, given=None):
    """Return what a git command prints."""
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(
        command, input=given, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_commits_that_are_named_are_in_the_history():
    if not (ROOT / ".git").exists() or git("rev-parse", "--is-shallow-repository") == "true":
        pytest.skip("the history is not at hand")
    named = {
        (path.relative_to(ROOT).as_posix(), commit)
        for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
        for commit in re.findall(r"`([0-9a-f]{8})`", path.read_text(encoding="utf-8"))
    }
    asked = "\n".join(f"{commit}^{{commit}}" for _, commit in sorted(named))
    said = git("cat-file", "--batch-check=%(objecttype)", given=asked).splitlines()
    assert len(said) == len(named) > 10
    unknown = zip(sorted(named), said, strict=True)
    assert not [place for place, line in unknown if line != "commit"]
