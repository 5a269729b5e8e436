"""Files of every form, mutated: they are read, or refused in a sentence, soon, in little memory."""

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from faults.counting import N
from faults.forms import make_forms
from faults.mutations import mutated
from faults.worker import Worker

pytestmark = pytest.mark.xdist_group("mutated files")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with one file of each form, and a process that runs commands in it."""
    folder = tmp_path_factory.mktemp("forms")
    worker = Worker(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        forms = make_forms(folder)
        yield folder, forms, worker
    worker.stop()


def written(folder, form):
    return sorted(p.name for p in folder.glob(f"{form.writes}*")) if form.writes else []


def remove_written(folder):
    for left in folder.glob("o.*"):
        shutil.rmtree(left) if left.is_dir() else left.unlink()


def unsound_json(text):
    """Return which constant of an object that was printed is no JSON; None if all is."""
    found = []
    if text.startswith("{"):
        json.loads(text, parse_constant=found.append)
    return f"printed {found[0]}" if found else None


def problem_of(result, left):
    """Return what is wrong with the outcome of a command; None if nothing is."""
    status, stdout, stderr = (result[key] for key in ("status", "stdout", "stderr"))
    if status == 0:
        return unsound_json(stdout)
    lines = stderr.splitlines() or [""]
    if status != 2 or "Traceback" in stderr:
        return f"status {status}: {stderr[-600:]}"
    if not lines[-1].startswith("mnlearn: ") or not lines[-1].endswith((".", "?")):
        return f"is not a sentence: {lines[-1][-300:]!r}"
    if sum(line.startswith("mnlearn: ") for line in lines) > 1 or stdout:
        return f"said more: {stdout[-200:]} {stderr[-400:]}"
    return f"left {left}" if left else None


def test_the_files_themselves_are_read(place):
    folder, forms, worker = place
    for form in forms:
        for command in form.commands:
            # Kernels may have to be compiled.
            result = worker.run(command.replace("FILE", form.path), most_seconds=200.0)
            assert result["status"] == 0, (command, result)
            remove_written(folder)


def test_mutated_files(place, counts):
    folder, forms, worker = place
    contents = {form.path: (folder / form.path).read_bytes() for form in forms}
    slowest = [0.0]

    @seed(N)
    @settings(
        max_examples=10 * N, deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(st.data())
    def try_one(data):
        form = data.draw(st.sampled_from(forms))
        command = data.draw(st.sampled_from(form.commands)).replace("FILE", form.path)
        names, content = data.draw(mutated(form, contents[form.path]))
        (folder / form.path).write_bytes(content)
        try:
            result = worker.run(command)
        finally:
            (folder / form.path).write_bytes(contents[form.path])
        slowest[0] = max(slowest[0], result.get("seconds", 0.0))
        problem = problem_of(result, written(folder, form))
        remove_written(folder)
        if problem:
            kept = Path(folder, f"failed-{len(counts.failures)}-{Path(form.path).name}")
            kept.write_bytes(content)
            problem = f"{command}, {', '.join(names)}, kept as {kept}: {problem}"
        counts.add(problem)

    try_one()
    counts.notes.append(f"slowest {slowest[0]:.1f} s")
    counts.check()


def test_a_cell_with_a_damaged_trace_leaves_nothing(place):
    folder, forms, worker = place
    (form,) = (form for form in forms if form.path == "models/trace.csv")
    path = folder / form.path
    content = path.read_bytes()
    path.write_bytes(content + b"\xff\xfe")
    try:
        result = worker.run(form.commands[0])
    finally:
        path.write_bytes(content)
    assert problem_of(result, written(folder, form)) is None
    assert result["status"] == 2
