"""Run pages of the gallery of real networks: ``python docs/real_networks/run.py cosmopower``.

Each page is a Markdown file with a script of the same name. What the script prints is written
between the page's two marks, with the date and the versions.
"""

import contextlib
import io
import re
import runpy
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
PACKAGES = {
    "cosmopower": ("cosmopower-jax", "jax"),
    "crystal": ("chgnet", "torch"),
    "engineering": ("chemicals", "torch"),
    "friction": ("fluids", "torch"),
    "fusion": ("fusion-surrogates", "onnx"),
    "mlgw": ("mlgw", "h5py", "torch"),
    "neuralfoil": ("neuralfoil", "torch"),
    "pinn": ("deepxde", "torch"),
    "soil": ("rosetta-soil", "numpy"),
    "water": ("torchani", "torch"),
    "water_symmetries": ("torchani", "torch"),
}
MARKS = re.compile(r"(<!-- output -->\n).*?(<!-- end -->)", re.DOTALL)


def render(name: str) -> None:
    """Run a page's script, and write its output into the page."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(HERE / f"{name}.py"), run_name="__main__")
    packages = ", ".join(f"{package} {version(package)}" for package in PACKAGES[name])
    day = datetime.now(UTC).date()
    told = f"Run on {day} with closedform {_own_version()}, {packages}:\n\n```text\n"
    page = HERE / f"{name}.md"
    text = page.read_text(encoding="utf-8")
    block = told + printed.getvalue().rstrip() + "\n```\n"
    page.write_text(MARKS.sub(lambda m: m[1] + block + m[2], text), encoding="utf-8")
    print(printed.getvalue())


def _own_version() -> str:
    import closedform

    return closedform.__version__


if __name__ == "__main__":
    for page in sys.argv[1:] or list(PACKAGES):
        render(page)
