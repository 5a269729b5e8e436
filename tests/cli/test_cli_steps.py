"""The steps of the pipeline as a person calls them; tests/studies try what each makes."""

import json
import shlex

import pytest

from command import refuse, succeed
from mnlearn.runtime.files import read_json, write_text
from mnlearn_studies.records.record import Job, Record

pytestmark = pytest.mark.usefixtures("folder")


def job(folder, **changed):
    """Return a job that compares two methods, as the workflow writes it."""
    whole = {
        "record": Record("paired", "s", "d", ("a", "b")),
        "recipe": {"code": "x"},
        "seed": 20,
        "inputs": {"first": "a.csv", "second": "b.csv"},
        "outputs": {"record": folder / "paired/a-b@1.json"},
        "given": {},
    }
    return shlex.quote(Job(**{**whole, **changed}).to_json())


def test_a_record_takes_the_place_of_that_of_another_recipe(tmp_path):
    write_text("a.csv", "pll\n-1\n-2\n")
    write_text("b.csv", "pll\n-2\n-4\n")
    write_text("paired/a-b@0.json", "{}")
    write_text("paired/a-b-c@0.json", "{}")
    succeed(f"step record {job(tmp_path)} --threads 1")
    assert read_json("paired/a-b@1.json")["differences"]["pll"]["mean"] == 1.5
    left = sorted(path.name for path in (tmp_path / "paired").iterdir())
    assert left == ["a-b-c@0.json", "a-b@1.json"]


def test_a_record_that_cannot_be_made_leaves_the_old_one(tmp_path):
    write_text("a.csv", "pll\n-1\n-2\n")
    write_text("paired/a-b@0.json", "{}")
    refuse(f"step record {job(tmp_path)}", "b.csv: no such file")
    outputs = {"record": tmp_path / "file/a-b@1.json"}
    write_text("b.csv", "pll\n-1\n-2\n")
    refuse(f"step record {job(tmp_path, outputs=outputs)}", "file/a-b@1.json: cannot be")
    assert [path.name for path in (tmp_path / "paired").iterdir()] == ["a-b@0.json"]


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "3", "{}", '{"record": ["pairs", "s", "d", []]}'),
        json.dumps({"record": ["none", "s", "d", []], "recipe": {}, "seed": 1, "inputs": {},
                    "outputs": {}, "given": {}}),
        json.dumps({"record": ["data", "s", "d", []], "recipe": {}, "seed": "a", "inputs": {},
                    "outputs": {}, "given": {}}),
    ],
)  # fmt: skip
def test_what_is_no_job_is_refused(text):
    refuse(f"step record {shlex.quote(text)}", "JOB: expected the JSON that the workflow writes")
