from collections.abc import Iterator

import pytest

from closedform.report.figure_data import ReportData
from closedform.testing.example_report import example_report

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="session")
def example() -> ReportData:
    return example_report()


@pytest.fixture(scope="session")
def evil() -> ReportData:
    """A report on an input whose name is a script."""
    return example_report((EVIL, '"><img src=x onerror=alert(2)>'))


@pytest.fixture
def pyplot() -> Iterator[object]:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")
