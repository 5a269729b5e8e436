"""What the texts of options stand for."""

import json
from typing import Any

from mnlearn.runtime.errors import InputError


def parse_names(text: str | None) -> list[str]:
    """Return the names in a text, which commas separate."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def parse_settings(settings: tuple[str, ...]) -> dict[str, Any]:
    """Return `key=value` arguments as a dictionary."""
    out: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise InputError(f"--set {setting}: expected key=value.")
        if name.strip() in out:
            raise InputError(f"--set {setting}: {name.strip()} is set twice.")
        out[name.strip()] = value.strip()
    return out


def parse_object(text: str, option: str) -> dict[str, Any]:
    """Return the JSON object of an option."""
    from mnlearn.runtime.files import decode_json

    try:
        value = decode_json(text, option)
    except json.JSONDecodeError as error:
        raise InputError(f"{option}: is not JSON: {error.msg}.") from error
    if not isinstance(value, dict):
        raise InputError(f"{option}: expected a JSON object, got {text}.")
    return value


def spell_option(name: str, value: Any = None) -> str:
    """Return the option of an argument of `mnlearn.score` or of a query, and its value."""
    if value == "ais" or name == "chains":
        return "--ais" if value is None else "--ais 100"
    option = f"--{name.replace('_', '-')}"
    return option if value is None else f"{option} {value}"
