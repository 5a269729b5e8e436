"""YAML files of people: read only as far as one can mean it."""

from pathlib import Path
from typing import Any

import yaml

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_text

# A few hundred bytes of aliases can stand for more values than fit in memory.
MAX_VALUES = 100_000
MAX_DEPTH = 200
# libyaml's parser is about nine times as fast as the one in Python.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path: Path | str) -> Any:
    """Return the value in a YAML file, which consists of plain types."""
    text = read_text(path)
    try:
        loader = _LOADER(text)
        _refuse_deep_nesting(path, text)
        node = loader.get_single_node()
        if node is None:
            return None
        if _count_values(node, {}) > MAX_VALUES:
            raise InputError(f"{path}: expected at most {MAX_VALUES} values, aliases included.")
        _refuse_repeated_keys(path, node, set())
        return loader.construct_document(node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        # libyaml finds that an end is lacking on the line after the last.
        line = f", line {min(mark.line, text.rstrip().count(chr(10))) + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it cannot be parsed"
        raise InputError(f"{path}{line}: is not YAML: {problem}.") from error
    except InputError:
        raise
    except ValueError as error:
        raise InputError(
            f"{path}: has a value that cannot be read, such as a date that does not exist or a "
            "number of too many digits."
        ) from error


def _refuse_deep_nesting(path: Path | str, text: str) -> None:
    """Refuse what libyaml would crash on: it reads collections in collections by recursion in C."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise InputError(f"{path}: its brackets are nested too deeply.")


def _count_values(node: yaml.Node, known: dict[int, float]) -> float:
    """Return the number of values below a node and itself, infinite if it contains itself."""
    if id(node) not in known:
        known[id(node)] = float("inf")
        children = [] if isinstance(node, yaml.ScalarNode) else node.value
        if isinstance(node, yaml.MappingNode):
            children = [child for pair in children for child in pair]
        known[id(node)] = 1.0 + sum(_count_values(child, known) for child in children)
    return known[id(node)]


def _refuse_repeated_keys(path: Path | str, node: yaml.Node, seen: set[int]) -> None:
    """Refuse a mapping that gives a key twice; a reader takes the first, the parser the last."""
    if id(node) in seen or isinstance(node, yaml.ScalarNode):
        return
    seen.add(id(node))
    keys: set[tuple[str, str]] = set()
    for child in node.value:
        if not isinstance(node, yaml.MappingNode):
            _refuse_repeated_keys(path, child, seen)
            continue
        key, value = child
        if isinstance(key, yaml.ScalarNode):
            # `<<` may stand there for each of several aliases.
            if (key.tag, key.value) in keys and key.value != "<<":
                line = key.start_mark.line + 1
                raise InputError(f"{path}, line {line}: the key {key.value!r} is given twice.")
            keys.add((key.tag, key.value))
        _refuse_repeated_keys(path, value, seen)
