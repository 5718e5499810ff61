"""Memory of extraction: a million points with 16 inputs through a 256-wide network, 5,000 of them
kept.

Run it: python bench/scripts/extraction_memory.py [array|dataset|loader|stream]

Prints how far the process's peak memory rises above what it held when data and network existed.
Linux only.
"""

import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from closedform.networks.extract import extract_samples

N_POINTS, N_INPUTS, WIDTH, KEPT = 1_000_000, 16, 256, 5_000


def peak_megabytes() -> float:
    """Largest resident memory of the process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def held_megabytes() -> float:
    """Resident memory of the process now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def batches(seed: int) -> Iterator[torch.Tensor]:
    """A stream that never holds more than one batch."""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(N_POINTS // 1000):
        yield torch.randn(1000, N_INPUTS, generator=generator)


def main(kind: str) -> None:
    """Measure one kind of data."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    layers = [
        torch.nn.Linear(N_INPUTS, WIDTH),
        torch.nn.ELU(),
        torch.nn.Linear(WIDTH, WIDTH),
        torch.nn.ELU(),
    ]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(WIDTH, 1))
    inputs: object = batches(0)
    if kind != "stream":
        array = np.random.default_rng(0).normal(size=(N_POINTS, N_INPUTS))
        inputs = array
        if kind in ("dataset", "loader"):
            inputs = torch.utils.data.TensorDataset(torch.from_numpy(array))
        if kind == "loader":
            inputs = torch.utils.data.DataLoader(inputs, batch_size=1000, shuffle=True)  # pyright: ignore[reportArgumentType]
    # Autograd and the allocator start up here, so that their own memory is not counted.
    extract_samples(model, np.zeros((4, N_INPUTS)), ":0", rng=0)
    before, start = held_megabytes(), time.perf_counter()
    samples = extract_samples(model, inputs, ":0", max_points=KEPT, rng=0)
    seconds, growth = time.perf_counter() - start, peak_megabytes() - before
    print(
        f"{kind}: {samples.jacobians.shape[0]:,} of {N_POINTS:,} points, peak growth "
        f"{growth:.0f} MB, {seconds:.1f} s"
    )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "array")
