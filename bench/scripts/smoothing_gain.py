"""What Gaussian smoothing of the gradients of rectified networks gains, on experiments 8 and 12.

    python bench/scripts/smoothing_gain.py [--seeds 2]

For each radius: the misalignment of the true invariant with the smoothed directions against that
with the raw ones, and the gain that a user without the truth can see
(`closedform_bench.smoothing_gain`, judged on raw held-out directions).
"""

import argparse
from dataclasses import replace

import torch

import closedform as cf
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.alignment.misalignment import trimmed_mean, weighted_mean
from closedform.field.gradient_field import GradientField
from closedform.field.tangent_space import robust_spread
from closedform.networks import samples as smoothing
from closedform.networks.extract import open_source
from closedform.networks.samples import smooth_samples
from closedform_bench.paper.answers import ANSWERS
from closedform_bench.paper.experiment_catalogue import EXPERIMENTS
from closedform_bench.paper.extraction import N_POINTS
from closedform_bench.paper.profiles import get_profile
from closedform_bench.paper.train import train_experiment
from closedform_bench.smoothing_gain import smoothing_gain


def main() -> None:
    """Print a row for each experiment, seed and radius."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--draws", type=int, default=32)
    parser.add_argument("--experiments", type=int, nargs="*", default=[8, 12])
    parser.add_argument("--activation", choices=("relu", "elu"), default="relu")
    parser.add_argument("--radii", type=float, nargs="*", default=[0.01, 0.02, 0.03, 0.05])
    options = parser.parse_args()
    smoothing.MAX_RADIUS = max(
        *options.radii, smoothing.MAX_RADIUS
    )  # the benchmark may look beyond what users are allowed
    torch.set_num_threads(1)
    print(
        "experiment seed radius  misalignment  trimmed   gain  trimmed gain  gain on "
        "held-out raw directions"
    )
    for experiment in options.experiments:
        names = EXPERIMENTS[experiment].inputs
        expression = cf.parse(ANSWERS[experiment].expression, names=names)
        profile = get_profile("quick", experiment)
        profile = replace(profile, options=replace(profile.options, activation=options.activation))
        for seed in range(options.seeds):
            model = train_experiment(experiment, profile, seed=seed).module
            points = EXPERIMENTS[experiment].split("test", N_POINTS, seed=seed)[:, 0]
            source = open_source(model, points, "output:0")
            raw = source.evaluate(source.points)
            first: tuple[float, float] | None = None
            for radius in (0.0, *options.radii):
                samples = (
                    smooth_samples(source, raw, radius=radius, draws=options.draws, rng=seed)
                    if radius
                    else raw
                )
                field = GradientField.from_arrays(
                    samples.points, samples.jacobians, names=names, tangent="none"
                )
                values = field_misalignment(expression, field)
                mean, trimmed = (
                    weighted_mean(values, field.weights),
                    trimmed_mean(values, field.weights),
                )
                first = first or (mean, trimmed)
                seen = 1.0
                if radius:
                    scale = robust_spread(raw.points)
                    seen = smoothing_gain(
                        raw.points, raw.jacobians, samples.jacobians, scale=scale, rng=seed
                    ).ratio
                print(
                    f"{experiment:10d} {seed:4d} {radius:6.2f}  {mean:12.2e}  {trimmed:.1e}  "
                    f"{first[0] / mean:5.2f}"
                    f"  {first[1] / trimmed:12.2f}  {seen:5.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
