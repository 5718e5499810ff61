"""Seconds and memory of `GradientField.from_arrays`, each size in a process of its own.

python bench/scripts/large_fields.py [--sizes 100000x12 50x10000]
"""

import argparse
import subprocess
import sys

SIZES = ("100000x12", "100000x20", "1000000x4", "10000000x4", "50x10000")

ONE = """
import resource, sys, time
import numpy as np
import closedform as cf
n_points, n_inputs = map(int, sys.argv[1].split("x"))
points = np.random.default_rng(0).uniform(1, 2, (n_points, n_inputs))
gradients = np.roll(points, 1, axis=1)
gradients += np.roll(points, -1, axis=1)
cf.GradientField
began = time.process_time()
field = cf.GradientField.from_arrays(points, gradients)
seconds = time.process_time() - began
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
arrays = (points.nbytes + gradients.nbytes) / 2**30
print(f"| {n_points:,} | {n_inputs:,} | {seconds:.1f} | {arrays:.2f} | {memory:.2f} |")
"""


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", default=SIZES)
    print("| points | inputs | seconds | the two arrays, GB | at most in use, GB |")
    print("|---|---|---|---|---|", flush=True)
    for size in parser.parse_args().sizes:
        subprocess.run([sys.executable, "-c", ONE, size], check=True)


if __name__ == "__main__":
    main()
