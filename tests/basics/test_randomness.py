import numpy as np
import pytest

from closedform.basics.randomness import SeedError, as_generator
from closedform.errors import ClosedformError


def test_a_seed_gives_the_same_stream_again():
    assert as_generator(5).integers(1 << 40) == as_generator(np.int64(5)).integers(1 << 40)
    assert as_generator(5).integers(1 << 40) != as_generator(6).integers(1 << 40)


def test_a_generator_passes_through_so_that_its_stream_goes_on():
    generator = np.random.default_rng(1)
    assert as_generator(generator) is generator


def test_none_draws_a_fresh_seed():
    assert as_generator(None).integers(1 << 60) != as_generator(None).integers(1 << 60)


def test_a_seed_sequence_is_a_seed():
    sequence = np.random.SeedSequence(3)
    assert as_generator(sequence).integers(1 << 40) == np.random.default_rng(
        np.random.SeedSequence(3)
    ).integers(1 << 40)


@pytest.mark.parametrize("wrong", [-1, "7", 1.5, True, [1, 2]])
def test_anything_else_is_refused_with_the_value(wrong):
    with pytest.raises(SeedError, match="pass a seed") as caught:
        as_generator(wrong)
    assert repr(wrong) in str(caught.value)
    assert isinstance(caught.value, ClosedformError)
