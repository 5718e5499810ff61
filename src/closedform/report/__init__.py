"""Pictures, page and notebook display of an answer, which gets these abilities by the import."""

from closedform.report import fragment, html, plots

__all__ = ["fragment", "html", "plots"]
