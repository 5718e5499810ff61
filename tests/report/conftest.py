from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.answer_data import JointEvidence, NetworkReading
from closedform.interpretation.verdict import CheckResult, Verdict
from example_interpretation import example_interpretation

EVIL = "<script>alert(1)</script>"
EVIL_TOO = '"><img src=x onerror=alert(2)>'

NOT_MADE = CheckResult.not_made("There are no values <i>of</i> the latent.")
FAILED = CheckResult.made(False, "It is not stable.")
PASSED = CheckResult.made(True, "It fits.")


@pytest.fixture(scope="session")
def example() -> Interpretation:
    return example_interpretation()


@pytest.fixture(scope="session")
def evil() -> Interpretation:
    """An answer about inputs whose names are scripts."""
    found = example_interpretation((EVIL, EVIL_TOO))
    return replace(found, networks=network_readings(found, 2, name=EVIL))


@pytest.fixture(scope="session")
def nothing(example) -> Interpretation:
    """A search that found nothing."""
    return Interpretation(
        names=example.names,
        verdict=Verdict("none", "No closed form was found."),
        field_quality=replace(example.field_quality, findings=()),
        provenance=replace(example.provenance, title="", command="", versions={}),
    )


@pytest.fixture(scope="session")
def several(example, nothing) -> Interpretation:
    """Two concepts of three latents, the second approximate and long."""
    single = replace(example, hypothesis=None)
    first = example.front[2].expression
    second = parse(" + ".join(f"0.12345*{letter}**3" for letter in "abcdfghjklm"))
    nearly = Verdict("approximate", "Nearly this.", (FAILED, NOT_MADE, PASSED))
    parts = (replace(single, concept=first, chosen=2), with_concept(single, second, nearly))
    checks = (CheckResult.made(True, "2 concepts were read."), NOT_MADE)
    return replace(
        nothing,
        verdict=Verdict("approximate", "Together the latents are nearly these 2 formulas.", checks),
        concept=first,
        concepts=(first, second),
        parts=parts,
        together=JointEvidence(
            rank=2,
            read=2,
            spectrum=(1.0, 0.51, 9e-17),
            is_rank_ambiguous=False,
            outside=0.0012,
            missing=0.0034,
            chance=0.67,
            r2=(0.99, 0.98, 0.97),
            explained=0.985,
        ),
    )


@pytest.fixture(scope="session")
def networks(example) -> Interpretation:
    """One concept on four networks, which differ in their checks."""
    return replace(example, networks=network_readings(example, 4))


def with_concept(found: Interpretation, concept: Expression, verdict: Verdict) -> Interpretation:
    """The same answer with another choice at the end of its front."""
    last = replace(found.front[-1], expression=concept, complexity=99)
    front = (*found.front, last)
    return replace(found, concept=concept, verdict=verdict, front=front, chosen=len(found.front))


def network_readings(found: Interpretation, count: int, name="network"):
    """Readings of which only the first made all its checks."""
    assert found.concept is not None
    verdicts = [Verdict("verified", "It is.", (PASSED, PASSED))]
    verdicts += [Verdict("approximate", "It may be.", (PASSED, NOT_MADE))] * (count - 1)
    concepts, misalignments = (found.concept,), (1e-3,)
    constants = [((0.5 + 0.01 * place,),) for place in range(count)]
    return tuple(
        NetworkReading(f"{name} {n}", concepts, (verdicts[n],), misalignments, constants[n])
        for n in range(count)
    )


@pytest.fixture(scope="session")
def with_checks() -> Callable[[Interpretation, tuple[CheckResult, ...]], Interpretation]:
    """A copy of an answer in which every verdict rests on these checks."""

    def change(found: Interpretation, checks: tuple[CheckResult, ...]) -> Interpretation:
        readings = []
        for reading in found.networks:
            verdicts = [replace(verdict, checks=checks) for verdict in reading.verdicts]
            readings.append(replace(reading, verdicts=tuple(verdicts)))
        parts = tuple(change(part, checks) for part in found.parts)
        verdict = replace(found.verdict, checks=checks)
        return replace(found, verdict=verdict, networks=tuple(readings), parts=parts)

    return change


@pytest.fixture
def pyplot() -> Iterator[object]:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.close("all")  # what others left open
    yield pyplot
    pyplot.close("all")
