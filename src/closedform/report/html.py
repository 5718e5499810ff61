"""The report: one self-contained page."""

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from closedform._version import __version__
from closedform.files import write_text
from closedform.interpretation.abilities import ability
from closedform.interpretation.answer import Interpretation
from closedform.optional import require
from closedform.report.figures import title
from closedform.report.looks import CHECK_MARKS, LOOKS
from closedform.report.page_view import FUNCTIONS
from closedform.shown import shown


@ability("report")
def write_report(interpretation: Interpretation, path: str | Path) -> Path:
    """Write the page to a file.

    Parameters
    ----------
    interpretation : Interpretation
    path : str or Path
        Usually ends in ``.html``; its folder must exist.

    Returns
    -------
    Path
        Where it was written.

    Raises
    ------
    MissingDependencyError
        Without Jinja2, which the extra ``report`` brings.
    SaveError
        If it cannot be written; an old file is still there.
    """
    write_text(path, render_report(interpretation))
    return Path(path)


def render_report(interpretation: Interpretation) -> str:
    """The page as text.

    Examples
    --------
    >>> from closedform.testing.example_interpretation import example_interpretation
    >>> page = render_report(example_interpretation())
    >>> "pendulum" in page, "http" in page.replace("http-equiv", "")
    (True, False)
    """
    jinja2 = require("jinja2", extra="report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("closedform.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        # Autoescaping leaves alone what turns the direction of writing, or has no width.
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(FUNCTIONS, looks=LOOKS, check_marks=CHECK_MARKS)
    script = _asset("report.js")
    return environment.get_template("report.html.j2").render(
        answer=interpretation,
        title=title(interpretation),
        style=_asset("report.css"),
        script=script,
        # Only this script may run, whatever a name in the data contains.
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
        version=__version__,
    )


def _visible(value: object) -> object:
    """Text from outside with escapes; markup of our own, which has no such characters, as it is."""
    return shown(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _asset(name: str) -> str:
    return (files("closedform.report") / "templates" / name).read_text(encoding="utf-8").strip()
