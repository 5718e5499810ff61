"""The documentation site: ``python -m sphinx -W -b html docs build/site``. Nothing is loaded from
the network.
"""

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from closedform import __version__

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "_extensions")]

project = "closedform"
author = "The closedform developers"
copyright = "The closedform developers, Apache-2.0"
release = version = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "command_help",
    "mathml",
]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
exclude_patterns = ["_static", "_extensions", "_machines"]
html_extra_path = ["_machines"]
templates_path = ["_templates"]

# Notebooks are kept with their output, which a test compares with a fresh run.
nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

autosummary_generate = True
autodoc_typehints = "none"
# The extra `docs` alone builds the site: torch is not needed to describe what uses it.
autodoc_mock_imports = [name for name in ("torch",) if find_spec(name) is None]
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": False}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
napoleon_preprocess_types = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
html_math_renderer = "mathml"

default_role = "py:obj"
pygments_style = "friendly"
pygments_dark_style = "github-dark"
html_theme = "furo"
html_title = "closedform"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072B2", "color-brand-content": "#0067A0"},
    "dark_css_variables": {"color-brand-primary": "#56B4E9", "color-brand-content": "#56B4E9"},
}


def _copy_gallery(app: Any) -> None:
    """Notebooks live where people look for them; Sphinx reads only what is below its own folder."""
    from thumbnails import thumbnail

    target = HERE / "gallery"
    for notebook in sorted((HERE.parent / "examples").glob("*.ipynb")):
        copy = target / notebook.name
        if not copy.exists() or copy.read_bytes() != notebook.read_bytes():
            target.mkdir(exist_ok=True)
            shutil.copyfile(notebook, copy)
        copy.with_suffix(".svg").write_text(thumbnail(notebook), encoding="utf-8")


def _draw_architecture(app: Any) -> None:
    """Drawn from the imports at every build, so that it is never out of date."""
    from architecture_picture import draw

    draw()


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("builder-inited", _draw_architecture, priority=2)
    app.connect("builder-inited", _copy_gallery, priority=1)
