"""Controls: fields in which there is no closed form to be found."""

from collections.abc import Callable

import numpy as np

import closedform as cf
from closedform_bench.formulas.grammar import draw_problems
from closedform_bench.verdicts.case import VerdictCase
from closedform_bench.verdicts.outside_functions import SPECIAL, OutsideFunction
from closedform_bench.verdicts.small_networks import ACTIVATIONS, SmallNetwork, train, untrained

N_READ = 1000


def draw_control(name: str, kind: str, rng: np.random.Generator) -> VerdictCase:
    """A control of a kind."""
    return KINDS[kind](name, kind, rng)


def _names(count: int) -> list[str]:
    return [f"x{place + 1}" for place in range(count)]


def _box(rng: np.random.Generator, count: int = N_READ) -> np.ndarray:
    return rng.uniform(-1.5, 1.5, (count, int(rng.integers(2, 5))))


def _activation(rng: np.random.Generator) -> str:
    return str(rng.choice(list(ACTIVATIONS)))


def _of(name: str, kind: str, network: SmallNetwork, points: np.ndarray) -> VerdictCase:
    field = network.field(points, _names(points.shape[1]))
    return VerdictCase(name, kind, field)


def _untrained(name: str, kind: str, rng: np.random.Generator) -> VerdictCase:
    points = _box(rng)
    return _of(name, kind, untrained(points, _activation(rng), rng, gain=2.0), points)


def _near_linear(name: str, kind: str, rng: np.random.Generator) -> VerdictCase:
    points = _box(rng)
    activation = str(rng.choice(["tanh", "silu", "gelu"]))
    gain = float(rng.choice([0.1, 0.3, 0.6]))
    return _of(name, kind, untrained(points, activation, rng, gain=gain), points)


def _shuffled(name: str, kind: str, rng: np.random.Generator) -> VerdictCase:
    (problem,) = draw_problems(1, int(rng.integers(2**31)))
    points = problem.points(1000, rng)
    network = train(
        points, rng.permutation(problem.formula()(points)), _activation(rng), rng, steps=600
    )
    return _of(name, kind, network, problem.points(N_READ, rng))


def _memorised(name: str, kind: str, rng: np.random.Generator) -> VerdictCase:
    points = _box(rng)
    network = train(points[:60], rng.normal(size=60), _activation(rng), rng, steps=600)
    return _of(name, kind, network, points)


def _random_waves(name: str, kind: str, rng: np.random.Generator) -> VerdictCase:
    points = _box(rng)
    waves = rng.normal(size=(6, points.shape[1])) * rng.choice([0.5, 1.0])
    phases, sizes = rng.uniform(0, 2 * np.pi, 6), rng.normal(size=6)
    gradients = (np.cos(points @ waves.T + phases) * sizes) @ waves
    return _plain(name, kind, points, gradients)


def _bumps(name: str, kind: str, rng: np.random.Generator) -> VerdictCase:
    points = _box(rng)
    centres = rng.uniform(-1.5, 1.5, (12, points.shape[1]))
    apart = points[:, None] - centres
    bells = np.exp(-(apart**2).sum(axis=2) / 2) * rng.normal(size=12)
    return _plain(name, kind, points, -(bells[:, :, None] * apart).sum(axis=1))


def _noise(name: str, kind: str, rng: np.random.Generator) -> VerdictCase:
    points = _box(rng)
    return _plain(name, kind, points, rng.normal(size=points.shape))


def _plain(name: str, kind: str, points: np.ndarray, gradients: np.ndarray) -> VerdictCase:
    field = cf.GradientField.from_arrays(
        points, gradients, names=_names(points.shape[1]), tangent="none"
    )
    return VerdictCase(name, kind, field)


def _outside(rng: np.random.Generator) -> OutsideFunction:
    chosen = SPECIAL[str(rng.choice(list(SPECIAL)))]
    return OutsideFunction(chosen, int(rng.integers(3)), float(rng.choice([0.2, 0.37, 0.7])))


def _special(name: str, kind: str, rng: np.random.Generator) -> VerdictCase:
    function = _outside(rng)
    points = function.points(N_READ, rng)
    return _plain(name, kind, points, function.values_and_gradients(points)[1])


def _special_noisy(name: str, kind: str, rng: np.random.Generator) -> VerdictCase:
    function = _outside(rng)
    points = function.points(3 * N_READ, rng)
    gradients, scale = function.values_and_gradients(points)[1], points.std(axis=0)
    units = gradients * scale
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    turned = units + np.deg2rad(0.3) * rng.normal(size=units.shape)
    return _plain(name, kind, points, turned / scale)


def _special_network(name: str, kind: str, rng: np.random.Generator) -> VerdictCase:
    function = _outside(rng)
    points = function.points(int(rng.choice([1000, 4000, 12000])), rng)
    network = train(points, function.values_and_gradients(points)[0], _activation(rng), rng)
    return _of(name, kind, network, function.points(N_READ, rng))


def _wave_network(name: str, kind: str, rng: np.random.Generator) -> VerdictCase:
    points = _box(rng, 4000)
    waves = rng.normal(size=(4, points.shape[1]))
    values = np.sin(points @ waves.T + rng.uniform(0, 2 * np.pi, 4)) @ rng.normal(size=4)
    network = train(points, values, _activation(rng), rng, steps=800)
    return _of(name, kind, network, points[:N_READ])


def _sphere(name: str, kind: str, rng: np.random.Generator) -> VerdictCase:
    points = rng.normal(size=(2 * N_READ, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    network = untrained(points, _activation(rng), rng, gain=float(rng.choice([0.5, 2.0])))
    if rng.random() < 0.5:
        waves = rng.normal(size=(3, 3)) * 2
        values = np.sin(points @ waves.T + rng.uniform(0, 2 * np.pi, 3)).sum(axis=1)
        network = train(points, values, _activation(rng), rng, steps=600)
    field = network.field(points[:N_READ], _names(3), ("x1**2 + x2**2 + x3**2",))
    return VerdictCase(name, kind, field)


def _hidden(name: str, kind: str, rng: np.random.Generator) -> VerdictCase:
    (problem,) = draw_problems(1, int(rng.integers(2**31)))
    points = problem.points(4000, rng)
    network = train(points, problem.formula()(points), _activation(rng), rng, steps=800)
    neuron = network.hidden(int(rng.integers(64)))
    field = neuron.field(points[:N_READ], problem.names)
    return VerdictCase(name, kind, field)


KINDS: dict[str, Callable[[str, str, np.random.Generator], VerdictCase]] = {
    "untrained": _untrained,
    "shuffled targets": _shuffled,
    "random waves": _random_waves,
    "near-linear": _near_linear,
    "special function": _special,
    "special function, noisy": _special_noisy,
    "network of a special function": _special_network,
    "sphere": _sphere,
    "hidden neuron": _hidden,
    "memorised labels": _memorised,
    "sum of bumps": _bumps,
    "network of waves": _wave_network,
    "pure noise": _noise,
}
