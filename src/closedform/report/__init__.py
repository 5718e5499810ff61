"""Reports: pictures, page and notebook display of an answer.

In comes an answer, out come a page without scripts and what a notebook shows (`html`), or
matplotlib's axes (`plots`). Importing this room gives answers these abilities. Start with `html`.
"""

from closedform.report import html, plots

__all__ = ["html", "plots"]
