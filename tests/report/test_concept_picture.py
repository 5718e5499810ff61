"""What a reader of the page sees first: the concept on the data, and what it rests on."""

import re
from dataclasses import replace

import closedform as cf
from closedform.expressions.parse import parse
from closedform.interpretation.evidence import ConstantEstimate, InputNeed
from closedform.report.html import render_report
from closedform.report.svg import MOST_SLICES, concept_picture

TIMES = "\N{MULTIPLICATION SIGN}"


def of_inputs(example, formula: str, count: int):
    names = tuple(f"x{place}" for place in range(count))
    concept = parse(formula, list(names))
    used = [place in concept.tree.variables for place in range(count)]
    inputs = tuple(
        InputNeed(name, is_used, 0.1 * place, 0.1, 1.0, 1.5, 2.0)
        for place, (name, is_used) in enumerate(zip(names, used, strict=True))
    )
    return replace(example, names=names, concept=concept, inputs=inputs, directions=None)


def test_two_inputs_have_level_lines_over_the_data(example) -> None:
    drawn = concept_picture(example)
    assert drawn is not None
    (picture,) = drawn.pictures
    lines = re.findall(r'class="contour" style="opacity:([\d.]+)" d="(M[^"]+)"', picture)
    assert len(lines) >= 8
    assert [float(opacity) for opacity, _ in lines] == sorted(float(one) for one, _ in lines)
    assert 'class="dots few"' in picture


def test_more_inputs_have_slices_of_those_that_matter(example) -> None:
    drawn = concept_picture(of_inputs(example, "x0*x1 + x2", 4))
    assert drawn is not None
    assert len(drawn.pictures) == 3
    assert "The concept by x2" in drawn.pictures[0]  # the most needed comes first
    many = concept_picture(of_inputs(example, "+".join(f"x{k}" for k in range(9)), 9))
    assert many is not None
    assert len(many.pictures) == MOST_SLICES


def test_poles_and_old_files_do_not_break_the_page(example) -> None:
    assert concept_picture(of_inputs(example, "1/(x0 - x1) + x2", 3)) is not None
    old = tuple(replace(need, low=None, median=None, high=None) for need in example.inputs)
    assert concept_picture(replace(example, inputs=old)) is None
    assert "portrait" not in render_report(replace(example, inputs=old)).split("<body>")[1]


def test_the_picture_comes_before_the_sentences(example) -> None:
    page = render_report(example)
    assert page.index('class="contour"') < page.index("<h1>")


def test_ranges_and_constants_with_errors_are_on_the_page(example) -> None:
    estimates = (
        ConstantEstimate(1.5, 1.503, 2e-5, False),
        ConstantEstimate(2.0, 1.998, 0.01, True),
    )
    page = render_report(replace(example, constants=estimates))
    assert "Inputs and constants" in page
    low = example.inputs[0].low
    assert low is not None
    assert f"{low:.3g}".replace("-", "\N{MINUS SIGN}") in page
    assert f"1.503 ± 2{TIMES}10⁻⁵" in page
    assert "<small>plain</small>" in page


def test_numbers_are_written_in_one_way(example) -> None:
    """1.5e-05 stood beside the same as a power of ten."""
    alignment = replace(example.alignment, misalignment=1.5e-5, low=8e-8, high=1e-4)
    verdict = replace(example.verdict, sentence="Off by 1.5e-05 degrees.")
    page = render_report(replace(example, alignment=alignment, verdict=verdict))
    assert f"1.5{TIMES}10⁻⁵ (8{TIMES}10⁻⁸ to 0.0001)" in page
    assert f"Off by 1.5{TIMES}10⁻⁵ degrees." in page
    body = page.split("<main>")[1].split("<script>")[0]
    text = re.sub(r"<(code|style)\b.*?</\1>", "", body, flags=re.DOTALL)
    assert not re.search(r">[^<]*\d[eE][-+]?\d\d[^<]*<", text)
    assert "e-05" not in example_notebook(replace(example, verdict=verdict))


def example_notebook(answer) -> str:
    return answer._repr_html_()


def test_the_table_of_formulas_has_plain_numbers_in_sympy() -> None:
    """They were fractions of two numbers of sixteen digits."""
    from closedform.expressions.sympy_bridge import to_plain_sympy

    formula = cf.parse("0.47650524008500483*v**2 + x/2", names=["x", "v"])
    assert str(to_plain_sympy(formula)) == "0.476505*v**2 + x/2"
