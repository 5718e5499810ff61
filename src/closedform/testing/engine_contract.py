"""The contract of a search engine, as tests: subclass `EngineContract`, supply one fixture, and run
pytest.

    class TestMyEngine(EngineContract):
        @pytest.fixture
        def engine(self):
            return MyEngine()

Known answers are found, the same seed gives the same result, the budget is kept, the engine
pickles, bad fields are survived.
"""

import itertools
import pickle
import time
from typing import Any, ClassVar

import numpy as np
import pytest

from closedform.basics.progress import Silent, Snapshot
from closedform.expressions.complexity import complexity
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget, processor_seconds
from closedform.searching.engine import Engine, SearchResult
from closedform.searching.space import SearchSpace
from closedform.testing.known_fields import KNOWN_FIELDS, KnownField

_WARM: set[type] = set()


class EngineContract:
    """What every engine must keep. Attributes may be overridden where an engine needs more room."""

    seconds: ClassVar[float] = 12.0
    """Time in which an easy concept must be found."""

    evaluations: ClassVar[int] = 20_000
    """Evaluation budget of the tests of repeatability."""

    @pytest.fixture
    def engine(self) -> Engine:
        """The engine to test."""
        raise NotImplementedError("Supply a fixture named engine.")

    @staticmethod
    def run(
        engine: Engine,
        field: GradientField,
        *,
        seed: int = 0,
        space: SearchSpace | None = None,
        **limits: Any,
    ) -> SearchResult:
        """Search once."""
        return engine.search(
            field, space or SearchSpace(), Budget(**limits), np.random.default_rng(seed), Silent()
        )

    @pytest.fixture(autouse=True)
    def warm(self, engine: Engine) -> None:
        """Compile what must be compiled, so that no test measures it."""
        if type(engine) not in _WARM:
            self.run(engine, KNOWN_FIELDS["sum"].field(np.random.default_rng(0)), evaluations=3000)
            _WARM.add(type(engine))

    @pytest.mark.parametrize("name", KNOWN_FIELDS)
    def test_known_concepts_are_found(self, engine: Engine, name: str) -> None:
        """The best candidate's gradient is parallel to the truth at fresh points."""
        known = KNOWN_FIELDS[name]
        result = self.run(
            engine, known.field(np.random.default_rng(1)), seconds=self.seconds, target=1e-12
        )
        assert result.front.best is not None
        assert _largest_misalignment(result, known) < 1e-6

    def test_the_front_is_in_order(self, engine: Engine) -> None:
        """Complexity rises and misalignment falls along the front, and the complexities are those
        of the space.
        """
        result = self.run(
            engine,
            KNOWN_FIELDS["energy"].field(np.random.default_rng(2)),
            evaluations=self.evaluations,
        )
        front = list(result.front)
        assert all(
            a.complexity < b.complexity and a.misalignment > b.misalignment
            for a, b in itertools.pairwise(front)
        )
        assert all(
            candidate.complexity == complexity(candidate.expression.tree) for candidate in front
        )
        assert all(candidate.expression.names == ("x", "v") for candidate in front)
        assert {"engine", "seconds", "evaluations"} <= set(result.statistics)

    def test_the_same_seed_gives_the_same_front(self, engine: Engine) -> None:
        """Bit for bit, also after pickling the engine."""
        field = KNOWN_FIELDS["determinant"].field(np.random.default_rng(3), noise=0.02)
        first = self.run(engine, field, evaluations=self.evaluations)
        second = self.run(pickle.loads(pickle.dumps(engine)), field, evaluations=self.evaluations)
        assert first.front == second.front

    def test_a_time_budget_is_kept(self, engine: Engine) -> None:
        """Within a second."""
        field = KnownField("x*y/(1 + z**2) + sin(x*w)", ("x", "y", "z", "w")).field(
            np.random.default_rng(4), noise=0.05
        )
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

        field = KnownField("x*y/(1 + z**2) + sin(x*w)", ("x", "y", "z", "w")).field(
            np.random.default_rng(4), noise=0.05
        )
        start = time.process_time()
        result = engine.search(
            field, SearchSpace(), Budget(seconds=30.0), np.random.default_rng(0), Interrupting()
        )
        assert result.status == "interrupted"
        assert time.process_time() - start < 5

    def test_the_space_is_respected(self, engine: Engine) -> None:
        """No operator outside the space, and no complexity above its limit."""
        space = SearchSpace(operators=("add", "sub", "mul"), max_complexity=9)
        result = self.run(
            engine,
            KNOWN_FIELDS["energy"].field(np.random.default_rng(6)),
            space=space,
            evaluations=self.evaluations,
        )
        for candidate in result.front:
            assert candidate.complexity <= 9
            assert space.allows(candidate.expression.tree, candidate.expression.names)


def _largest_misalignment(result: SearchResult, known: KnownField) -> float:
    from closedform.field.alignment.comparison import field_misalignment

    assert result.front.best is not None
    fresh = known.field(np.random.default_rng(99), n_points=1000)
    return float(field_misalignment(result.front.best.expression, fresh).max())
