"""The page on questionnaires prints what it says."""

import re
import shlex
from pathlib import Path

import pandas as pd
import pytest

from command import succeed
from printed import same_print

PAGE = Path(__file__).parent.parent.parent / "docs" / "howto" / "questionnaires.md"
# A block of Python, or a command, and the text that it is said to print.
BLOCK = re.compile(
    r"(?:^```python\n(.*?)^```\n|^    mnlearn (.*?)\n)(?:\n```text\n(.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)


@pytest.mark.nightly
def test_the_page_prints_what_it_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names, n_commands = {}, 0
    with pd.option_context("display.width", 100):
        for code, command, expected in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
            if command:
                printed = succeed(shlex.join(shlex.split(command))).stdout
                n_commands += 1
            else:
                exec(code, names)
                printed = capsys.readouterr().out
            assert same_print(expected, printed), (code or command, printed)
    assert n_commands == 2
