import numpy as np

from closedform.example import NAMES, snapshots
from closedform.networks.siamese import SiameseOptions
from closedform_bench.example_network import EXPERIMENT, OPTIONS, SEED, train_example
from closedform_bench.paper.experiment_catalogue import EXPERIMENTS


def test_the_example_shows_the_test_data_of_its_experiment():
    """The package draws them without the experiments; another seed or integrator would show data of
    another kind.
    """
    experiment = EXPERIMENTS[EXPERIMENT]
    assert experiment.inputs == NAMES
    np.testing.assert_allclose(
        snapshots(500), experiment.split("test", 500, seed=SEED)[:, 0], atol=1e-9, rtol=0
    )


def test_it_can_be_trained_again():
    short = SiameseOptions(hidden=(8,), epochs=1, loss=OPTIONS.loss, activation=OPTIONS.activation)
    trained = train_example(short, 300)
    assert trained.module[-1].out_features == 1
