"""The report: one self-contained page."""

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from closedform._version import __version__
from closedform.files import write_text
from closedform.optional import require
from closedform.report import page_view
from closedform.report.figure_data import ReportData

_ICONS = {True: "passed", False: "failed", None: "open"}


def write_report(data: ReportData, path: str | Path) -> Path:
    """Write the page to a file.

    Parameters
    ----------
    data : ReportData
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
    target = Path(path)
    write_text(target, render_report(data))
    return target


def render_report(data: ReportData) -> str:
    """The page as text.

    Examples
    --------
    >>> page = render_report(ReportData("Neuron fc:0", "none", "No closed form was found."))
    >>> "No closed form was found." in page, "http" in page.replace("http-equiv", "")
    (True, False)
    """
    jinja2 = require("jinja2", extra="report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("closedform.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    bars, axis, floor = page_view.bars(data)
    coefficients, coefficient_axis = page_view.whiskers(data.coefficients)
    markup = require("markupsafe", extra="report").Markup
    script = _asset("report.js")
    return environment.get_template("report.html.j2").render(
        data=data,
        bars=bars,
        axis=axis,
        floor=floor,
        coefficients=coefficients,
        coefficient_axis=coefficient_axis,
        directions=page_view.directions(data),
        formula=page_view.formula,
        words=page_view.STATUS_WORDS,
        status_word=page_view.STATUS_WORDS[data.status],
        icon=_ICONS.__getitem__,
        number=page_view.short_number,
        style=markup(_asset("report.css")),
        script=markup(script),
        # Only this script may run, whatever a name in the data contains.
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
        version=__version__,
    )


def _asset(name: str) -> str:
    return (files("closedform.report") / "templates" / name).read_text(encoding="utf-8").strip()
