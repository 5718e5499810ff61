"""CosmoPower's emulators of cosmic spectra: what the published weights have learned."""

from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np
from cosmopower_jax.cosmopower_jax import CosmoPowerJAX

import closedform as cf
from closedform.judge.rules import Material
from closedform.sweeping.family import NeuronReading, group

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PICTURE = Path(__file__).parent.parent / "images" / "real_networks" / "cosmopower.svg"
jax.config.update("jax_enable_x64", True)
rng = np.random.default_rng(0)


def directions(emulator, fixed, free, points):
    """Gradients of the logarithm of every output by some inputs: (n_points, n_outputs, n_free)."""

    def spectrum(values):
        return jnp.log(emulator.predict(fixed.at[free].set(values)))

    return np.asarray(jax.jit(jax.vmap(jax.jacfwd(spectrum)))(points), dtype=float)


# The temperature spectrum at l = 800: optical depth, tilt and amplitude.
temperature = CosmoPowerJAX(probe="cmb_tt", verbose=False)
names = ["tau", "ns", "lnA"]
points = rng.uniform([0.02, 0.9, 2.8], [0.12, 1.02, 3.3], (600, 3))
planck = jnp.array([0.0224, 0.12, 0.67, 0.055, 0.965, 3.05])
jacobian = directions(temperature, planck, np.array([3, 4, 5]), points)
place = int(np.flatnonzero(temperature.modes == 800)[0])
field = cf.GradientField.from_arrays(points, jacobian[:, place], names=names)
rule = Material(degrees=0.1)  # nearer than this matters to nobody, so simpler wins
answer = cf.interpret_field(
    field, budget=cf.Budget(evaluations=2000), rng=0, rule=rule, progress=False
)
print("C_l of the temperature at l = 800, in", ", ".join(names))
print(" ", answer.concept, "--", answer.verdict.status)
print(f"  median angle {answer.alignment.angles[0]:.3f} degrees")
print("  theory: A_s exp(-2 tau), so lnA - 2 tau at fixed ns")

# The matter power spectrum at all 420 wave numbers: tilt and amplitude.
matter = CosmoPowerJAX(probe="mpk_lin", verbose=False)
names = ["ns", "lnA"]
points = rng.uniform([0.9, 2.5], [1.02, 3.5], (300, 2))
planck = jnp.array([0.0224, 0.12, 0.67, 0.965, 3.05, 0.5])
jacobian = directions(matter, planck, np.array([3, 4]), points)
readings = []
for place, k in enumerate(matter.modes):
    field = cf.GradientField.from_arrays(points, jacobian[:, place], names=names)
    concept, misalignment = None, 1.0
    if place % 60 == 30:  # seven are searched; the others only have to follow the form
        found = cf.interpret_field(field, budget=cf.Budget(evaluations=1500), rng=0, progress=False)
        concept, misalignment = found.concept, found.alignment.misalignment
        print(f"P(k) at k = {k:.4g}: {concept} -- {found.verdict.status}")
    readings.append(NeuronReading(f"k{place}", float(k), field, concept, misalignment))
families = group(readings)
family = families[0]
print(f"\n{len(family.labels)} of {len(readings)} outputs are {family.form}")
for term, curve in family.curves().items():
    print(f"  coefficient of {term}: {curve}")
    if curve is not None:
        for number, error in zip(curve.numbers, curve.errors, strict=True):
            print(f"  {number:.5f} +- {error:.1e}, R2 {curve.r2:.8f}")
table = family.table()
for k in (0.01, 0.1995, 1.0):
    row = table.iloc[(table["index"] - k).abs().argmin()]
    term = family.constants[0]
    theory = np.log(row["index"] / 0.05)
    print(f"  k = {row['index']:.5g}: {row[term]:.5f}, ln(k/0.05) = {theory:.5f}")
left = table["degrees"].max()
print(f"  largest angle left {left:.3f} degrees; in no family: {len(families.others)}")

figure, ax = plt.subplots(figsize=(6.4, 3.4))
family.plot(ax)
figure.tight_layout()
figure.savefig(PICTURE, metadata={"Date": None})
