"""Expression: a tree and the names of its inputs, which is what users hold."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from closedform.arrays import FloatArray, as_points
from closedform.errors import ExpressionError
from closedform.expressions import evaluate
from closedform.expressions.complexity import Costs, complexity
from closedform.expressions.libraries import Library
from closedform.expressions.printing import check_names, quote, to_text
from closedform.expressions.tree import Tree, Variable

if TYPE_CHECKING:
    import sympy
    import torch


@dataclass(frozen=True, slots=True)
class Expression:
    """A closed-form function of named inputs: immutable, hashable, callable on arrays.

    Make one with `closedform.parse`. ``str`` prints numbers at full precision, and
    `closedform.parse` reads it back.

    Attributes
    ----------
    tree : Tree
        Its structure.
    names : tuple of str
        The inputs, in the order of the columns of points.

    Examples
    --------
    >>> import closedform as cf
    >>> energy = cf.parse("v**2/2 + sin(x)", names=["x", "v"])
    >>> energy([[0.0, 2.0]])
    array([2.])
    >>> energy.gradient([[0.0, 2.0]])
    array([[1., 2.]])
    """

    tree: Tree
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        check_names(self.names)
        if self.tree.variables and max(self.tree.variables) >= len(self.names):
            raise ExpressionError(
                f"Input {max(self.tree.variables)} occurs, but only {len(self.names)} inputs "
                f"are named."
            )

    def __call__(self, points: ArrayLike) -> FloatArray:
        """Values at points of shape (n_points, n_inputs)."""
        return evaluate.evaluate(self.tree, as_points(points, len(self.names)))

    def gradient(self, points: ArrayLike) -> FloatArray:
        """Input gradients, shape (n_points, n_inputs); nan where the value is not finite."""
        return evaluate.gradient(self.tree, as_points(points, len(self.names)))

    def columns(self, points: Any, library: Library) -> list[Any]:
        """The tree's inputs at points (..., n_inputs) of any array library."""
        return [points[..., column] for column in range(len(self.names))]

    def complexity(self, costs: Costs | None = None) -> int:
        """Complexity of the cheapest spelling; the default costs are the paper's."""
        return complexity(self.tree, costs)

    def rename(self, names: Sequence[str]) -> "Expression":
        """The same function with its inputs found by name among these, which may be more or in
        another order.

        Raises
        ------
        ExpressionError
            If an input that occurs is not among the names.
        """
        missing = [
            self.names[index]
            for index in sorted(self.tree.variables)
            if self.names[index] not in names
        ]
        if missing:
            raise ExpressionError(f"Input {missing[0]!r} is not among {list(names)}.")
        columns = {index: list(names).index(self.names[index]) for index in self.tree.variables}
        tokens = tuple(
            Variable(columns[t.index]) if isinstance(t, Variable) else t for t in self.tree.tokens
        )
        return Expression(Tree(tokens), tuple(names))

    def sympy(self) -> "sympy.Expr":
        """The SymPy expression: real symbols, exact numbers (long exponents are floats)."""
        from closedform.expressions.sympy_bridge import to_sympy

        return to_sympy(self, exact=False)

    def latex(self) -> str:
        """LaTeX source, without dollar signs."""
        from closedform.expressions.sympy_bridge import to_latex

        return to_latex(self)

    def numpy(self) -> Callable[..., Any]:
        """A plain function of points (n_points, n_inputs), or of one array per input."""
        return evaluate.to_numpy(self)

    def torch(self) -> "torch.nn.Module":
        """A torch module from (..., n_inputs) to (...)."""
        return evaluate.to_torch(self)

    def jax(self) -> Callable[[Any], Any]:
        """A JAX function from (..., n_inputs) to (...)."""
        return evaluate.to_jax(self)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def __str__(self) -> str:
        return to_text(self.tree, self.names)

    def __repr__(self) -> str:
        return f"Expression({str(self)!r}, names=[{', '.join(quote(name) for name in self.names)}])"
