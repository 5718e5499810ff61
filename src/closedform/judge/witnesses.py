"""The two witnesses of a formula: directions, in which phi has dropped out, and values, with phi
fitted.

Directions serve the search. But a network's error is rough, and a derivative amplifies what is
rough; its values, once phi is taken out, follow the truth far more closely than its gradients do,
and tell it from its stand-ins.
"""

from dataclasses import dataclass

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.kernel import values_and_gradients
from closedform.expressions.tape import compile_tapes
from closedform.expressions.tree import Tree
from closedform.field.alignment.misalignment import split
from closedform.field.alignment.tolerances import ROUNDING
from closedform.field.gradient_field import GradientField
from closedform.judge.phi import HeldFit, fit_held_phi
from closedform.judge.regions import Pair, independent_pieces

VALUE_FLOOR = 1e-6
"""Share of a latent's variance below which differences do not count: the spline itself leaves about
as much of an exact latent when the formula is written as exp(g)."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What both witnesses say of a formula, point by point."""

    # (n_points, n_inputs): the part of the formula's unit gradient outside the field's directions.
    # Its sign is that of the formula's gradient, which is smooth: the sign of a noisy direction
    # depends on the noise, and neighbours would seem to share it.
    directions: FloatArray
    # (n_points, n_latents): what phi leaves of the latents, in their spreads; no columns without
    # values.
    values: FloatArray
    is_turned: np.ndarray  # (n_points,): where the gradient points against the field
    phi: HeldFit | None = None

    def squares(self) -> tuple[FloatArray, FloatArray | None]:
        """Squared errors at each point: of the direction, and of the values (the mean over
        latents).
        """
        directions = np.where(self.is_turned, 1.0, (self.directions**2).sum(axis=1))
        return directions, (self.values**2).mean(axis=1) if self.values.shape[1] else None


@dataclass(frozen=True, slots=True)
class Witnesses:
    """Points of a field, and what can be said of a formula there."""

    field: GradientField
    # (n_points, n_latents): in their spreads; no columns where the values are not known, or belong
    # to several concepts.
    latents: FloatArray
    # (n_points,): how much each point's value counts: the slope of the network's own latent, the
    # same for all formulas, so that saturated points do not vote. Sums to 1.
    steepness: FloatArray
    weights: FloatArray  # (n_points,): how much each direction counts; sums to 1
    # (n_latents,): of the latents as they were given; the spread among points of the same held
    # values.
    centre: FloatArray
    spread: FloatArray
    # (n_points,): labels of the values of inputs that the field does not show; phi is another for
    # each.
    held: FloatArray

    @classmethod
    def of(cls, field: GradientField, like: "Witnesses | None" = None) -> "Witnesses":
        """The witnesses of all points of a field; latents in the spreads that they have at the
        points of others, if given, so that a phi from there serves here.
        """
        latents = field.points[:, :0]
        if field.has_values and field.latents is not None:
            latents = field.latents
        steepness = field.steepness
        held = np.zeros(field.n_points) if field.held is None else field.held
        if like is None:
            centre = steepness @ latents
            # Of what a formula can explain: phi takes up what differs between held values.
            apart = latents - _means_among(latents, steepness, held)
            spread = np.sqrt(steepness @ apart**2)
        else:
            centre, spread = like.centre, like.spread
        is_known = np.isfinite(latents).all() and bool((spread > 0).all())
        is_known = is_known and latents.shape[1] == len(centre)
        latents = (latents - centre) / spread if is_known else latents[:, :0]
        weights = field.weights / field.weights.sum()
        return cls(field, latents, steepness, weights, centre, spread, held)

    @property
    def has_values(self) -> bool:
        """Whether the second witness is there."""
        return self.latents.shape[1] > 0

    def pieces(self, errors: FloatArray) -> float:
        """As how many independent points errors count, shape (n_points, n_coordinates). Where
        inputs are held, the value that has the fewest decides, as in `means`.
        """
        scaled = self.field.points / self.field.scale
        parts = [np.flatnonzero(self.held == label) for label in np.unique(self.held)]
        found = [independent_pieces(errors, scaled)]
        if len(parts) > 1:
            found += [
                independent_pieces(errors[p], scaled[p]) * len(errors) / len(p) for p in parts
            ]
        return min(found)

    def hear(self, tree: Tree, phi: HeldFit | None = None) -> Heard:
        """What both say of a formula; with a phi that was fitted elsewhere, or one fitted here."""
        values, gradients, _ = values_and_gradients(compile_tapes([tree]), self.field.points)
        return self.heard(values[0], gradients[0], phi)

    def heard(self, values: FloatArray, gradients: FloatArray, phi: HeldFit | None = None) -> Heard:
        """The same from a formula's values and gradients."""
        directions, is_turned = self.direction_errors(values, gradients)
        if not self.has_values:
            return Heard(directions, self.latents, is_turned)
        if phi is not None:
            return Heard(directions, phi.left_of(self.latents, values, self.held), is_turned)
        fit = fit_held_phi(values, self.latents, self.steepness, self.held)
        left = np.ones_like(self.latents) if fit is None else fit.left
        return Heard(directions, left, is_turned, fit)

    def direction_errors(
        self, values: FloatArray, gradients: FloatArray
    ) -> tuple[FloatArray, np.ndarray]:
        """The part of unit gradients outside the field's directions, of length 1 where there is no
        gradient, and where they point against the field.
        """
        with np.errstate(all="ignore"):
            units = self.field.project(gradients)
            lengths = np.linalg.norm(units, axis=1)
            left, along = split(units / lengths[:, None], self.field.frames)
        bad = ~(np.isfinite(left).all(axis=1) & np.isfinite(values) & np.isfinite(lengths))
        left[bad] = np.eye(left.shape[1])[0]
        # In the inputs' coordinates: the bases of a curved surface differ from point to point.
        left = self.field.tangent.ambient(left[:, :, None])[:, :, 0]
        sign = np.where(along[:, 0] < 0, -1.0, 1.0)
        is_turned = np.zeros(len(left), dtype=bool)
        if self.field.is_signed:
            is_turned = sign * np.sign((self.weights * sign)[~bad].sum() or 1.0) < 0
        return left, is_turned

    def means(self, heard: Heard, scales: Pair) -> Pair:
        """Mean logarithms of squared errors, directions and values; 0 without values. Where inputs
        are held, of the value for which they are largest: a concept has to be the same for each,
        and one that is exact for some would make up for any error at the others.

        The scale is what errors typically are: an error far below it counts as the scale, and one
        far above it, of which a network has some, only by its logarithm.
        """
        first, *second = (self._worst(*pair) for pair in self.logs(heard, scales))
        return first, sum(second, 0.0)

    def logs(self, heard: Heard, scales: Pair) -> list[tuple[FloatArray, FloatArray]]:
        """Logarithms of squared errors, and how much each counts: of directions, and of values
        where they are known.
        """
        parts = zip(heard.squares(), scales, (self.weights, self.steepness), strict=True)
        return [
            (np.log(squares + s), weights) for squares, s, weights in parts if squares is not None
        ]

    def errors(self, heard: Heard, scales: Pair) -> list[FloatArray]:
        """Errors in units of what counts at all: of directions, and of values where they are
        known.
        """
        parts = zip((heard.directions, heard.values), heard.squares(), scales, strict=True)
        return [e / np.sqrt(each + s)[:, None] for e, each, s in parts if each is not None]

    def _worst(self, logs: FloatArray, weights: FloatArray) -> float:
        """The largest mean of the points of a label."""
        if self.field.held is None:
            return float(weights @ logs)
        parts = [self.held == label for label in np.unique(self.held)]
        return max(
            float(weights[part] @ logs[part] / weights[part].sum())
            for part in parts
            if weights[part].any()
        )


def _means_among(latents: FloatArray, weights: FloatArray, held: FloatArray) -> FloatArray:
    """The mean of the latents among the points of the same label, at each point."""
    _, places = np.unique(held, return_inverse=True)
    total = np.bincount(places, weights)
    sums = np.zeros((len(total), latents.shape[1]))
    np.add.at(sums, places, weights[:, None] * latents)
    return (sums / np.maximum(total, 1e-300)[:, None])[places]


def typical(heard: Heard) -> Pair:
    """Median squared errors, not below rounding and the spline's own error."""
    directions, values = heard.squares()
    first = max(float(np.median(directions)), ROUNDING)
    return first, VALUE_FLOOR if values is None else max(float(np.median(values)), VALUE_FLOOR)
