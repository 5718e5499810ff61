import pytest

from closedform.errors import UnitsError
from closedform.expressions.units import Units, read_amount, read_unit


@pytest.mark.parametrize(
    ("text", "bases", "size"),
    [
        ("kg*m**2/s^2", {"kg": 1, "m": 2, "s": -2}, 1.0),
        ("kg m s**-2", {"kg": 1, "m": 1, "s": -2}, 1.0),
        ("V/m", {"A": -1, "kg": 1, "m": 1, "s": -3}, 1.0),
        ("km/h", {"m": 1, "s": -1}, 1 / 3.6),
        ("m**(1/2)", {"m": 0.5}, 1.0),
        ("rad/s", {"s": -1}, 1.0),
        ("", {}, 1.0),
        ("1", {}, 1.0),
    ],
)
def test_text_of_si_units_needs_no_package(text, bases, size) -> None:
    unit = read_unit(text)
    assert unit.bases == bases
    assert unit.size == pytest.approx(size)


def test_other_text_and_objects_are_read_by_pint() -> None:
    pint = pytest.importorskip("pint")
    assert read_unit("mile/hour").size == pytest.approx(0.44704)
    registry = pint.get_application_registry()
    for given in (registry.newton, registry.Quantity(3.0, "newton")):
        assert read_unit(given).bases == read_unit("N").bases
    with pytest.raises(UnitsError, match="does not start at zero"):
        read_unit("degC")
    with pytest.raises(UnitsError, match="'furlongs_per_blink' cannot be read"):
        read_unit("furlongs_per_blink")


def test_astropy_is_recognised_by_its_methods() -> None:
    class Base:
        def to_string(self) -> str:
            return "m"

    class Kilometre:
        bases, powers, scale = (Base(),), (1,), 1000.0

        @property
        def si(self):
            return self

        def decompose(self):
            return self

        def to_string(self) -> str:
            return "km"

    unit = read_unit(Kilometre())
    assert (unit.text, unit.bases, unit.size) == ("km", {"m": 1.0}, 1000.0)


def test_what_is_not_a_unit_is_told() -> None:
    with pytest.raises(UnitsError, match=r"A unit is 3.*pass text such as"):
        read_unit(3)
    with pytest.raises(UnitsError, match=r"a space and its unit"):
        read_amount("fast")
    with pytest.raises(UnitsError, match="pass a dictionary"):
        Units("kg")  # type: ignore[arg-type]


def test_a_unit_of_no_input_gets_a_suggestion() -> None:
    with pytest.raises(UnitsError, match="did you mean 'mass'"):
        Units({"mas": "kg"}).check_inputs(["mass", "v"])
