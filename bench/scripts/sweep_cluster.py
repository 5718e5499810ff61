"""A sweep on a Dask cluster of separate processes, with everything going wrong that can, against
one process alone.

Run it: python bench/scripts/sweep_cluster.py [--neurons 2000] [--folder DIR]

One process reads the layer first, in the same way as `closedform sweep` does by default. Then `dask
scheduler` and two `dask worker` are started from the command line, and the same sweep runs through
them. At 15%, 30% and 45% one worker is killed (SIGKILL), at 60% the scheduler; it is started again
and the sweep goes on with `--resume`. One neuron eats memory. In the end 100 files of results are
truncated or overwritten, and a last `--resume` has to find them. Prints one JSON object.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil
import sweep_layer

from closedform.sweeping.execution.store import ResultStore

HERE = Path(__file__).parent
EFFORT = [
    "--max-points",
    "300",
    "--terms",
    "200",
    "--evaluations",
    "1000",
    "--memory-limit",
    "1500",
]
POISONED = "units:%d"
KILLS = (0.15, 0.30, 0.45)
SCHEDULER_KILL = 0.60


class Cluster:
    """A scheduler and workers, as a user starts them."""

    def __init__(self, folder: Path, environment: dict[str, str], port: int) -> None:
        self.folder, self.environment, self.port = folder, environment, port
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    @property
    def address(self) -> str:
        """Of the scheduler."""
        return f"tcp://127.0.0.1:{self.port}"

    def start(self, workers: int = 2) -> None:
        """Start the scheduler, then workers of one thread each."""
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard"
        )
        worker = [
            "worker",
            self.address,
            "--nthreads",
            "1",
            "--no-dashboard",
            "--death-timeout",
            "60",
        ]
        self.workers = [self._start(*worker) for _ in range(workers)]

    def kill_worker(self, number: int = 0) -> int:
        """Kill a worker's process; its nanny, which `dask worker` is, starts another one."""
        nanny = psutil.Process(self.workers[number].pid)
        while not (found := [child for child in nanny.children() if _is_worker(child)]):
            time.sleep(0.05)
        found[0].kill()
        return found[0].pid

    def kill_scheduler(self) -> None:
        """Kill the scheduler and collect it."""
        assert self.scheduler is not None
        self.scheduler.kill()
        self.scheduler.wait()

    def stop(self) -> None:
        """End everything that is left."""
        for process in [*self.workers, self.scheduler]:
            if process is not None and process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(30)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()

    def _start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        log = (self.folder / "dask.log").open("ab")
        command = [sys.executable, "-m", "dask", *arguments]
        return subprocess.Popen(command, stdout=log, stderr=log, env=self.environment)


def _is_worker(process: psutil.Process) -> bool:
    try:
        return "spawn_main" in " ".join(process.cmdline())
    except psutil.Error:  # it ended a moment ago
        return False


def command(files: tuple[Path, Path], store: Path, *more: str) -> list[str]:
    """The sweep's command line."""
    model, data = map(str, files)
    arguments = [
        "sweep",
        model,
        data,
        "--builder",
        "sweep_layer:make",
        "--layer",
        "units",
        "--store",
        str(store),
        "--json",
    ]
    return [sys.executable, str(HERE / "sweep_tasks.py"), *arguments, *EFFORT, *more]


def digests(store: Path) -> dict[str, str]:
    """What each neuron's record says, without seconds and versions."""
    return {
        record["neuron"]: record.get("digest", record["status"])
        for _, record in ResultStore(store).records()
    }


def wait_until(share: float, total: int, store: Path, run: "subprocess.Popen[str]") -> None:
    """Wait until so many results are there."""
    while len(ResultStore(store).keys()) < share * total:
        if run.poll() is not None:
            raise SystemExit(f"the sweep ended early with code {run.returncode}")
        time.sleep(0.05)


def damage(store: Path, count: int) -> list[str]:
    """Truncate or overwrite so many files of results."""
    chooser = random.Random(0)
    chosen = chooser.sample(sorted(store.glob("results/*/*.json")), count)
    for place, file in enumerate(chosen):
        content = file.read_bytes()
        ways = [content[: len(content) // 2], b"", os.urandom(len(content)), content[:-3]]
        file.write_bytes(ways[place % len(ways)])
    return [file.stem for file in chosen]


def main(neurons: int, folder: Path, port: int) -> dict[str, object]:
    """The whole story."""
    files = sweep_layer.write(folder, neurons)
    chosen = sweep_layer.kinds(neurons)
    poisoned = POISONED % chosen.kind.index("noise")
    notes, single, many = folder / "notes.txt", folder / "single", folder / "many"
    path = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {
        **os.environ,
        "PYTHONPATH": path,
        "OMP_NUM_THREADS": "1",
        "SWEEP_NOTES": str(folder / "single.txt"),
    }
    began = time.perf_counter()
    # Ends with code 0: at least one neuron is verified.
    subprocess.run(
        command(files, single), env=environment, cwd=HERE, check=True, stdout=subprocess.DEVNULL
    )
    result: dict[str, object] = {
        "neurons": neurons,
        "one_process_seconds": round(time.perf_counter() - began, 1),
    }
    environment |= {"SWEEP_NOTES": str(notes), "SWEEP_POISON": poisoned}
    cluster = Cluster(folder, environment, port)
    began = time.perf_counter()
    cluster.start()
    try:
        more = ["--scheduler", cluster.address, "--resume"]
        run = subprocess.Popen(
            command(files, many, *more),
            env=environment,
            cwd=HERE,
            stderr=subprocess.PIPE,
            text=True,
        )
        killed = []
        for share in KILLS:
            wait_until(share, neurons, many, run)
            killed.append(cluster.kill_worker())
        wait_until(SCHEDULER_KILL, neurons, many, run)
        cluster.kill_scheduler()
        said = run.communicate(timeout=300)[1].strip().splitlines()[-1]
        result["after_scheduler_kill"] = {
            "exit": run.returncode,
            "said": said,
            "results": len(ResultStore(many).keys()),
        }
        cluster.stop()
        cluster.start()
        subprocess.run(
            command(files, many, *more),
            env=environment,
            cwd=HERE,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        result["cluster_seconds"] = round(time.perf_counter() - began, 1)
        result |= compare(single, many, notes, poisoned, killed)
        result |= repair(files, many, environment, more, notes)
    finally:
        cluster.stop()
    repaired = digests(many)
    result["alike_after_repair"] = sum(
        repaired.get(neuron) == digest for neuron, digest in digests(single).items()
    )
    return result


def compare(
    single: Path, many: Path, notes: Path, poisoned: str, killed: list[int]
) -> dict[str, object]:
    """Both stores side by side, and how often each neuron was read."""
    one, two = digests(single), digests(many)
    read = Counter(line.split()[0] for line in notes.read_text().splitlines())
    record = next(
        record for _, record in ResultStore(many).records() if record["neuron"] == poisoned
    )
    verdicts = Counter(record["verdict"] for _, record in ResultStore(single).records())
    return {
        "workers_killed": len(killed),
        "verdicts": dict(verdicts),
        "statuses": dict(Counter(record["status"] for _, record in ResultStore(many).records())),
        "results": len(two),
        "alike": sum(two.get(neuron) == digest for neuron, digest in one.items()),
        "different": [neuron for neuron, digest in one.items() if two.get(neuron) != digest],
        "poisoned": {
            "neuron": poisoned,
            "status": record["status"],
            "reason": record.get("reason"),
        },
        "read_once": sum(count == 1 for count in read.values()),
        "read_again": {neuron: count for neuron, count in read.items() if count > 1},
    }


def repair(
    files: tuple[Path, Path], store: Path, environment: dict[str, str], more: list[str], notes: Path
) -> dict[str, object]:
    """Damage 100 files, resume, and count what was found and done again."""
    before = len(notes.read_text().splitlines())
    damaged = damage(store, 100)
    found = set(ResultStore(store).check().damaged)
    subprocess.run(
        command(files, store, *more),
        env=environment,
        cwd=HERE,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    sound = ResultStore(store).check()
    return {
        "damaged": len(damaged),
        "found": len(found & set(damaged)),
        "done_again": len(set(damaged) & sound.sound),
        "searched_again": len(notes.read_text().splitlines()) - before,
        "still_damaged": len(sound.damaged),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--neurons", type=int, default=2000)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--port", type=int, default=18901)
    chosen = parser.parse_args()
    where = chosen.folder or Path(tempfile.mkdtemp(prefix="sweep-"))
    where.mkdir(parents=True, exist_ok=True)
    print(json.dumps(main(chosen.neurons, where, chosen.port), indent=1))
