"""Odd and damaged arrays: refused with a sentence, or read right, whatever the source of the
field.
"""

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import closedform as cf
from closedform.errors import ClosedformError, DamagedFileError, FieldError, ShapeError
from closedform.field.gradient_field import GradientField

N_POINTS = 240
NAMES = ["x", "v", "w"]
TRUTH = "v**2 + x**2"


def points_of(seed=0):
    return np.random.default_rng(seed).uniform(0.5, 1.5, (N_POINTS, 3))


def arguments() -> dict[str, Any]:
    points = points_of()
    gradients = 2 * points * [1, 1, 0]
    latents = np.exp((points[:, :2] ** 2).sum(axis=1))
    return {
        "points": points,
        "gradients": gradients,
        "latents": latents,
        "weights": np.ones(N_POINTS),
        "names": NAMES,
    }


def put(value, *, where: int | slice = 0) -> Callable[[np.ndarray], np.ndarray]:
    """One row holds a value."""

    def change(array):
        changed = np.array(array)
        changed[where] = value
        return changed

    return change


def masked(array, rows=slice(0, 3)):
    mask = np.zeros(array.shape, dtype=bool)
    mask[rows] = True
    return np.ma.array(array, mask=mask)


def as_objects(array):
    return np.array([[Fraction(float(entry)) for entry in row] for row in array], dtype=object)


TYPES: dict[str, Callable[[np.ndarray], Any]] = {
    "complex": lambda array: array + 0j,
    "complex with parts": lambda array: array * (1 + 1j),
    "text": lambda array: array.astype(str),
    "bytes": lambda array: array.astype("S"),
    "dates": lambda array: array.astype(int).astype("datetime64[s]"),
    "spans of time": lambda array: array.astype(int).astype("timedelta64[s]"),
    "records": lambda array: array.astype([("a", "f8")]),
}
VALUES: dict[str, Callable[[np.ndarray], Any]] = {
    "one nan": put(np.nan),
    "all nan": lambda array: np.full(array.shape, np.nan),
    "one infinity": put(np.inf),
    "one negative infinity": put(-np.inf, where=-1),
    "one of 1e155": put(1e155),
    "all of 1e155": lambda array: array * 1e155,
    "one of 1e308": put(-1e308),
}
SHAPES: dict[str, Callable[[np.ndarray], Any]] = {
    "one row less": lambda array: array[:-1],
    "flat": lambda array: array.ravel() if array.ndim > 1 else array[:, None, None],
    "transposed": lambda array: array.T if array.ndim > 1 else array[None],
    "empty": lambda array: array[:0],
    "a number": lambda array: np.float64(1.0),
    "another axis": lambda array: array[..., None, None],
}
REFUSED = TYPES | VALUES | SHAPES

ARGUMENTS: list[tuple[str, str, Callable[[Any], Any]]] = [
    *(("points", name, change) for name, change in REFUSED.items()),
    *(("gradients", name, change) for name, change in (TYPES | SHAPES).items()),
    *(("latents", name, change) for name, change in TYPES.items()),
    *(("weights", name, change) for name, change in REFUSED.items() if name != "records"),
    ("points", "masked", masked),
    ("points", "objects", as_objects),
    ("gradients", "objects", as_objects),
    ("points", "rows of several lengths", lambda array: [[1.0, 2.0, 3.0], [1.0]]),
    ("points", "nothing", lambda array: None),
    ("points", "huge whole numbers", lambda array: [[10**400, 1, 2]] * N_POINTS),
    ("weights", "negative", put(-1e-9)),
    ("weights", "vanishing", put(1e-300)),
    ("latents", "all of 1e155", VALUES["all of 1e155"]),
    ("latents", "too few", lambda array: array[:5]),
    ("names", "the same twice", lambda names: ["x", "x", "w"]),
    ("names", "too few", lambda names: ["x", "v"]),
    ("names", "one text", lambda names: "xvw"),
    ("names", "empty", lambda names: ["x", "", "w"]),
]

READ: list[tuple[str, str, Callable[[Any], Any]]] = [
    ("points", "single precision", lambda array: array.astype(np.float32)),
    ("points", "extended precision", lambda array: array.astype(np.longdouble)),
    ("points", "nothing masked", lambda array: np.ma.array(array)),
    ("points", "another order", np.asfortranarray),
    ("points", "lists", lambda array: array.tolist()),
    ("gradients", "masked", masked),
    ("gradients", "one nan", put(np.nan)),
    ("gradients", "one infinity", put(np.inf)),
    ("gradients", "one zero", put(0.0)),
    ("gradients", "all of 1e155", lambda array: array * 1e155),
    ("gradients", "all of 1e307", lambda array: array * 1e307),
    ("gradients", "all of 1e-200", lambda array: array * 1e-200),
    ("latents", "masked", masked),
    ("latents", "one nan", put(np.nan)),
    ("latents", "one infinity", put(np.inf)),
    ("latents", "all nan", VALUES["all nan"]),
    ("latents", "large", lambda array: array * 1e45),
    ("latents", "all the same", np.ones_like),
    ("weights", "masked", masked),
    ("weights", "mostly zero", put(0.0, where=slice(0, 120))),
    ("weights", "large", lambda array: array * 1e49),
    ("weights", "booleans", lambda array: array > 0),
]

N_TERMS = cf.Budget(evaluations=100)


def ids(case):
    return case if isinstance(case, str) else ""


def reads_right(field):
    """Whatever is said about the field is true of it."""
    found = cf.interpret_field(field, engine="terms", budget=N_TERMS, rng=0)
    if found.verdict.status == "verified":
        assert cf.same_concept(str(found.concept), TRUTH, NAMES, points=points_of(1))
    return found


@pytest.mark.parametrize(("part", "name", "change"), ARGUMENTS, ids=ids)
def test_odd_arguments_are_refused(part, name, change):
    given = arguments()
    # Names are refused by the rule for names.
    kinds = ClosedformError if part == "names" else (FieldError, ShapeError)
    with pytest.raises(kinds, match=r"\w+ .*"):
        GradientField.from_arrays(**{**given, part: change(given[part])})


@pytest.mark.filterwarnings("ignore::closedform.errors.ClosedformWarning")
@pytest.mark.parametrize(
    ("part", "name", "change"),
    [
        *READ[::4],
        *[pytest.param(*each, marks=pytest.mark.slow) for at, each in enumerate(READ) if at % 4],
    ],
    ids=ids,
)
def test_odd_arguments_are_read_right(part, name, change):
    given = arguments()
    field = GradientField.from_arrays(**{**given, part: change(given[part])})
    found = reads_right(field)
    assert found.concept is not None
    assert cf.same_concept(str(found.concept), TRUTH, NAMES, points=points_of(1))


def test_units_near_the_limit_end_in_an_answer():
    given = arguments()
    for unit in (6e49, 4e-50):
        field = GradientField.from_arrays(given["points"] * unit, given["gradients"], names=NAMES)
        found = cf.interpret_field(field, engine="terms", budget=N_TERMS, rng=0)
        assert cf.same_concept(str(found.concept), TRUTH, NAMES, points=points_of(1))


def stored(path):
    """A field of two latents on a sphere, so that every part of the file is there, and what it
    holds.
    """
    points = np.random.default_rng(0).normal(size=(N_POINTS, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    field = GradientField.from_arrays(
        points,
        2 * points * [1, 1, 0],
        latents=(points[:, :2] ** 2).sum(axis=1),
        names=NAMES,
        weights=np.ones(N_POINTS),
        constraints=["x**2 + v**2 + w**2 = 1"],
    )
    field.save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    arrays["tangent_is_defined"] = np.ones(N_POINTS, dtype=bool)
    return field, arrays


def rewrite(path, arrays):
    np.savez(path, **arrays)


def in_header(**changes) -> Callable[[np.ndarray], np.ndarray]:
    """Change entries of the header; a dictionary changes entries of an entry."""

    def change(header):
        content = json.loads(header.tobytes())
        for name, value in changes.items():
            if isinstance(value, dict) and isinstance(content[name], dict):
                content[name].update(value)
            else:
                content[name] = value
        return np.frombuffer(json.dumps(content).encode(), dtype=np.uint8)

    return change


PARTS = ("points", "directions", "frames", "weights", "scale", "tangent_basis")
TAMPERED: list[tuple[str, str, Callable[[Any], Any]]] = [
    *((part, name, change) for part in PARTS for name, change in REFUSED.items()),
    *(("latents", name, change) for name, change in (TYPES | SHAPES).items()),
    *(("tangent_spectrum", name, change) for name, change in TYPES.items()),
    ("points", "objects", lambda array: array.astype(object)),
    ("scale", "negative", lambda array: -array),
    ("scale", "zero", put(0.0)),
    ("scale", "vanishing", lambda array: array * 1e-200),
    ("weights", "negative", put(-1.0)),
    ("directions", "not of length 1", lambda array: 1.1 * array),
    ("directions", "zero", put(0.0)),
    ("frames", "not of length 1", lambda array: 0.9 * array),
    ("frames", "one more direction", lambda array: np.concatenate([array, array], axis=2)),
    ("frames", "none", lambda array: array[:, :, :0]),
    ("directions", "none", lambda array: array[:, :, :0]),
    ("tangent_basis", "not orthonormal", lambda array: array + 0.01),
    ("tangent_basis", "of another rank", lambda array: array[:, :, :1]),
    ("tangent_basis", "of another number of inputs", lambda array: array[:, :2]),
    ("tangent_is_defined", "numbers", lambda array: array.astype(float)),
    ("tangent_is_defined", "too few", lambda array: array[:-1]),
    ("tangent_is_defined", "not where points count", lambda array: ~array),
    ("header", "the same name twice", in_header(names=["x", "x", "w"])),
    ("header", "too few names", in_header(names=["x", "v"])),
    ("header", "numbers as names", in_header(names=[1, 2, 3])),
    ("header", "one text as names", in_header(names="xvw")),
    ("header", "no names", in_header(names=None)),
    ("header", "notes of numbers", in_header(notes=[1])),
    ("header", "a rank of text", in_header(tangent={"rank": "2"})),
    ("header", "a negative rank", in_header(tangent={"rank": -2})),
    ("header", "a rank that is true", in_header(tangent={"rank": True})),
    ("header", "a local rank of text", in_header(tangent={"local_rank": "x"})),
    ("header", "an unknown kind", in_header(tangent={"kind": "flat"})),
    ("header", "no basis for the kind", in_header(tangent={"kind": "none"})),
    ("header", "a kind that is a list", in_header(tangent={"kind": []})),
    ("header", "no tangent", in_header(tangent=None)),
    ("header", "a list for the tangent", in_header(tangent=[1, 2])),
    ("header", "noise of text", in_header(quality={"noise_degrees": "much"})),
    ("header", "noise that is nan", in_header(quality={"noise_degrees": float("nan")})),
    ("header", "infinite noise", in_header(quality={"noise_degrees": float("inf")})),
    ("header", "negative noise", in_header(quality={"noise_resolution_degrees": -1.0})),
    ("header", "quality of other names", in_header(quality={"names": ["a", "b", "c"]})),
    ("header", "quality with a stranger", in_header(quality={"beauty": 1})),
    ("header", "a list for the quality", in_header(quality=[])),
    ("header", "findings that are numbers", in_header(quality={"findings": [1]})),
    (
        "header",
        "findings of no severity",
        in_header(quality={"findings": [{"code": "a", "severity": 1, "message": ""}]}),
    ),
    ("header", "schema 0", in_header(schema=0)),
    ("header", "schema true", in_header(schema=True)),
    ("header", "schema of text", in_header(schema="1")),
    ("header", "no object", lambda header: np.frombuffer(b"[1, 2]", dtype=np.uint8)),
    ("header", "no text", lambda header: np.frombuffer(b"\xff\xfe\x00", dtype=np.uint8)),
    ("header", "numbers", lambda header: np.ones(3)),
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("part", "name", "change"), TAMPERED, ids=ids)
def test_a_tampered_file_is_refused(part, name, change, tmp_path):
    """Loaded fields skipped the checks: nan and negative scales were answered `verified`."""
    path = tmp_path / "field.npz"
    _, arrays = stored(path)
    arrays[part] = change(arrays[part])
    rewrite(path, arrays)
    with pytest.raises(DamagedFileError, match="is damaged or of another kind"):
        cf.load_field(path)


def test_an_untouched_file_is_read(tmp_path):
    path = tmp_path / "field.npz"
    field, arrays = stored(path)
    rewrite(path, arrays)
    again = cf.load_field(path)
    assert np.array_equal(again.points, field.points)
    assert again.tangent.is_defined is not None
    assert again.tangent.is_defined.all()


def test_single_precision_in_a_file_is_read(tmp_path):
    path = tmp_path / "field.npz"
    GradientField.from_arrays(**arguments()).save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    arrays["points"] = arrays["points"].astype(np.float32)
    rewrite(path, arrays)
    assert reads_right(cf.load_field(path)).verdict.status == "verified"


def test_any_damaged_byte_is_refused_or_harmless(tmp_path):
    path = tmp_path / "field.npz"
    field, _ = stored(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(300):
        damaged = bytearray(whole)
        kind = rng.integers(3)
        if kind == 0:
            damaged[rng.integers(len(damaged))] ^= 1 << rng.integers(8)
        elif kind == 1:
            del damaged[rng.integers(len(damaged)) :]
        else:
            start = rng.integers(len(damaged))
            damaged[start : start + 64] = rng.bytes(64)
        path.write_bytes(bytes(damaged))
        try:
            again = cf.load_field(path)
        except DamagedFileError:
            continue
        assert np.array_equal(again.points, field.points)
        assert np.array_equal(again.frames, field.frames)


@pytest.mark.filterwarnings("ignore::closedform.errors.ClosedformWarning")
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 10])
def test_a_handful_of_points_ends_in_an_answer_that_is_not_verified(count):
    points = np.random.default_rng(0).uniform(1, 2, (count, 2))
    field = GradientField.from_arrays(
        points, points, latents=points[:, 0], names=["x", "v"], tangent="none"
    )
    found = cf.interpret_field(field, engine="terms", budget=N_TERMS, rng=0)
    assert found.verdict.status != "verified"
