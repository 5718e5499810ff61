"""GradientField: points and the directions in which latents change there."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from closedform.arrays import FloatArray, frozen
from closedform.basics.keywords import checked_keywords
from closedform.expressions.expression import Expression
from closedform.expressions.units import Units, UnitsLike, as_units
from closedform.field.arguments import (
    check_field,
    checked_arrays,
    checked_latents,
    checked_names,
    checked_weights,
)
from closedform.field.findings import Quality
from closedform.field.neighborhoods import look_at_signs
from closedform.field.quality import assess
from closedform.field.tangent import StatedConstraint, TangentSpace, choose_tangent
from closedform.field.tangent_space import robust_spread, row_spaces

if TYPE_CHECKING:
    from closedform.field.complements import Velocities


BY_POINT = ("points", "directions", "frames", "weights", "latents", "slopes", "held")
"""What a field holds for each point; the last three may be None."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class GradientField:
    """Points, and at each an orthonormal basis of the directions in which the latents change.

    Make one with `from_arrays` or with `closedform.extract_field`. Arrays are read-only.

    Attributes
    ----------
    points : ndarray, shape (n_points, n_inputs)
        In the user's coordinates.
    directions : ndarray, shape (n_points, n_inputs, rank)
        Orthonormal over inputs, in the user's coordinates, and inside the data's tangent space. For
        one latent the unit gradient.
    frames : ndarray, shape (n_points, tangent.rank, rank)
        The same in scaled tangent coordinates, orthonormal there: what every comparison uses.
    latents : ndarray, shape (n_points, n_latents), or None
        Values of the latents.
    weights : ndarray, shape (n_points,)
        0 where the gradient is zero, not finite or of lower rank; the direction there means
        nothing.
    names : tuple of str
        The inputs.
    scale : ndarray, shape (n_inputs,)
        Robust spread of each input.
    tangent : TangentSpace
        Where the data varies.
    quality : Quality
        What was measured about the field, with its findings. A subset keeps that of the whole
        field.
    notes : tuple of str
        What was decided during extraction, in sentences.
    units : Units or None
        Those of the inputs; every search of the field respects them.
    is_signed : bool
        Whether the sign of a direction counts. It does for the gradient of one latent, which grows
        that way, but not for directions across a flow or of several latents.
    slopes : ndarray, shape (n_points, n_latents), or None
        How steep each latent is, in scaled inputs; kept with the latents' values.
    held : ndarray, shape (n_points,), or None
        Which values the inputs have at each point that the field does not show, as whole numbers:
        phi is another function for each. None where there are no such inputs, or one value.

    Examples
    --------
    >>> points = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    >>> field = GradientField.from_arrays(points, 2 * points, names=["x", "v"])
    >>> field.rank, field.tangent.kind, field.quality.findings
    (1, 'none', ())
    >>> bool(np.allclose(field.directions[0, :, 0], points[0] / np.linalg.norm(points[0])))
    True
    """

    points: FloatArray
    directions: FloatArray
    frames: FloatArray
    latents: FloatArray | None
    weights: FloatArray
    names: tuple[str, ...]
    scale: FloatArray
    tangent: TangentSpace
    quality: Quality
    notes: tuple[str, ...] = ()
    units: Units | None = None
    is_signed: bool = False
    slopes: FloatArray | None = None
    held: FloatArray | None = None

    def __post_init__(self) -> None:
        check_field(self)

    @classmethod
    @checked_keywords
    def from_arrays(
        cls,
        points: ArrayLike,
        gradients: ArrayLike,
        *,
        latents: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        tangent: str | TangentSpace = "auto",
        constraints: Sequence[StatedConstraint] = (),
        weights: ArrayLike | None = None,
        notes: Sequence[str] = (),
        units: UnitsLike | None = None,
        signed: bool = True,
    ) -> "GradientField":
        """Build a field from gradients, however they were computed.

        Time and memory grow in proportion to the number of points. With more than 10,000, noise,
        curvature, redundant inputs and the span of norms are estimated on 10,000 of them, always
        the same; a relation between inputs that fewer than 3 in 10,000 points break may then pass
        for exact. Everything else comes from all points.

        Parameters
        ----------
        points : array_like, shape (n_points, n_inputs)
            Finite numbers, none masked and none beyond 1e50.
        gradients : array_like, shape (n_points, n_inputs) or (n_points, n_latents, n_inputs)
            Gradients of one latent, or Jacobians of several, in the points' coordinates. What is
            not finite, or masked, gets weight 0.
        latents : array_like, shape (n_points,) or (n_points, n_latents), optional
            Values of the latents.
        names : sequence of str, optional
            The inputs; x0, x1 and so on by default.
        tangent : {'auto', 'none', 'linear', 'local', 'constraints'} or TangentSpace
            The data's tangent space; see `closedform.field.tangent.choose_tangent`.
        constraints : sequence of str, Expression or callable
            Functions that are constant on the data, such as ``"A11 + A22"`` or ``"x**2 + y**2 =
            1"``.
        weights : array_like, shape (n_points,), optional
            How much each point counts; 1 by default, and 0 where it is masked.
        notes : sequence of str
            Sentences to keep with the field.
        units : mapping of str to str, or Units, optional
            The unit of each input, ``{"m": "kg", "v": "m/s"}``; see `closedform.Units`.
        signed : bool
            False if the gradients of one latent are known only up to sign. Signs never count for
            several latents.

        Returns
        -------
        GradientField

        Raises
        ------
        ShapeError
            If the shapes do not fit each other.
        FieldError
            If an array holds anything but real numbers, points are not finite, too large or all the
            same, names or weights are unusable, or the tangent space cannot be found.
        UnitsError
            If a unit cannot be read, or belongs to no input.

        Warns
        -----
        ClosedformWarning
            If the data seems to lie on a curved surface, or a stated constraint does not hold.
        """
        array, jacobians = checked_arrays(points, gradients)
        labels = checked_names(names, array.shape[1])
        known_units = as_units(units, labels)
        given = checked_weights(weights, len(array))
        values = checked_latents(latents, len(array), jacobians.shape[2])
        scale = robust_spread(array)
        space = choose_tangent(array, scale, tangent, constraints, labels)
        with np.errstate(all="ignore"):
            coordinates = space.coordinates(jacobians, scale)
            ambient_norms = np.linalg.norm(jacobians * scale[:, None], axis=(1, 2))
            slopes = np.linalg.norm(coordinates, axis=1)
        slopes[~np.isfinite(slopes)] = 0.0
        counted = given > 0 if space.is_defined is None else (given > 0) & space.is_defined
        rows = row_spaces(coordinates, ambient_norms, counted)
        kept = np.where(counted & rows.is_usable, given, 0.0)
        quality = assess(array, labels, scale, space, rows, kept)
        directions = space.directions(rows.frames, scale)
        is_signed = signed and jacobians.shape[2] == 1
        if is_signed:
            used = kept > 0
            is_signed, found = look_at_signs(array[used] / scale, directions[used, :, 0])
            quality = replace(quality, findings=(*quality.findings, *found)) if found else quality
        return cls(
            points=frozen(array),
            directions=frozen(directions),
            frames=frozen(rows.frames),
            latents=values,
            weights=frozen(kept),
            names=labels,
            scale=frozen(scale),
            tangent=space,
            quality=quality,
            notes=tuple(notes),
            units=known_units,
            is_signed=is_signed,
            slopes=None if values is None else frozen(slopes),
        )

    @property
    def steepness(self) -> FloatArray:
        """How much each point's value counts, shape (n_points,): the slope of the network's own
        latent, the same for all formulas, so that saturated points do not vote. Sums to 1.
        """
        slopes = np.ones((self.n_points, 1)) if self.slopes is None else self.slopes
        steep = np.where(self.weights > 0, slopes.mean(axis=1), 0.0)
        # A few points where a latent jumps must not be all that is heard.
        steep = np.minimum(steep, 3 * steep[self.weights > 0].mean())
        return steep / steep.sum()

    @property
    def has_values(self) -> bool:
        """Whether values of the one concept are known."""
        return self.latents is not None and self.rank == 1

    @classmethod
    @checked_keywords
    def from_flow(
        cls,
        points: ArrayLike,
        velocities: "Velocities",
        *,
        errors: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        tangent: str | TangentSpace = "auto",
        constraints: Sequence[StatedConstraint] = (),
        notes: Sequence[str] = (),
    ) -> "GradientField":
        """The field of everything that a flow may conserve: the directions across its velocities.

        The gradient of every conserved quantity lies inside it. The rank is one less than that of
        the data's tangent space, although a flow seldom has so many laws.

        Parameters
        ----------
        points : array_like, shape (n_points, n_inputs)
        velocities : array_like, shape (n_points, n_inputs), or callable
            At the points, or a NumPy function that gives them. `closedform.conserved` takes
            modules too.
        errors : array_like, optional
            Standard errors of the velocities, of a shape that can be broadcast to theirs. Where
            they turn a direction by more than is typical the point counts less.
        names, tangent, constraints, notes
            As in `from_arrays`.

        Returns
        -------
        GradientField

        Raises
        ------
        ShapeError
            If the shapes do not fit each other.
        FieldError
            If there is only one input, or as in `from_arrays`.

        Examples
        --------
        >>> points = np.random.default_rng(0).uniform(-1, 1, (500, 3))
        >>> turning = lambda x: np.column_stack([x[:, 1], -x[:, 0], 0 * x[:, 2]])
        >>> GradientField.from_flow(points, turning, names=["x", "y", "z"])
        GradientField(500 points, 3 inputs, rank 2, tangent none)
        """
        from closedform.field.complements import field_of_flow

        return field_of_flow(points, velocities, errors, names, tangent, constraints, notes)

    @classmethod
    @checked_keywords
    def from_pairs(
        cls,
        first: ArrayLike,
        second: ArrayLike,
        *,
        errors: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        tangent: str | TangentSpace = "auto",
        constraints: Sequence[StatedConstraint] = (),
        notes: Sequence[str] = (),
    ) -> "GradientField":
        """The field across the secants of close pairs, at their middles.

        Parameters
        ----------
        first, second : array_like, shape (n_pairs, n_inputs)
            In each row two nearby points of one orbit. Pairs farther apart than a tenth of the
            inputs' spread are left out; pass distant ones to `closedform.conserved`.
        errors : array_like, optional
            Standard errors of the differences.
        names, tangent, constraints, notes
            As in `from_arrays`.

        Returns
        -------
        GradientField

        Raises
        ------
        ShapeError
            If the shapes do not fit each other.
        FieldError
            If no pair is close, or as in `from_flow`.

        Examples
        --------
        >>> angle = np.random.default_rng(0).uniform(0, 6, 300)
        >>> radius = np.random.default_rng(1).uniform(1, 2, 300)
        >>> at = lambda a: np.column_stack([radius * np.cos(a), radius * np.sin(a)])
        >>> GradientField.from_pairs(at(angle), at(angle + 0.01)).rank
        1
        """
        from closedform.field.complements import field_of_pairs

        return field_of_pairs(first, second, errors, names, tangent, constraints, notes)

    @property
    def rank(self) -> int:
        """Independent directions at each point."""
        return self.directions.shape[2]

    @property
    def n_points(self) -> int:
        """Number of points, including those of weight 0."""
        return len(self.points)

    def project(self, gradients: ArrayLike) -> FloatArray:
        """Restrict gradients at the field's points to the scaled tangent space, where `frames` are.

        Parameters
        ----------
        gradients : array_like, shape (n_points, n_inputs) or (n_points, n_inputs, m)
            In the user's coordinates.

        Returns
        -------
        ndarray, shape (n_points, tangent.rank) or (n_points, tangent.rank, m)
        """
        return self.tangent.coordinates(gradients, self.scale)

    def subset(self, indices: ArrayLike) -> "GradientField":
        """The field at some of its points, given by indices or by a boolean mask. Scale, rank and
        quality stay those of the whole field.
        """
        chosen = np.asarray(indices)
        every = {name: getattr(self, name) for name in BY_POINT}
        some = {name: frozen(array[chosen]) for name, array in every.items() if array is not None}
        return replace(self, tangent=self.tangent.subset(chosen), **some)

    def with_units(self, units: UnitsLike | None) -> "GradientField":
        """The field with the units of its inputs; None leaves it as it is.

        Raises
        ------
        UnitsError
            If a unit cannot be read, or belongs to no input.
        """
        return self if units is None else replace(self, units=as_units(units, self.names))

    def digest(self) -> str:
        """A fingerprint of points, directions, weights and names, to know the field by."""
        # Every stage asks, and arrays of a large field take seconds.
        if self in _DIGESTS:
            return _DIGESTS[self]
        fingerprint = sha256()
        for array in (self.points, self.frames, self.weights, self.scale):
            fingerprint.update(np.ascontiguousarray(array).data)
        fingerprint.update("\0".join(self.names).encode())
        _DIGESTS[self] = fingerprint.hexdigest()
        return _DIGESTS[self]

    def modulo(self, concepts: Sequence[Expression]) -> "GradientField":
        """What the field holds apart from known concepts; see `complements.field_modulo`."""
        from closedform.field.complements import field_modulo

        return field_modulo(self, concepts)

    def save(self, path: str | Path) -> None:
        """Write the field as a versioned ``.npz``; `closedform.load_field` reads it."""
        from closedform.field.field_file import save_field

        save_field(self, path)

    def __repr__(self) -> str:
        n_points, n_inputs, rank = self.directions.shape
        return (
            f"GradientField({n_points} points, {n_inputs} inputs, rank {rank}, tangent "
            f"{self.tangent.kind})"
        )


_DIGESTS: "WeakKeyDictionary[GradientField, str]" = WeakKeyDictionary()
