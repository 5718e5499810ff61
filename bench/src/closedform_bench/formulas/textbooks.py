"""Sixty formulas of textbooks, with usual ranges and units.

`closedform_bench.formulas.surrogates` hands out one half at a time: whoever
works on the search does not read this file.
"""

from dataclasses import dataclass
from typing import Literal

Trait = Literal["", "exponential", "shifted", "power"]


@dataclass(frozen=True, slots=True)
class Surrogate:
    """A formula of a textbook.

    Attributes
    ----------
    field : str
        Such as chemistry.
    truth : str
    inputs : dict of str to (float, float, str)
        Usual range and unit. Numbers in the formula that carry units are those of the textbook.
    source : str
    trait : {'', 'exponential', 'shifted', 'power'}
        What makes it more than a tree of plain products: an exponential in a quotient, a shifted
        denominator, or a fitted power.
    """

    field: str
    truth: str
    inputs: dict[str, tuple[float, float, str]]
    source: str
    trait: Trait = ""


ATKINS = "Atkins, de Paula: Physical Chemistry"
INCROPERA = "Incropera, DeWitt: Fundamentals of Heat and Mass Transfer"
WHITE = "White: Fluid Mechanics"
SEDRA = "Sedra, Smith: Microelectronic Circuits"
HULL = "Hull: Options, Futures, and Other Derivatives"
BREALEY = "Brealey, Myers, Allen: Principles of Corporate Finance"
HECHT = "Hecht: Optics"
TURCOTTE = "Turcotte, Schubert: Geodynamics"
TELFORD = "Telford, Geldart, Sheriff: Applied Geophysics"
CHOW = "Chow, Maidment, Mays: Applied Hydrology"
LEHNINGER = "Nelson, Cox: Lehninger Principles of Biochemistry"

# fmt: off
SURROGATES: dict[str, Surrogate] = {
    # Chemistry
    "arrhenius": Surrogate(
        "chemistry", "A*exp(-Ea/(8.314462618*T))",
        {"A": (1e10, 1e11, "1/s"), "Ea": (40e3, 60e3, "J/mol"), "T": (280, 400, "K")},
        f"{ATKINS}, the Arrhenius equation", "exponential"),
    "eyring": Surrogate(
        "chemistry", "2.083661912e10*T*exp(S/8.314462618 - H/(8.314462618*T))",
        {"T": (300, 360, "K"), "S": (-20, 20, "J/(mol*K)"), "H": (55e3, 65e3, "J/mol")},
        f"{ATKINS}, transition-state theory, the Eyring equation", "exponential"),
    "antoine": Surrogate(
        "chemistry", "10**(A - B/(C + T))",
        {"A": (6.8, 8.2, "1"), "B": (1100, 1800, "K"), "C": (200, 240, "K"),
         "T": (20, 100, "degC")},
        "Poling, Prausnitz, O'Connell: The Properties of Gases and Liquids, vapor pressures",
        "shifted"),
    "nernst": Surrogate(
        "chemistry", "E0 + 8.314462618*T/(2*96485.33212)*log(ox/red)",
        {"E0": (-0.05, 0.05, "V"), "T": (280, 360, "K"), "ox": (0.01, 1, "mol/L"),
         "red": (0.01, 1, "mol/L")},
        f"{ATKINS}, electrochemical cells, the Nernst equation"),
    "butler-volmer": Surrogate(
        "chemistry",
        "j0*(exp(a*11604.51812*eta/T) - exp(-(1 - a)*11604.51812*eta/T))",
        {"j0": (0.1, 1, "mA/cm**2"), "a": (0.3, 0.7, "1"), "eta": (0.005, 0.08, "V"),
         "T": (280, 360, "K")},
        "Bard, Faulkner: Electrochemical Methods, the Butler-Volmer equation", "exponential"),
    "van-der-waals": Surrogate(
        "chemistry", "0.08314462618*T/(V - b) - a/V**2",
        {"T": (250, 500, "K"), "V": (0.2, 1, "L/mol"), "a": (1, 8, "bar*L**2/mol**2"),
         "b": (0.03, 0.12, "L/mol")},
        f"{ATKINS}, the van der Waals equation", "shifted"),
    "redlich-kwong": Surrogate(
        "chemistry", "0.08314462618*T/(V - b) - a/(sqrt(T)*V*(V + b))",
        {"T": (280, 500, "K"), "V": (0.2, 1, "L/mol"), "a": (15, 150, "bar*L**2*K**0.5/mol**2"),
         "b": (0.02, 0.08, "L/mol")},
        "Smith, Van Ness, Abbott: Introduction to Chemical Engineering Thermodynamics, cubic "
        "equations of state", "shifted"),
    "langmuir-two-gases": Surrogate(
        "chemistry", "Ka*pa/(1 + Ka*pa + Kb*pb)",
        {"Ka": (0.5, 5, "1/bar"), "pa": (0.1, 2, "bar"), "Kb": (0.5, 5, "1/bar"),
         "pb": (0.1, 2, "bar")},
        f"{ATKINS}, adsorption, the Langmuir isotherm", "shifted"),
    "debye-hueckel": Surrogate(
        "chemistry", "-0.51*z**2*sqrt(mu)/(1 + size*sqrt(mu)/305)",
        {"z": (1, 3, "1"), "mu": (0.001, 0.1, "mol/L"), "size": (250, 900, "pm")},
        "Harris: Quantitative Chemical Analysis, activity coefficients, the extended Debye-Huckel "
        "equation", "shifted"),
    # Heat
    "mean-temperature-difference": Surrogate(
        "heat", "U*A*(d1 - d2)/log(d1/d2)",
        {"U": (100, 1000, "W/(m**2*K)"), "A": (1, 10, "m**2"), "d1": (35, 80, "K"),
         "d2": (5, 30, "K")},
        f"{INCROPERA}, heat exchangers, log mean temperature difference"),
    "counterflow-effectiveness": Surrogate(
        "heat", "(1 - exp(-N*(1 - C)))/(1 - C*exp(-N*(1 - C)))",
        {"N": (0.3, 4, "1"), "C": (0.1, 0.9, "1")},
        f"{INCROPERA}, heat exchangers, the effectiveness-NTU method", "exponential"),
    "parallel-flow-duty": Surrogate(
        "heat", "Cmin*dT*(1 - exp(-N*(1 + C)))/(1 + C)",
        {"Cmin": (500, 4000, "W/K"), "dT": (20, 100, "K"), "N": (0.2, 2.5, "1"),
         "C": (0.1, 1, "1")},
        f"{INCROPERA}, heat exchangers, the effectiveness-NTU method", "exponential"),
    "churchill-chu": Surrogate(
        "heat", "(0.825 + 0.387*Ra**(1/6)/(1 + (0.492/Pr)**(9/16))**(8/27))**2*k/L",
        {"Ra": (1e5, 1e9, "1"), "Pr": (0.7, 10, "1"), "k": (0.02, 0.7, "W/(m*K)"),
         "L": (0.1, 1, "m")},
        f"{INCROPERA}, free convection, the vertical plate", "power"),
    "pin-fin": Surrogate(
        "heat", "pi/2*sqrt(h*k*D**3)*theta*tanh(2*L*sqrt(h/(k*D)))",
        {"h": (20, 200, "W/(m**2*K)"), "k": (15, 200, "W/(m*K)"), "D": (0.003, 0.01, "m"),
         "theta": (20, 100, "K"), "L": (0.03, 0.15, "m")},
        f"{INCROPERA}, heat transfer from extended surfaces, adiabatic tip"),
    "gray-plates": Surrogate(
        "heat", "5.670374419e-8*(T1**4 - T2**4)/(1/e1 + 1/e2 - 1)",
        {"T1": (600, 1000, "K"), "T2": (300, 550, "K"), "e1": (0.2, 0.9, "1"),
         "e2": (0.2, 0.9, "1")},
        f"{INCROPERA}, radiation exchange between surfaces, large parallel planes", "shifted"),
    "insulated-pipe": Surrogate(
        "heat", "2*pi*dT/(log(r2/r1)/k + 1/(h*r2))",
        {"dT": (20, 200, "K"), "r1": (0.01, 0.03, "m"), "r2": (0.035, 0.1, "m"),
         "k": (0.03, 0.2, "W/(m*K)"), "h": (5, 25, "W/(m**2*K)")},
        f"{INCROPERA}, one-dimensional steady conduction, the cylinder", "shifted"),
    # Fluids
    "haaland": Surrogate(
        "fluids", "v**2/(2*9.80665*D*(1.8*log(6.9/Re + (e/3.7)**1.11)/log(10))**2)",
        {"v": (0.5, 4, "m/s"), "D": (0.05, 0.5, "m"), "Re": (5e3, 1e5, "1"),
         "e": (1e-4, 0.02, "1")},
        f"{WHITE}, viscous flow in ducts, Haaland's friction factor", "power"),
    "manning-rectangular": Surrogate(
        "fluids", "sqrt(S)/n*(b*y)**(5/3)/(b + 2*y)**(2/3)",
        {"S": (1e-4, 0.01, "1"), "n": (0.012, 0.04, "s/m**(1/3)"), "b": (1, 6, "m"),
         "y": (0.3, 3, "m")},
        "Chow: Open-Channel Hydraulics, the Manning formula", "power"),
    "sutherland": Surrogate(
        "fluids", "mu0*(T/273.15)**1.5*(273.15 + S)/(T + S)",
        {"mu0": (8, 20, "uPa*s"), "T": (250, 1000, "K"), "S": (80, 400, "K")},
        "White: Viscous Fluid Flow, the coefficient of viscosity, Sutherland's law", "shifted"),
    "sphere-drag": Surrogate(
        "fluids", "3*pi*mu*d*v*(1 + 0.15*(rho*v*d/mu)**0.687)",
        {"mu": (0.001, 0.01, "Pa*s"), "d": (0.0005, 0.003, "m"), "v": (0.01, 0.3, "m/s"),
         "rho": (800, 1200, "kg/m**3")},
        "Clift, Grace, Weber: Bubbles, Drops, and Particles, rigid spheres, Schiller and Naumann",
        "power"),
    "ergun": Surrogate(
        "fluids", "150*mu*v*(1 - e)**2/(e**3*d**2) + 1.75*rho*v**2*(1 - e)/(e**3*d)",
        {"mu": (1e-5, 5e-5, "Pa*s"), "v": (0.1, 1, "m/s"), "e": (0.35, 0.5, "1"),
         "d": (0.001, 0.005, "m"), "rho": (0.8, 6, "kg/m**3")},
        "Bird, Stewart, Lightfoot: Transport Phenomena, packed columns, the Ergun equation"),
    "stagnation-pressure": Surrogate(
        "fluids", "p*(1 + (g - 1)/2*M**2)**(g/(g - 1))",
        {"p": (0.2, 1, "bar"), "g": (1.1, 1.67, "1"), "M": (0.3, 2, "1")},
        f"{WHITE}, compressible flow, adiabatic and isentropic steady flow", "power"),
    "orifice": Surrogate(
        "fluids", "Cd*pi/4*d**2*sqrt(2*dp/(rho*(1 - (d/D)**4)))",
        {"Cd": (0.58, 0.98, "1"), "d": (0.03, 0.08, "m"), "dp": (1e3, 5e4, "Pa"),
         "rho": (700, 1200, "kg/m**3"), "D": (0.09, 0.15, "m")},
        f"{WHITE}, fluid meters, Bernoulli obstruction theory", "shifted"),
    "water-waves": Surrogate(
        "fluids", "sqrt(9.80665*L/(2*pi)*tanh(2*pi*h/L))",
        {"L": (5, 100, "m"), "h": (1, 20, "m")},
        "Dean, Dalrymple: Water Wave Mechanics for Engineers and Scientists, dispersion"),
    # Electronics
    "diode": Surrogate(
        "electronics", "Is*(exp(V/(n*8.617333262e-5*T)) - 1)",
        {"Is": (1, 10, "nA"), "V": (0.02, 0.15, "V"), "n": (1, 2, "1"), "T": (280, 360, "K")},
        f"{SEDRA}, the diode equation", "exponential"),
    "solar-cell-power": Surrogate(
        "electronics", "V*(IL - I0*(exp(V/(8.617333262e-5*T)) - 1))",
        {"V": (0.25, 0.45, "V"), "IL": (20, 40, "mA"), "I0": (1e-7, 1e-6, "mA"),
         "T": (290, 350, "K")},
        "Green: Solar Cells, the ideal current-voltage characteristic", "exponential"),
    "steinhart-hart": Surrogate(
        "electronics", "1/(A + B*log(R) + C*log(R)**3)",
        {"A": (0.8e-3, 1.4e-3, "1/K"), "B": (2e-4, 3e-4, "1/K"), "C": (0.5e-7, 5e-7, "1/K"),
         "R": (1e3, 5e4, "ohm")},
        "Fraden: Handbook of Modern Sensors, thermistors, the Steinhart-Hart model", "shifted"),
    "thermistor": Surrogate(
        "electronics", "R0*exp(B*(1/T - 1/298.15))",
        {"R0": (1, 20, "kohm"), "B": (3000, 4500, "K"), "T": (270, 380, "K")},
        "Fraden: Handbook of Modern Sensors, thermistors, the simple model", "exponential"),
    "mosfet": Surrogate(
        "electronics", "k/2*(Vgs - Vt)**2*(1 + lam*Vds)",
        {"k": (0.1, 1, "mA/V**2"), "Vgs": (1.2, 3, "V"), "Vt": (0.4, 0.9, "V"),
         "lam": (0.02, 0.2, "1/V"), "Vds": (2, 5, "V")},
        f"{SEDRA}, MOS field-effect transistors, channel-length modulation"),
    "series-resonance": Surrogate(
        "electronics", "sqrt(R**2 + (w*L - 1/(w*C))**2)",
        {"R": (10, 100, "ohm"), "w": (1000, 5000, "rad/s"), "L": (0.01, 0.1, "H"),
         "C": (1e-6, 1e-5, "F")},
        "Nilsson, Riedel: Electric Circuits, sinusoidal steady-state analysis"),
    "wheatstone": Surrogate(
        "electronics", "V*(R2/(R1 + R2) - R4/(R3 + R4))",
        {"V": (1, 10, "V"), "R1": (100, 1000, "ohm"), "R2": (100, 1000, "ohm"),
         "R3": (100, 1000, "ohm"), "R4": (100, 1000, "ohm")},
        "Horowitz, Hill: The Art of Electronics, voltage dividers and bridges", "shifted"),
    "microstrip": Surrogate(
        "electronics", "(er + 1)/2 + (er - 1)/(2*sqrt(1 + 12*d/W))",
        {"er": (2, 10, "1"), "d": (0.2, 1.6, "mm"), "W": (0.3, 3, "mm")},
        "Pozar: Microwave Engineering, microstrip line, effective dielectric constant", "shifted"),
    # Biology
    "competitive-inhibition": Surrogate(
        "biology", "V*S/(K*(1 + I/Ki) + S)",
        {"V": (1, 10, "umol/min"), "S": (0.1, 5, "mmol/L"), "K": (0.2, 2, "mmol/L"),
         "I": (0.1, 5, "mmol/L"), "Ki": (0.2, 2, "mmol/L")},
        f"{LEHNINGER}, enzymes, reversible inhibition", "shifted"),
    "hill": Surrogate(
        "biology", "V*(S/K)**n/(1 + (S/K)**n)",
        {"V": (1, 10, "umol/min"), "S": (0.5, 10, "kPa"), "n": (1, 4, "1"), "K": (1, 5, "kPa")},
        f"{LEHNINGER}, protein function, the Hill equation", "power"),
    "substrate-inhibition": Surrogate(
        "biology", "V*S/(K + S + S**2/Ki)",
        {"V": (0.1, 1, "1/h"), "S": (0.1, 20, "g/L"), "K": (0.1, 2, "g/L"), "Ki": (2, 20, "g/L")},
        "Shuler, Kargi: Bioprocess Engineering, inhibited enzyme kinetics", "shifted"),
    "goldman": Surrogate(
        "biology", "26.7*log((Ko + p*Nao)/(Ki + p*Nai))",
        {"Ko": (3, 10, "mmol/L"), "p": (0.02, 0.2, "1"), "Nao": (100, 160, "mmol/L"),
         "Ki": (100, 160, "mmol/L"), "Nai": (5, 50, "mmol/L")},
        "Hille: Ion Channels of Excitable Membranes, the Goldman-Hodgkin-Katz voltage equation",
        "shifted"),
    "logistic-growth": Surrogate(
        "biology", "K/(1 + (K/N0 - 1)*exp(-r*t))",
        {"K": (500, 1500, "1"), "N0": (10, 200, "1"), "r": (0.2, 1, "1/h"), "t": (1, 8, "h")},
        "Murray: Mathematical Biology, continuous population models for single species",
        "exponential"),
    "oral-dose": Surrogate(
        "biology", "D*ka/(V*(ka - ke))*(exp(-ke*t) - exp(-ka*t))",
        {"D": (50, 500, "mg"), "V": (10, 60, "L"), "ka": (0.8, 3, "1/h"), "ke": (0.05, 0.4, "1/h"),
         "t": (0.3, 8, "h")},
        "Rowland, Tozer: Clinical Pharmacokinetics, extravascular dose", "exponential"),
    "holling": Surrogate(
        "biology", "a*N/(1 + a*h*N)",
        {"a": (0.1, 2, "m**2/h"), "N": (1, 50, "1/m**2"), "h": (0.05, 0.5, "h")},
        "Begon, Townsend, Harper: Ecology, the type 2 functional response", "shifted"),
    # Finance
    "black-scholes-d1": Surrogate(
        "finance", "(log(S/K) + (r + s**2/2)*T)/(s*sqrt(T))",
        {"S": (80, 120, "USD"), "K": (80, 120, "USD"), "r": (0.01, 0.1, "1/year"),
         "s": (0.1, 0.5, "1/year**0.5"), "T": (0.2, 2, "year")},
        f"{HULL}, the Black-Scholes-Merton model"),
    "black-76-call": Surrogate(
        "finance",
        "(F*(1 + erf((log(F/K)/(s*sqrt(T)) + s*sqrt(T)/2)/sqrt(2)))"
        " - K*(1 + erf((log(F/K)/(s*sqrt(T)) - s*sqrt(T)/2)/sqrt(2))))/2",
        {"F": (80, 120, "USD"), "K": (80, 120, "USD"), "s": (0.1, 0.5, "1/year**0.5"),
         "T": (0.2, 2, "year")},
        f"{HULL}, options on futures, Black's model without discounting"),
    "loan-payment": Surrogate(
        "finance", "P*r/(1 - (1 + r)**(-n))",
        {"P": (1e4, 1e5, "USD"), "r": (0.02, 0.15, "1"), "n": (3, 30, "1")},
        f"{BREALEY}, how to calculate present values, annuities", "power"),
    "bond-price": Surrogate(
        "finance", "c*(1 - (1 + y)**(-n))/y + F*(1 + y)**(-n)",
        {"c": (10, 80, "USD"), "y": (0.01, 0.12, "1"), "n": (2, 20, "1"), "F": (500, 1500, "USD")},
        f"{BREALEY}, valuing bonds", "power"),
    "growing-annuity": Surrogate(
        "finance", "C/(r - g)*(1 - ((1 + g)/(1 + r))**n)",
        {"C": (10, 100, "USD"), "r": (0.06, 0.15, "1"), "g": (0, 0.04, "1"), "n": (3, 30, "1")},
        f"{BREALEY}, how to calculate present values, growing annuities", "shifted"),
    "capital-cost": Surrogate(
        "finance", "(Q*re + D*rd*(1 - tax))/(Q + D)",
        {"Q": (20, 100, "USD"), "re": (0.08, 0.2, "1"), "D": (10, 80, "USD"),
         "rd": (0.03, 0.1, "1"), "tax": (0.1, 0.4, "1")},
        f"{BREALEY}, financing and valuation, the weighted-average cost of capital", "shifted"),
    "two-asset-risk": Surrogate(
        "finance", "sqrt(w**2*s1**2 + (1 - w)**2*s2**2 + 2*w*(1 - w)*rho*s1*s2)",
        {"w": (0.1, 0.9, "1"), "s1": (0.1, 0.4, "1"), "s2": (0.1, 0.4, "1"),
         "rho": (-0.5, 0.8, "1")},
        "Bodie, Kane, Marcus: Investments, portfolios of two risky assets"),
    # Optics
    "sellmeier": Surrogate(
        "optics", "sqrt(1 + B1*l**2/(l**2 - C1) + B2*l**2/(l**2 - C2))",
        {"l": (0.3, 1, "um"), "B1": (0.6, 1.2, "1"), "C1": (0.004, 0.012, "um**2"),
         "B2": (0.2, 0.5, "1"), "C2": (0.015, 0.06, "um**2")},
        "Saleh, Teich: Fundamentals of Photonics, the Sellmeier equation", "shifted"),
    "planck": Surrogate(
        "optics", "e*1.191042972e8/(l**5*(exp(14387.76877/(l*T)) - 1))",
        {"e": (0.3, 1, "1"), "l": (2, 12, "um"), "T": (500, 1500, "K")},
        f"{INCROPERA}, blackbody radiation, the Planck distribution", "exponential"),
    "thick-lens": Surrogate(
        "optics", "(n - 1)*(1/R1 - 1/R2 + (n - 1)*d/(n*R1*R2))",
        {"n": (1.4, 1.9, "1"), "R1": (0.05, 0.2, "m"), "R2": (-0.2, -0.05, "m"),
         "d": (0.005, 0.04, "m")},
        f"{HECHT}, thick lenses and lens systems"),
    "metal-reflectance": Surrogate(
        "optics", "((n - 1)**2 + k**2)/((n + 1)**2 + k**2)",
        {"n": (0.2, 3, "1"), "k": (1, 5, "1")},
        f"{HECHT}, optical properties of metals", "shifted"),
    "gaussian-beam": Surrogate(
        "optics",
        "2*P/(pi*(w**2 + (l*z/(pi*w))**2))*exp(-2*r**2/(w**2 + (l*z/(pi*w))**2))",
        {"P": (1, 10, "mW"), "w": (0.1, 0.5, "mm"), "l": (4e-4, 1.2e-3, "mm"),
         "z": (100, 1000, "mm"), "r": (0, 0.6, "mm")},
        "Saleh, Teich: Fundamentals of Photonics, the Gaussian beam, intensity", "exponential"),
    "two-lenses": Surrogate(
        "optics", "f1*f2/(f1 + f2 - d)",
        {"f1": (50, 200, "mm"), "f2": (50, 200, "mm"), "d": (5, 60, "mm")},
        f"{HECHT}, thin-lens combinations", "shifted"),
    # Geophysics
    "archie": Surrogate(
        "geophysics", "sqrt(Rw/(phi**m*Rt))",
        {"Rw": (0.02, 0.2, "ohm*m"), "phi": (0.1, 0.35, "1"), "m": (1.6, 2.4, "1"),
         "Rt": (5, 50, "ohm*m")},
        "Schon: Physical Properties of Rocks, electrical properties, Archie's equation", "power"),
    "psychrometer": Surrogate(
        "geophysics",
        "6.112*exp(17.62*tw/(243.12 + tw)) - 0.000653*(1 + 0.000944*tw)*p*(t - tw)",
        {"tw": (5, 20, "degC"), "p": (700, 1050, "hPa"), "t": (21, 35, "degC")},
        "WMO-No. 8: Guide to Instruments and Methods of Observation, measurement of humidity, "
        "the Magnus and psychrometer formulae", "exponential"),
    "reference-evapotranspiration": Surrogate(
        "geophysics",
        "(0.408*slope*Rn + 0.066*900/(T + 273)*u*vpd)/(slope + 0.066*(1 + 0.34*u))",
        {"slope": (0.08, 0.3, "kPa/K"), "Rn": (5, 20, "MJ/(m**2*day)"), "T": (10, 35, "degC"),
         "u": (0.5, 5, "m/s"), "vpd": (0.3, 3, "kPa")},
        "Allen, Pereira, Raes, Smith: FAO Irrigation and Drainage Paper 56, equation 6", "shifted"),
    "buried-sphere": Surrogate(
        "geophysics", "0.02796*rho*R**3*z/(x**2 + z**2)**1.5",
        {"rho": (0.2, 1, "g/cm**3"), "R": (20, 100, "m"), "z": (120, 400, "m"), "x": (0, 400, "m")},
        f"{TELFORD}, gravity methods, the sphere", "power"),
    "half-space-cooling": Surrogate(
        "geophysics", "Ts + (Tm - Ts)*erf(z/(2*sqrt(31.56*t)))",
        {"Ts": (0, 100, "degC"), "Tm": (1200, 1400, "degC"), "z": (5, 100, "km"),
         "t": (10, 100, "Myear")},
        f"{TURCOTTE}, the cooling of the oceanic lithosphere"),
    "standard-atmosphere": Surrogate(
        "geophysics", "p0*(1 - L*h/T0)**(0.0341631947/L)",
        {"p0": (980, 1040, "hPa"), "L": (0.004, 0.009, "K/m"), "h": (500, 8000, "m"),
         "T0": (260, 310, "K")},
        "U.S. Standard Atmosphere 1976, pressure in layers with a temperature gradient", "power"),
    "runoff": Surrogate(
        "geophysics", "(P - 0.2*S)**2/(P + 0.8*S)",
        {"P": (40, 200, "mm"), "S": (10, 180, "mm")},
        f"{CHOW}, the SCS method for abstractions", "shifted"),
    "van-genuchten": Surrogate(
        "geophysics", "tr + (ts - tr)/(1 + (a*h)**n)**(1 - 1/n)",
        {"tr": (0.02, 0.1, "1"), "ts": (0.35, 0.5, "1"), "a": (0.5, 10, "1/m"), "h": (0.1, 5, "m"),
         "n": (1.3, 3, "1")},
        "Jury, Horton: Soil Physics, water retention, van Genuchten's model", "power"),
}
# fmt: on
