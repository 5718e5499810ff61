from dataclasses import replace

from closedform.report.fragment import fragment
from closedform.report.html import render_report
from closedform.searching.decomposition import Combination, Decomposition

INPUTS = tuple(Combination(name, (name,), 0.0, 0.0, 0.0) for name in ("x", "<v>"))
STRUCTURE = Decomposition(
    (Combination("x*<v>", ("x", "<v>"), 1e-6, 0.0, 2e-6, INPUTS),), ("z",), 1e-6
)


def test_the_page_and_the_notebook_show_how_a_formula_is_built(example):
    built = replace(example, structure=STRUCTURE)
    page, notebook = render_report(built), fragment(built)
    assert page.count('<ul class="tree">') == 2
    assert "x*&lt;v&gt;" in page
    assert "It does not depend on z." in page
    assert "The concept is a function of x*&lt;v&gt; alone." in notebook
    assert "<v>" not in page + notebook


def test_without_structure_there_is_no_such_section(example):
    assert "How it is built" not in render_report(example) + fragment(example)
