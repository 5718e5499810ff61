from dataclasses import replace

from closedform.report.html import fragment, render_report
from closedform.searching.engine import Combination, Decomposition

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


def test_its_numbers_have_no_more_digits_than_are_read(example):
    sum_ = Combination("x - 1.909169495045117*z", ("x", "z"), 1e-6, 0.0, 2e-6, INPUTS)
    built = replace(example, structure=Decomposition((sum_,), (), 1e-6))
    for text in (render_report(built), fragment(built), built.explain()):
        assert "x - 1.9092*z" in text
        assert "1.90916949" not in text


def test_without_structure_there_is_no_such_section(example):
    assert "How it is built" not in render_report(example) + fragment(example)
