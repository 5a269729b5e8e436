"""The grammar and the semantics of Libra's files, restated as an independent check."""

import re

from hypothesis import strategies as st

from made_models import conjunctions

LEXER = re.compile(
    r"(?P<cond>[+-]v[0-9]+_[0-9]+)|(?P<tvar>v[0-9]+_[0-9]+)|(?P<vidx>v[0-9]+)"
    r"|(?P<float>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.])|-?inf(?!\w))"
    r"|(?P<eol>[\r\n]+)|(?P<mark>[{}()])|(?P<word>[A-Za-z]+)|(?P<blank>[ \t]+)|(?P<bad>.)"
)


def accepted_by_libra(text):
    """Tell whether a written file follows the grammar, line ends included."""
    schema, _, body = text.partition("\n")
    assert re.fullmatch(r"[0-9]+(,[0-9]+)*", schema)
    short = {"cond": "c", "tvar": "t", "vidx": "v", "float": "n", "eol": "e", "bad": "?"}
    words = {"mn": "M", "dn": "D", "features": "F", "table": "B", "tree": "T"}
    code = ""
    for match in LEXER.finditer(body):
        kind = match.lastgroup
        if kind == "blank":
            continue
        if kind == "mark":
            code += match[0]
        elif kind == "word":
            code += words[match[0].lower()]
        else:
            code += short[kind]
    while (reduced := re.sub(r"\(te*ne*n\)", "n", code)) != code:
        code = reduced
    feature = r"n?nc*e"
    factor = rf"(?:{feature}|[FB]\{{(?:e|{feature})*\}}|T\{{e*ne?\}})"
    cpd = rf"v\{{(?:e|{factor})*\}}"
    return bool(re.fullmatch(rf"(?:Me?\{{(?:e|{factor})*|De?\{{(?:e|{cpd})*)\}}e", code))


def holds(literals, state):
    return all((state[v] == value) == (sign == "+") for sign, v, value in literals)


def tree_value(tree, state):
    while isinstance(tree, tuple):
        var, value, first, second = tree
        tree = first if state[var] == value else second
    return tree


def factor_value(factor, state):
    kind, content = factor
    if kind == "tree":
        return tree_value(content, state)
    return sum(weight for _, weight, literals in content if holds(literals, state))


finite = st.one_of(st.floats(-9, 9), st.integers(-9, 9)).map(float)


@st.composite
def libra_rows(draw, n_vars):
    literals = [
        literal
        for v, value in draw(conjunctions(range(n_vars)))
        for literal in draw(
            st.sampled_from([[("+", v, value)], [("-", v, 1 - value)]])
            | st.permutations([("+", v, value), ("-", v, 1 - value)])
        )
    ]
    literals = draw(st.permutations(literals))
    return draw(st.none() | st.integers(0, 99)), draw(finite), literals


@st.composite
def libra_trees(draw, n_vars, depth):
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(finite)
    below = libra_trees(n_vars, depth - 1)
    return (draw(st.integers(0, n_vars - 1)), draw(st.integers(0, 1)), draw(below), draw(below))


def libra_factors(n_vars):
    rows = libra_rows(n_vars)
    return st.one_of(
        rows.map(lambda row: ("feature", [row])),
        st.lists(rows, max_size=4).map(lambda content: ("features", content)),
        st.lists(rows, max_size=6).map(lambda content: ("table", content)),
        libra_trees(n_vars, 4).map(lambda content: ("tree", content)),
    )


def row_text(row):
    weight_id, weight, literals = row
    head = "" if weight_id is None else f"{weight_id} "
    return head + repr(weight) + "".join(f" {sign}v{v}_{k}" for sign, v, k in literals) + "\n"


def tree_text(tree, between):
    if not isinstance(tree, tuple):
        return f"{between}{tree!r}"
    var, value, first, second = tree
    return f"{between}(v{var}_{value} {tree_text(first, between)} {tree_text(second, between)})"


@st.composite
def factor_text(draw, factor):
    kind, content = factor
    if kind == "feature":
        return draw(st.sampled_from(["", "\n", "   "])) + row_text(content[0])
    keyword = draw(st.sampled_from([kind, kind.upper(), kind.title()]))
    if kind == "tree":
        between = draw(st.sampled_from([" ", "\n  ", "\n\n\t"]))
        return f"{keyword} {{{tree_text(content, between)}\n}}\n"
    after = draw(st.sampled_from(["\n", " "]))
    return f"{keyword} {{{after}{''.join(map(row_text, content))}\n}}\n\n"
