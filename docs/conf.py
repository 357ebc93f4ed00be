"""Settings of the documentation site; ``make docs`` builds it without a network."""

from __future__ import annotations

import sys
from pathlib import Path

import unheard

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "unheard"
author = "The unheard developers"
copyright = "the unheard developers"
version = release = unheard.__version__

extensions = [
    "mathml",
    "myst_parser",
    "public_names",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_design",
]
exclude_patterns = ["_ext", "_templates"]
templates_path = ["_templates"]

# References: whatever is named and does not exist fails the build. Other projects' types are
# named but not linked, since that takes a network.
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!unheard\b).*")]

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
html_math_renderer = "mathml"

autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_use_legacy_class_based = False
napoleon_google_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_use_rtype = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
add_module_names = False

html_theme = "pydata_sphinx_theme"
html_title = "unheard"
html_static_path = ["_static"]
html_css_files = ["site.css"]
# These two have no pages below them.
html_sidebars: dict[str, list[str]] = {"index": [], "start": []}
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "logo": {"text": "unheard"},
    "show_prev_next": True,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "show_toc_level": 3,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
