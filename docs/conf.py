"""Settings of the documentation site; `make docs` builds it into build/docs/html.

The source folder is the root of the project, so that links from pages to the results and to the
files of the project lead to the same places as on a forge.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(Path(__file__).parent / "_extensions"))
os.environ.setdefault("MPLBACKEND", "Agg")

project = "mnlearn"
author = "The mnlearn authors"
project_copyright = "The mnlearn authors, MIT licence"

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_click",
    "sphinx_gallery.gen_gallery",
    # Our own, in _extensions/.
    "mathml",
    "project_pages",
]

# Pages ------------------------------------------------------------------------------------------
root_doc = "docs/index"
include_patterns = [
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs/**",
    "results/*.md",
    "results/*/README.md",
    "results/*/claims.md",
    "results/*/tables/*.md",
]
exclude_patterns = [
    ".*",
    "build",
    "src",
    "tests",
    "workflow",
    "docs/_*",
    # The list of pages for a forge; docs/index.md takes its place here.
    "docs/README.md",
    # Diaries for developers.
    "docs/lab-notes",
    # Read by the gallery.
    "docs/gallery/GALLERY_HEADER.rst",
    "docs/generated/gallery/**.py",
    "docs/generated/gallery/**.ipynb",
    "results/*/cells",
]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_fence_as_directive = ["math"]
# Links of pages are those of a forge, which makes anchors of all headings.
myst_heading_anchors = 4
suppress_warnings = ["config.cache"]

# Python -----------------------------------------------------------------------------------------
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
# Absolute, because autosummary looks below the source folder and Sphinx below this one.
templates_path = [str(ROOT / "docs" / "_templates")]
add_module_names = False
# Docstrings write names between single backticks.
default_role = "code"
smartquotes = False

# Gallery ----------------------------------------------------------------------------------------
sphinx_gallery_conf = {
    "examples_dirs": "docs/gallery",
    "gallery_dirs": "docs/generated/gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "write_computation_times": False,
}

# HTML -------------------------------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = "mnlearn"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_root"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
# These pages stand alone in their section.
html_sidebars = {"docs/index": [], "docs/tutorial": []}
html_theme_options = {
    "logo": {"text": "mnlearn"},
    "header_links_before_dropdown": 7,
    "navigation_depth": 3,
    "show_toc_level": 2,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
}
