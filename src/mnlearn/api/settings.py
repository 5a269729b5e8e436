"""Settings of inference as people give them: keyword arguments of a query or a score."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from mnlearn.api.inputs import is_whole
from mnlearn.inference.settings import ANNEALED, AUTO, UPPER, Annealing, Inference, inference_of
from mnlearn.runtime.errors import InputError

_SAMPLED = ("burn_in", "samples")
_ITERATED = ("iterations", "tolerance")
# The settings that each method of inference reads.
SETTINGS = {
    AUTO: _SAMPLED,
    "gibbs": _SAMPLED,
    "exact": (),
    "mcsat": _SAMPLED,
    "bp": (*_ITERATED, "damping", "schedule"),
    "meanfield": _ITERATED,
    UPPER: (*_ITERATED, "damping"),
    ANNEALED: ("chains", "samples"),
}
SETTINGS_OF_QUERIES = (*_SAMPLED, *SETTINGS["bp"])
_REAL = ("tolerance", "damping")
_TEXT = ("schedule",)


# Writes the name of a setting as a person does, or the setting with a value.
Spell = Callable[..., str]


def spell_argument(name: str, value: Any = None) -> str:
    """Return an argument as a person writes it in Python."""
    return name if value is None else f"{name}={value!r}".replace("'", '"')


def settings_of(method: str, settings: Mapping[str, Any]) -> Inference:
    """Return settings of the inference of marginals, or of iterative estimates."""
    unknown = [name for name in settings if name not in SETTINGS_OF_QUERIES]
    if unknown:
        expected = f"{', '.join(SETTINGS_OF_QUERIES[:-1])} and {SETTINGS_OF_QUERIES[-1]}"
        raise InputError(
            f"inference: expected settings among {expected}, got {', '.join(unknown)}."
        )
    return inference_of(method, **check_settings(settings))


def annealing_of(settings: Mapping[str, Any]) -> Annealing:
    """Return the numbers of chains and steps of annealed importance sampling."""
    given = {"chains": Annealing.n_chains, "samples": Annealing.n_steps}
    given |= check_settings(settings)
    return Annealing(given["chains"], given["samples"])


def refusal(name: str, which: str, read: Iterable[str], spell: Spell) -> InputError:
    """Return the refusal of a setting that is not read by something, which reads others."""
    known = ", ".join(map(spell, read)) or "no settings"
    return InputError(f"{spell(name)}: is not read by {which}, which reads {known}.")


def check_read(method: str, given: Iterable[str], spell: Spell = spell_argument) -> None:
    """Refuse settings that the method of a query does not read."""
    for name in given:
        if name not in SETTINGS[method]:
            raise refusal(name, f"inference {method}", SETTINGS[method], spell)


def check_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that are not None; an InputError names a value of another kind."""
    return {name: _checked(name, value) for name, value in settings.items() if value is not None}


def _checked(name: str, value: Any) -> Any:
    if name in _TEXT:
        if isinstance(value, str):
            return value
        raise InputError(f"{name}: expected a text, got {value!r}.")
    if is_whole(value):
        return int(value)
    if name not in _REAL:
        raise InputError(f"{name}: expected a whole number, got {value!r}.")
    if isinstance(value, float | np.floating):
        return float(value)
    raise InputError(f"{name}: expected a number, got {value!r}.")
