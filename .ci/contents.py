"""Check that archives hold every file that belongs inside and no other.

``python .ci/contents.py DIST`` compares the wheels and source archives in a folder with what git
knows of this checkout.
"""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]

ELSEWHERE = ("bench/", ".github/")
"""What the source archive of closedform leaves out: the other distribution, and GitHub's settings;
`.gitignore` and `PKG-INFO` come with the build.
"""

OF_THE_WHEEL = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}


def known_files(folder: Path) -> set[str]:
    """Files below a folder that git has or would take; relative to the folder."""
    call = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(call, cwd=folder, capture_output=True, text=True, check=True).stdout
    return {name for name in listed.split("\0") if name and (folder / name).is_file()}


def expected_in_wheel(folder: Path, wheel: Path) -> set[str]:
    """The package, and the lines that every wheel has."""
    name, version = wheel.name.split("-")[:2]
    package = {file.removeprefix("src/") for file in known_files(folder) if file.startswith("src/")}
    return package | {f"{name}-{version}.dist-info/{file}" for file in OF_THE_WHEEL}


def expected_in_source(folder: Path) -> set[str]:
    """All that git knows, but for what is elsewhere."""
    known = {file for file in known_files(folder) if not file.startswith(ELSEWHERE)}
    return known | {".gitignore", "PKG-INFO"}


def in_wheel(wheel: Path) -> dict[str, bytes]:
    """Names and contents."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def in_source(source: Path) -> dict[str, bytes]:
    """Names, without the folder that holds everything, and contents."""
    with tarfile.open(source) as archive:
        members = [member for member in archive if not member.isdir()]
        assert all(member.isfile() for member in members), f"{source.name} has links"
        read = {m.name: archive.extractfile(m) for m in members}
        return {
            str(PurePosixPath(*PurePosixPath(name).parts[1:])): file.read()
            for name, file in read.items()
            if file is not None
        }


def problems(archive: Path, held: dict[str, bytes], expected: set[str]) -> list[str]:
    """What is wrong, a line for each."""
    found = [f"{archive.name} lacks {name}" for name in sorted(expected - set(held))]
    found += [f"{archive.name} should not hold {name}" for name in sorted(set(held) - expected)]
    licence = (ROOT / "LICENSE").read_bytes()
    texts = [content for name, content in held.items() if name.rpartition("/")[2] == "LICENSE"]
    if texts != [licence]:
        found.append(f"{archive.name} does not hold the licence once")
    return found


def main() -> None:
    """Exit code 1 if anything is wrong."""
    found: list[str] = []
    archives = sorted(Path(sys.argv[1]).glob("*"))
    for archive in archives:
        folder = ROOT / "bench" if archive.name.startswith("closedform_bench-") else ROOT
        if archive.suffix == ".whl":
            found += problems(archive, in_wheel(archive), expected_in_wheel(folder, archive))
        elif archive.name.endswith(".tar.gz"):
            found += problems(archive, in_source(archive), expected_in_source(folder))
    print("\n".join(found) or f"{len(archives)} archives hold what belongs inside, no more.")
    raise SystemExit(1 if found or not archives else 0)


if __name__ == "__main__":
    main()
