"""Write `src/mnlearn/api/learners.pyi`, which declares the estimators for type checkers.

`make readme` runs it; a test compares.
"""

import dataclasses
from pathlib import Path

from mnlearn.api.learner_estimators import make_estimator
from mnlearn.methods import class_names

STUB = Path(__file__).parent.parent / "src" / "mnlearn" / "api" / "learners.pyi"
HEAD = '''"""The estimators of all learners; `make readme` writes this file."""

from typing import Any

from mnlearn.api.learner_estimators import LearnerEstimator
'''


def stub_text() -> str:
    """Return the text of the stub: a class with typed arguments for each learner."""
    parts = [HEAD]
    for class_name, name in sorted(class_names().items()):
        made = make_estimator(name)
        summary = (made.__doc__ or "").splitlines()[0]
        lines = [f"class {class_name}(LearnerEstimator):", f'    """{summary}"""']
        own = [(f.name, _kind(f), f.default) for f in dataclasses.fields(made)]
        lines += ["", "    def __init__(", "        self,", "        *,"]
        lines += [f"        {field}: {kind} = {_written(default)}," for field, kind, default in own]
        lines += ["    ) -> None: ..."]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _written(value: object) -> str:
    """Return a default as the formatter would write it."""
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _kind(field: dataclasses.Field) -> str:
    """Return the type of an argument as it is written."""
    return field.type.__name__ if isinstance(field.type, type) else str(field.type)


if __name__ == "__main__":
    STUB.write_text(stub_text(), encoding="utf-8")
