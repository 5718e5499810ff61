"""A physics-informed network of DeepXDE: how fast does its shock move?"""

import contextlib
import os
import sys

os.environ["DDE_BACKEND"] = "pytorch"
import deepxde as dde
import numpy as np

import closedform as cf

BEHIND, AHEAD, VISCOSITY = 1.0, 0.2, 0.2


def burgers(place, u):
    """u_t + u u_x = nu u_xx; places are (x, t)."""
    slope, rate = (dde.grad.jacobian(u, place, j=j) for j in (0, 1))
    return rate + u * slope - VISCOSITY * dde.grad.hessian(u, place, i=0, j=0)


def front(place):
    """The profile at the start, between the two states."""
    half = (BEHIND - AHEAD) / 2
    return AHEAD + half * (1 - np.tanh(half * place[:, :1] / (2 * VISCOSITY)))


def train():
    """Three layers of 24 neurons, given the equation, the start and the values at both ends."""
    dde.config.set_random_seed(0)
    dde.config.set_default_float("float64")
    domain = dde.geometry.GeometryXTime(dde.geometry.Interval(-6, 7), dde.geometry.TimeDomain(0, 2))
    ends = dde.icbc.DirichletBC(
        domain,
        lambda place: np.where(place[:, :1] < 0, BEHIND, AHEAD),
        lambda _, on_boundary: on_boundary,
    )
    start = dde.icbc.IC(domain, front, lambda _, on_initial: on_initial)
    data = dde.data.TimePDE(
        domain, burgers, [ends, start], num_domain=500, num_boundary=60, num_initial=60
    )
    model = dde.Model(data, dde.nn.FNN([2, 24, 24, 24, 1], "tanh", "Glorot normal"))
    model.compile("adam", lr=3e-3, loss_weights=[1, 10, 10], verbose=0)
    model.train(iterations=500, verbose=0)
    dde.optimizers.set_LBFGS_options(maxiter=800)
    model.compile("L-BFGS", loss_weights=[1, 10, 10], verbose=0)
    model.train(verbose=0)
    return model


with contextlib.redirect_stdout(sys.stderr):  # DeepXDE reports as it goes
    model = train()
points = np.random.default_rng(0).uniform([-1.5, 0], [2.5, 2], (800, 2))
residual = np.abs(model.predict(points, operator=burgers)).mean()
print(f"Burgers' equation, u = {BEHIND} behind the shock and {AHEAD} ahead of it")
print(f"mean residual at the points that are read: {residual:.1e}\n")

names = ["x", "t"]
answer = cf.interpret(
    model.net, points, 0, names=names, budget=cf.Budget(evaluations=2000), rng=0, progress=False
)
print(" ", answer.concept, "--", answer.verdict.status)
print(f"  median angle {answer.alignment.angles[0]:.3f} degrees")
for number in answer.constants or ():
    print(f"  constant {number.value:.4f}, standard error {number.error:.4f}")
field = cf.extract_field(model.net, points, 0, names=names)
theory = cf.verify("x - 0.6*t", field, rivals=None)
angle = theory.alignment.angles[0]
print(f"  theory, x - 0.6*t: median angle {angle:.3f} degrees, {theory.verdict.status}")
