"""Units of the inputs of the Feynman equations, by symbol, with those that differ by equation.

They are facts of the published table (Udrescu and Tegmark 2020, units.csv), written in SI units.
One differs: the table has the inverse unit for the drift velocity's constant of I.43.16, with which
the left side would not be a velocity. A test makes sure that every truth is possible.
"""

SYMBOLS: dict[str, str] = {
    "A": "m**2", "B": "T", "Bx": "T", "By": "T", "Bz": "T", "C": "F", "Ef": "V/m", "En": "J",
    "F": "N", "G": "m**3/(kg*s**2)", "H": "T", "I0": "W/m**2", "I1": "W/m**2", "I2": "W/m**2",
    "Jz": "J*s", "M": "A/m", "Nn": "N", "Pwr": "W", "T": "K", "T1": "K", "T2": "K", "U": "J",
    "V": "m**3", "V1": "m**3", "V2": "m**3", "Volt": "V", "Y": "Pa", "a": "m/s**2", "alpha": "1",
    "beta": "1", "c": "m/s", "chi": "1", "cur": "A", "d": "m", "d1": "m", "d2": "m", "delta": "1",
    "ep": "F/m", "g": "m/s**2", "gamma": "1", "h": "J*s", "k": "1/m", "kappa": "W/(m*K)",
    "kb": "J/K", "lambd": "m", "m": "kg", "m0": "kg", "m1": "kg", "m2": "kg", "mob": "s/kg",
    "mom": "A*m**2", "mu": "1", "n": "1", "n0": "1", "nr": "1/m**3", "omega": "rad/s",
    "omega0": "rad/s", "p": "kg*m/s", "pd": "C*m", "pr": "Pa", "q": "C", "q1": "C", "q2": "C",
    "r": "m", "r1": "m", "r2": "m", "rho": "kg/m**3", "sd": "C/m**2", "sigma": "1", "t": "s",
    "theta": "rad", "theta1": "rad", "theta2": "rad", "u": "m/s", "v": "m/s", "w": "m/s", "x": "m",
    "x1": "m", "x2": "m", "x3": "m", "y": "m", "y1": "m", "y2": "m", "y3": "m", "z": "m",
    "z1": "m", "z2": "m",
}  # fmt: skip
"""What a symbol means unless an equation says otherwise."""

OTHERS: dict[str, dict[str, str]] = {
    "I.14.4": {"k": "N/m"},
    "I.43.16": {"mu": "s/kg"},
    "II.13.23": {"rho": "C/m**3"},
    "II.13.34": {"rho": "C/m**3"},
    "II.34.11": {"g": "1"},
    "II.34.29b": {"g": "1"},
    "III.14.14": {"I0": "A"},
    "III.21.20": {"rho": "C/m**3", "A": "V*s/m"},
}
"""Symbols that mean something else in one equation."""


def units_of(name: str, symbols: list[str]) -> dict[str, str]:
    """The units of an equation's inputs.

    Examples
    --------
    >>> units_of("I.14.4", ["k", "x"])
    {'k': 'N/m', 'x': 'm'}
    """
    return {symbol: OTHERS.get(name, {}).get(symbol, SYMBOLS[symbol]) for symbol in symbols}
