import numpy as np

import closedform as cf
from closedform.reading.several_latents import MOST, permute_inputs


def test_the_other_component_of_a_vector_is_among_the_images():
    names = ["x", "y", "p", "q"]
    first = cf.parse("q*(p*y - q*x) + x/sqrt(x**2 + y**2)", names=names)
    second = cf.parse("p*(q*x - p*y) + y/sqrt(x**2 + y**2)", names=names)
    points = np.random.default_rng(0).uniform(0.5, 2, (20, 4))
    assert sum(np.allclose(image(points), second(points)) for image in permute_inputs(first)) == 1
    assert len(permute_inputs(first)) == 23


def test_with_many_inputs_one_or_two_pairs_are_exchanged():
    names = [f"x{i}" for i in range(12)]
    images = permute_inputs(cf.parse("x0*x1 + x2", names=names))
    assert cf.parse("x3*x1 + x2", names=names) in images
    assert cf.parse("x3*x4 + x2", names=names) in images
    assert cf.parse("x3*x4 + x5", names=names) not in images
    assert len(images) <= MOST
