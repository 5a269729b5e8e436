"""Small records have the numbers that are kept, on every processor of the class."""

import json
import subprocess
import sys

import pytest

import kept_numbers
from mnlearn.runtime.provenance import versions
from mnlearn.runtime.target import is_in_class
from mnlearn_studies.records.kinds import ASKED
from test_environment import pins

LOCKED = pins(f"{sys.version_info[0]}.{sys.version_info[1]}")
KEPT = json.loads(kept_numbers.KEPT.read_text(encoding="utf-8"))


@pytest.mark.skipif(not is_in_class(), reason="a processor outside the class")
@pytest.mark.skipif(
    any(versions()[name] != LOCKED[name] for name in ("numba", "numpy", "scipy")),
    reason="other versions of libraries than those of the lock file",
)
def test_numbers_are_those_that_are_kept(tmp_path):
    command = [sys.executable, kept_numbers.__file__, tmp_path]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    made = json.loads(done.stdout)
    differ = {name for name in {*KEPT, *made} if KEPT.get(name) != made.get(name)}
    assert not differ, "if this is intended: python tests/kept_numbers.py"


def test_every_kind_of_record_with_numbers_is_kept():
    # Of times only the seconds are new.
    assert {name.partition("/")[0] for name in KEPT} >= set(ASKED) - {"times"}
