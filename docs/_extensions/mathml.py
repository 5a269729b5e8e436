"""Formulas as MathML, which browsers draw without a script: the site needs no network."""

import re

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def render(formula: str, *, block: bool = False) -> str:
    """Return a formula as MathML, also with the commands that docutils does not know."""
    formula = re.sub(r"\\(big|Big)(?=\s*[(\[])", r"\\\1l", formula)
    formula = re.sub(r"\\(big|Big)(?=\s*[)\]])", r"\\\1r", formula)
    formula = re.sub(r"\\dots\b", r"\\ldots", formula)
    found: str = tex2mathml(formula, as_block=block)
    return found


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula inside a sentence."""
    self.body.append(render(node.astext()))
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on lines of its own."""
    self.body.append(f'<div class="formula">{render(node.astext(), block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the renderer to Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
