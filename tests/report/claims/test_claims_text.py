"""Claims as text for readers and as rows for programs, word for word."""

import re

from mnlearn_studies.report.claims.verdicts import (
    CONTRADICTED,
    LEGEND,
    REPRODUCED,
    SETUP,
    UNKNOWN,
    Claim,
    Outcome,
    count_verdicts,
    to_csv,
    to_text,
)

RESULT = Claim(
    1, "wins", "a beats b.", "8 of 20", Outcome(REPRODUCED, "9 of 20", "+1", n_datasets=20),
    "a count, ±1", "number of datasets", "the rule", note="A remark.",
)  # fmt: skip
CELLS = Claim(
    2, "cells", "x, y.", "most", Outcome(UNKNOWN, reason="none"), "cells", "number of cells",
    "the rule", note="A remark.", cause="none",
)  # fmt: skip
AGAIN = Claim(
    1, "wins", "b beats c.", "2 of 20", Outcome(CONTRADICTED, "9 of 20", "+7", n_datasets=20),
    "a count, ±1", "number of datasets", "the rule", note="A remark.",
)  # fmt: skip
FOLLOWED = Claim(
    3, "setting", "sd is 1.", "1", Outcome(SETUP, "1"), "setting", "setting", "another rule",
    is_setup=True,
)  # fmt: skip


def test_the_text_for_readers():
    text = to_text("T", [RESULT, CELLS, AGAIN, FOLLOWED])
    assert "\n3 results: 1 *reproduced*; 1 *contradicted*; 1 *cannot be checked*.\n" in text
    assert "\n1 set-up claims, which are not results: 1 followed.\n" in text
    assert re.search(r"\| cannot be checked +\| none +\|", text)
    assert f"\n- **contradicted**: {LEGEND[CONTRADICTED]}.\n" in text
    assert "\n- **number of datasets, number of cells**: the rule.\n" in text
    assert text.endswith("\n## Remarks\n\n1. A remark.\n\n2. A remark.\n")


def test_parts_that_are_empty_are_left_out():
    text = to_text("T", [FOLLOWED])
    assert text.startswith("# Claims: T\n\n1 set-up claims, which are not results: 1 followed.\n\n")
    assert "## Results" not in text
    assert text.endswith("- **setting**: another rule.\n")
    assert "## Set-up" not in to_text("T", [RESULT])
    assert to_text("T", []) == "# Claims: T\n\nThis study states no claims.\n"
    assert count_verdicts([]) == ""


def test_the_rows_for_programs():
    assert to_csv([RESULT, CELLS]) == (
        "id,kind,statement,published,ours,verdict,difference,reason,cause,n_datasets,rule,note\n"
        '1,wins,a beats b.,8 of 20,9 of 20,reproduced,+1,,,20,"a count, ±1",A remark.\n'
        '2,cells,"x, y.",most,,cannot be checked,,none,none,,cells,A remark.\n'
    )
