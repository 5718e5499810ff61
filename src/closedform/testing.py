"""The shipped test kit: what an extension of closedform, and our own tests, check themselves with.

`EngineContract` is what every search engine must keep, as tests: subclass it, supply one fixture,
and run pytest.

    class TestMyEngine(EngineContract):
        @pytest.fixture
        def engine(self):
            return MyEngine()

`KnownField` makes fields with known answers, `random_tree` and `expressions` draw formulas.
"""

import itertools
import pickle
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from closedform.basics.progress import Progress, Silent, Snapshot
from closedform.expressions.complexity import complexity
from closedform.expressions.expression import Expression
from closedform.expressions.operators import OPERATORS
from closedform.expressions.parse import parse
from closedform.expressions.tree import Tree, apply, constant, variable
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget, processor_seconds
from closedform.searching.engine import Engine, SearchResult
from closedform.searching.space import SearchSpace

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

# The kit was a package: what extensions imported from its modules is all here now.
for _name in ("engine_contract", "known_fields", "random_trees", "strategies"):
    sys.modules[f"{__name__}.{_name}"] = sys.modules[__name__]


@dataclass(frozen=True, slots=True)
class KnownField:
    """A concept, or several separated by semicolons, and the range of every input."""

    truth: str
    names: tuple[str, ...]
    low: float = -2.0
    high: float = 2.0

    @property
    def concepts(self) -> tuple[Expression, ...]:
        """The concepts as expressions."""
        return tuple(parse(text, self.names) for text in self.truth.split(";"))

    def field(
        self, rng: np.random.Generator, n_points: int = 400, noise: float = 0.0
    ) -> GradientField:
        """Exact gradients behind a random distortion, each turned by a random angle of this size
        (radians).
        """
        points = rng.uniform(self.low, self.high, (n_points, len(self.names)))
        jacobian = np.stack([concept.gradient(points) for concept in self.concepts], axis=1)
        mixing = rng.normal(size=(n_points, jacobian.shape[1], jacobian.shape[1]))
        jacobian = mixing @ jacobian
        if noise:
            turned = rng.normal(size=jacobian.shape) * np.linalg.norm(
                jacobian, axis=2, keepdims=True
            )
            jacobian = jacobian + noise * turned / np.sqrt(len(self.names))
        return GradientField.from_arrays(points, jacobian, names=self.names, tangent="none")


KNOWN_FIELDS = {
    "sum": KnownField("x + 2*y", ("x", "y")),
    "energy": KnownField("v**2/2 + sin(x)", ("x", "v")),
    "determinant": KnownField("a*d - b*c", ("a", "b", "c", "d")),
    "interval": KnownField("t**2 - x**2 - y**2", ("t", "x", "y")),
}
"""Easy concepts that every engine finds in seconds."""

_HARD = KnownField("x*y/(1 + z**2) + sin(x*w)", ("x", "y", "z", "w"))


def random_tree(
    rng: np.random.Generator,
    size: int,
    n_inputs: int,
    operators: Sequence[str] = tuple(OPERATORS),
    constants: float = 0.25,
) -> Tree:
    """A random tree of about this many nodes (fewer where a sign or a quotient of numbers becomes a
    number), with this share of constants among its leaves.

    Examples
    --------
    >>> random_tree(np.random.default_rng(0), 5, 2).size <= 5
    True
    """
    unary = [name for name in operators if OPERATORS[name].arity == 1]
    binary = [name for name in operators if OPERATORS[name].arity == 2]

    def grow(nodes: int) -> Tree:
        if nodes == 1:
            return _random_leaf(rng, n_inputs, constants)
        if nodes == 2 or not binary or (unary and rng.random() < 0.35):
            return apply(str(rng.choice(unary)), grow(nodes - 1))
        left = int(rng.integers(1, nodes - 1))
        return apply(str(rng.choice(binary)), grow(left), grow(nodes - 1 - left))

    return grow(size)


def _random_leaf(rng: np.random.Generator, n_inputs: int, constants: float) -> Tree:
    if n_inputs and rng.random() >= constants:
        return variable(int(rng.integers(n_inputs)))
    kind = rng.integers(4)
    if kind == 0:
        return constant(int(rng.integers(-5, 10)))
    if kind == 1:
        return constant(float(rng.normal()))
    if kind == 2:
        return constant(round(float(rng.normal(scale=3)), 3))
    return apply("div", constant(int(rng.integers(1, 9))), constant(int(rng.integers(1, 9))))


def expressions(
    names: Sequence[str] = ("x", "y"),
    max_size: int = 20,
    operators: Sequence[str] = tuple(OPERATORS),
) -> "SearchStrategy[Expression]":
    """A strategy of Hypothesis for random expressions over the named inputs."""
    from hypothesis import strategies as st

    def build(size: int, seed: int) -> Expression:
        tree = random_tree(np.random.default_rng(seed), size, len(names), operators)
        return Expression(tree, tuple(names))

    return st.builds(build, st.integers(1, max_size), st.integers(0, 2**32 - 1))


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """A disk without room: writing more bytes than these into a file fails."""
    if sys.platform != "win32":  # which does not limit the size of files
        import resource

        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)


class EngineContract:
    """What every engine must keep. Attributes may be overridden where an engine needs more room."""

    seconds: ClassVar[float] = 12.0
    """Time in which an easy concept must be found."""

    evaluations: ClassVar[int] = 20_000
    """Evaluation budget of the tests of repeatability."""

    _compiled: ClassVar[set[type]] = set()

    @classmethod
    def warm(cls, engine: Engine) -> None:
        """Compile what must be compiled, so that no test measures it."""
        if type(engine) not in cls._compiled:
            cls._compiled.add(type(engine))
            cls.run(engine, KNOWN_FIELDS["sum"].field(np.random.default_rng(0)), evaluations=3000)

    @classmethod
    def run(
        cls,
        engine: Engine,
        field: GradientField,
        *,
        seed: int = 0,
        space: SearchSpace | None = None,
        progress: Progress | None = None,
        **limits: Any,
    ) -> SearchResult:
        """Search once."""
        cls.warm(engine)
        rng = np.random.default_rng(seed)
        return engine.search(
            field, space or SearchSpace(), Budget(**limits), rng, progress or Silent()
        )

    def test_known_concepts_are_found(self, engine: Engine) -> None:
        """The best candidate's gradient is parallel to the truth at fresh points."""
        for name, known in KNOWN_FIELDS.items():
            field = known.field(np.random.default_rng(1))
            best = self.run(engine, field, seconds=self.seconds, target=1e-12).front.best
            assert best is not None, name
            fresh = known.field(np.random.default_rng(99), n_points=1000)
            assert float(field_misalignment(best.expression, fresh).max()) < 1e-6, name

    def test_the_front_is_in_order(self, engine: Engine) -> None:
        """Complexity rises and misalignment falls along the front, and the complexities are those
        of the space.
        """
        field = KNOWN_FIELDS["energy"].field(np.random.default_rng(2))
        result = self.run(engine, field, evaluations=self.evaluations)
        front = list(result.front)
        assert all(
            a.complexity < b.complexity and a.misalignment > b.misalignment
            for a, b in itertools.pairwise(front)
        )
        for candidate in front:
            assert candidate.complexity == complexity(candidate.expression.tree)
            assert candidate.expression.names == ("x", "v")
        assert {"engine", "seconds", "evaluations"} <= set(result.statistics)

    def test_the_same_seed_gives_the_same_front(self, engine: Engine) -> None:
        """Bit for bit, also after pickling the engine."""
        field = KNOWN_FIELDS["determinant"].field(np.random.default_rng(3), noise=0.02)
        first = self.run(engine, field, evaluations=self.evaluations)
        second = self.run(pickle.loads(pickle.dumps(engine)), field, evaluations=self.evaluations)
        assert first.front == second.front

    def test_a_time_budget_is_kept(self, engine: Engine) -> None:
        """Within a second."""
        field = _HARD.field(np.random.default_rng(4), noise=0.05)
        self.warm(engine)
        with processor_seconds():
            start = time.process_time()
            self.run(engine, field, seconds=1.0)
            assert time.process_time() - start < 2.0

    def test_bad_fields_are_survived(self, engine: Engine) -> None:
        """Directions of pure noise, a single input, and a field without a usable point."""
        rng = np.random.default_rng(5)
        noise = GradientField.from_arrays(rng.normal(size=(100, 3)), rng.normal(size=(100, 3)))
        single = GradientField.from_arrays(rng.normal(size=(100, 1)), np.ones((100, 1)))
        dead = GradientField.from_arrays(rng.normal(size=(100, 2)), np.zeros((100, 2)))
        for field in (noise, single, dead):
            result = self.run(engine, field, evaluations=600)
            assert all(np.isfinite(candidate.misalignment) for candidate in result.front)

    def test_an_interrupt_returns_the_best_so_far(self, engine: Engine) -> None:
        """Ctrl-C while progress is shown."""

        class Interrupting:
            def show(self, snapshot: Snapshot) -> None:
                raise KeyboardInterrupt

            def close(self) -> None:
                pass

        field = _HARD.field(np.random.default_rng(4), noise=0.05)
        self.warm(engine)
        start = time.process_time()
        result = self.run(engine, field, seconds=30.0, progress=Interrupting())
        assert result.status == "interrupted"
        assert time.process_time() - start < 5

    def test_the_space_is_respected(self, engine: Engine) -> None:
        """No operator outside the space, and no complexity above its limit."""
        space = SearchSpace(operators=("add", "sub", "mul"), max_complexity=9)
        field = KNOWN_FIELDS["energy"].field(np.random.default_rng(6))
        result = self.run(engine, field, space=space, evaluations=self.evaluations)
        for candidate in result.front:
            assert candidate.complexity <= 9
            assert space.allows(candidate.expression.tree, candidate.expression.names)
