"""YAML files that are checked against a JSON schema: studies and the configuration."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.yaml_files import read_yaml

# Longer messages quote whole lists.
_LONGEST_MESSAGE = 300


def load_checked(path: Path, schema_path: Path, defaults: Mapping[str, Any] | None = None) -> Any:
    """Return the value in a YAML file, which has to fit a schema.

    defaults : values of keys that the file may leave out.
    """
    content, schema = read_yaml(path), read_yaml(schema_path)
    if defaults is not None and isinstance(content, dict):
        content = {**defaults, **content}
    errors = sorted(
        jsonschema.Draft202012Validator(schema).iter_errors(content),
        key=lambda error: [str(part) for part in error.path],
    )
    if errors:
        place = ".".join(str(part) for part in errors[0].path) or "top level"
        raise InputError(f"{path}, {place}: {_message(errors[0])}.")
    return content


def _message(error: jsonschema.ValidationError) -> str:
    """Return what is wrong with a value, in words where the schema has a regular expression."""
    if error.validator == "pattern":
        sample = ", or a sample such as msnbc-n1000-f2" if "-f" in error.validator_value else ""
        name = f"a name of lower-case letters, digits and _{sample}"
        return f"expected {name}, got {error.instance!r}"
    if len(error.message) <= _LONGEST_MESSAGE:
        return str(error.message)
    return f"{error.message[:_LONGEST_MESSAGE]} …"
