"""What an answer says of new points."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from closedform.errors import ConceptError, ShapeError
from closedform.interpretation.answer import Interpretation
from example_interpretation import example_interpretation

POINTS = np.random.default_rng(0).uniform(-1, 1, (20, 2))


@pytest.fixture(scope="module")
def example() -> Interpretation:
    return example_interpretation()


def test_it_is_phi_of_the_concept(example) -> None:
    assert example.concept is not None
    assert example.phi is not None
    expected = np.interp(example.concept(POINTS), example.phi.concept, example.phi.latent)
    assert np.ptp(expected) > 0
    np.testing.assert_array_equal(example.predict(POINTS), expected)


def test_columns_of_a_table_are_taken_by_name(example) -> None:
    table = pd.DataFrame(POINTS, columns=list(example.names))
    mixed = table[[*reversed(example.names)]].assign(note=1.0)
    np.testing.assert_array_equal(example.predict(mixed), example.predict(POINTS))
    with pytest.raises(ShapeError, match=f"no column '{example.names[1]}'"):
        example.predict(table[[example.names[0]]])


def test_without_phi_it_says_what_to_do(example) -> None:
    with pytest.raises(ConceptError, match=r"values were not known.*answer.concept"):
        replace(example, phi=None).predict(POINTS)
    several = replace(example, phi=None, concepts=(example.concept, example.concept))
    with pytest.raises(ConceptError, match="several latents"):
        several.predict(POINTS)
    with pytest.raises(ConceptError, match="found no formula"):
        replace(example, concept=None, concepts=()).predict(POINTS)
    with pytest.raises(ShapeError):
        example.predict(POINTS[:, :1])


def test_phi_prints_in_one_line(example) -> None:
    """It printed all its samples."""
    text = str(example.phi)
    assert "\n" not in text
    assert len(text) < 120
    assert text == repr(example.phi)
    assert "grows" in repr(replace(example.phi, rank_correlation=1.0))
    assert "falls" in repr(replace(example.phi, rank_correlation=-1.0))
