"""Reports: pictures, page and notebook display of an answer.

In comes an answer, out come a page without scripts (`html`), matplotlib's axes (`plots`) or what a
notebook shows (`fragment`). Importing this room gives answers these abilities. Start with `html`.
"""

from closedform.report import fragment, html, plots

__all__ = ["fragment", "html", "plots"]
