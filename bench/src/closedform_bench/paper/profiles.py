"""Profiles: how much data and training an experiment gets."""

from dataclasses import dataclass
from typing import Literal

from closedform.networks.siamese import SiameseOptions

ProfileName = Literal["paper", "quick"]

_PAPER_EPOCHS = {1: 100, 3: 100, 4: 100}
"""All others train for 300 epochs."""

_PAPER_FACTOR_FROM = 6
"""Experiments 1 to 5 lower the learning rate by 0.2 on a plateau, the others by 0.5."""

_STOP_AFTER = 80
"""Epochs without a better loss that end a training of the paper's size: by then the learning rate
has fallen 128 times.
"""


@dataclass(frozen=True, slots=True)
class Profile:
    """Sizes of the data sets and how to train on them.

    Attributes
    ----------
    n_training, n_validation, n_test : int
        Triplets.
    options : SiameseOptions
    """

    n_training: int
    n_validation: int
    n_test: int
    options: SiameseOptions


def get_profile(name: ProfileName, number: int) -> Profile:
    """The profile of an experiment.

    Parameters
    ----------
    name : {'paper', 'quick'}
        'paper' is the paper's table; 'quick' is smaller, for two cores and a few minutes.
    number : int
        Of the experiment.

    Examples
    --------
    >>> get_profile("paper", 4).options.epochs, get_profile("paper", 8).options.factor
    (100, 0.5)
    """
    if name == "quick":
        options = SiameseOptions(
            hidden=(128, 128), activation="elu", learning_rate=6e-3, epochs=60, schedule="cycle"
        )
        return Profile(20_000, 2_000, 10_000, options)
    options = SiameseOptions(
        epochs=_PAPER_EPOCHS.get(number, 300),
        factor=0.5 if number >= _PAPER_FACTOR_FROM else 0.2,
        stop_after=_STOP_AFTER,
    )
    return Profile(50_000, 5_000, 10_000, options)
