"""The XML form of the Bayesian network interchange format (XMLBIF), read only."""

import math
import re
from xml.etree import ElementTree

from mnlearn.models.bayesian_network import BayesianNetwork, network_of_tables
from mnlearn.models.cpds import CpdTable
from mnlearn.models.io.printed import check_sums, fault_of, numbers
from mnlearn.runtime.errors import InputError, name_file
from mnlearn.variables.arrays import states_of
from mnlearn.variables.schema import Schema, Variable


def parse_xml(text: str, where: str) -> BayesianNetwork:
    """Return the network of a text; sentences of errors begin with `where`."""
    try:
        # The declaration may name an encoding, but the text is decoded already.
        root = ElementTree.fromstring(re.sub(r"^\s*<\?xml.*?\?>", "", text))
    except ElementTree.ParseError as error:
        raise InputError(f"{where}: is not XML: {error}.") from error
    for element in root.iter():
        # Some programs write a namespace, or other capitals.
        element.tag = element.tag.rpartition("}")[2].upper()
    declared: dict[str, list[str]] = {}
    for variable in root.iter("VARIABLE"):
        name, kind = _word(variable, "NAME"), variable.get("TYPE", "nature")
        if name in declared:
            raise InputError(f"{where}: two variables are called {name!r}.")
        if kind.lower() not in ("nature", "discrete"):
            raise InputError(f"{where}: expected variables of nature, {name} is one of {kind}.")
        declared[name] = _words(variable, "OUTCOME", "VALUE")
    if root.tag != "BIF" or not declared:
        raise InputError(
            f"{where}: expected XMLBIF, which has VARIABLE and DEFINITION in BIF; other forms of "
            "XML can be converted to .bif, for example with pyAgrum."
        )
    with name_file(where):
        schema = Schema(tuple(Variable(name, states_of(own)) for name, own in declared.items()))
        tables: dict[int, CpdTable] = {}
        for definition in root.iter("DEFINITION"):
            v, table = _xml_table(definition, schema)
            if v in tables:
                raise InputError(f"{schema.names[v]} has a second DEFINITION.")
            tables[v] = table
        for v, name in enumerate(schema.names):
            if v not in tables:
                raise InputError(f"variable {name} has no DEFINITION.")
        return network_of_tables(schema, tables)


def _xml_table(definition: ElementTree.Element, schema: Schema) -> tuple[int, CpdTable]:
    """Return the variable of a definition, and its distribution given its parents."""
    name = _word(definition, "FOR")
    scope = [schema.number(word) for word in (*_words(definition, "GIVEN"), name)]
    shape = [schema[u].arity for u in scope]
    words = _word(definition, "TABLE").replace(",", " ").split()
    if len(set(scope)) < len(scope):
        raise InputError(f"{name}: expected different variables.")
    if len(words) != math.prod(shape):
        raise InputError(f"{name}: expected {math.prod(shape)} probabilities, not {len(words)}.")
    values = numbers(words)
    if values is None:
        fault = fault_of(words, shape[-1])
        raise InputError(f"{name}: {fault[1] if fault else ''}")
    prob = values.reshape(shape)
    check_sums(prob, words, name, [(schema.names[u], schema[u].texts) for u in scope[:-1]])
    return scope[-1], CpdTable(tuple(scope[:-1]), prob)


def _words(element: ElementTree.Element, *tags: str) -> list[str]:
    return [(own.text or "").strip() for own in element if own.tag in tags]


def _word(element: ElementTree.Element, tag: str) -> str:
    return " ".join(_words(element, tag))
