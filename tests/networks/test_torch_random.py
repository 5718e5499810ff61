import random
from collections.abc import Callable

import numpy as np
import pytest
import torch

from closedform.networks.torch_state import drawn_so_far, random_state_kept


def test_all_states_come_back_after_an_error() -> None:
    own = torch.Generator().manual_seed(1)
    before = torch.get_rng_state(), own.get_state(), repr(np.random.get_state()), random.getstate()  # noqa: NPY002

    def draw_and_fail() -> None:
        drawn = torch.rand(3), torch.rand(3, generator=own), np.random.rand(), random.random()  # noqa: NPY002
        raise RuntimeError(f"inside {len(drawn)}")

    with pytest.raises(RuntimeError, match="inside"), random_state_kept(3, [own, None]):
        draw_and_fail()

    assert torch.equal(torch.get_rng_state(), before[0])
    assert torch.equal(own.get_state(), before[1])
    assert repr(np.random.get_state()) == before[2]  # noqa: NPY002
    assert random.getstate() == before[3]


def test_the_block_sees_the_seed() -> None:
    drawn = []
    for _ in range(2):
        with random_state_kept(11):
            drawn.append((torch.rand(1).item(), np.random.rand(), random.random()))  # noqa: NPY002
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize(
    "draw",
    [
        lambda: torch.rand(1),
        lambda: np.random.rand(),  # noqa: NPY002
        random.random,
        lambda: None,
    ],
)
def test_draws_are_noticed(draw: Callable[[], object]) -> None:
    with random_state_kept(0):
        before = drawn_so_far()
        result = draw()
        assert (drawn_so_far() != before) == (result is not None)
