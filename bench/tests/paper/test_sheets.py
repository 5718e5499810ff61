from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot

from closedform.errors import ReportError
from closedform_bench.paper.sheets import plot_correlation, write_sheet

CONCEPT = np.linspace(-1, 1, 4001)


def test_points_are_drawn_where_they_are() -> None:
    latent = np.where(CONCEPT > 0.9, np.nan, CONCEPT**3)
    ax = plot_correlation(CONCEPT, latent, other=CONCEPT)
    drawn, over = (np.asarray(collection.get_offsets()) for collection in ax.collections)

    np.testing.assert_allclose(drawn[:, 1], drawn[:, 0] ** 3)
    np.testing.assert_allclose(over[:, 1], over[:, 0])
    assert 1000 < len(drawn) <= 1500
    assert drawn[:, 0].max() <= 0.9
    pyplot.close(ax.figure)  # type: ignore[arg-type]


def test_nothing_to_draw_is_said(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="1 points"):
        plot_correlation(np.array([1.0, np.nan]), np.array([1.0, 2.0]))
    with pytest.raises(ReportError, match="no panel"):
        write_sheet([], tmp_path / "sheet.png")


def test_a_sheet_has_every_panel_and_leaves_no_figure_open(tmp_path: Path) -> None:
    before, titles = pyplot.get_fignums(), []
    panels = [(f"{i}", lambda ax: titles.append(ax)) for i in range(5)]
    write_sheet(panels, tmp_path / "sheet.png", columns=3)

    assert [ax.get_title(loc="left") for ax in titles] == ["0", "1", "2", "3", "4"]
    assert (tmp_path / "sheet.png").stat().st_size > 1000
    assert pyplot.get_fignums() == before
