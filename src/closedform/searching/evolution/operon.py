"""pyoperon, kept at arm's length: the only file that touches it.

pyoperon keeps no references to what it is given, so one object holds everything for as long as a
search lives; it computes in single precision and is used to breed only; and what a collection hands
out are copies, so changes are written back.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.errors import MissingDependencyError
from closedform.expressions.operators import OPERATORS
from closedform.searching.evolution.decode import Alphabet
from closedform.searching.space import SearchSpace

LEAVES = ("Constant", "Variable")
MUTATION_RATE = 0.25

# Every function is as likely as the others to pyoperon. Rarely needed ones would crowd out sums and
# products.
FREQUENCIES = {
    "Add": 4,
    "Sub": 4,
    "Mul": 4,
    "Div": 2,
    "Square": 2,
    "Pow": 1,
    "Variable": 4,
    "Constant": 1,
}


class OperonMissingError(MissingDependencyError):
    """pyoperon is not installed, or is not the version whose node types this engine knows."""


def is_available() -> bool:
    """Whether pyoperon can be used here.

    Examples
    --------
    >>> is_available() in (True, False)
    True
    """
    return why_unavailable() is None


@cache
def why_unavailable() -> str | None:
    """What keeps pyoperon from being used here; None if it can be: trees are created, bred, changed
    and read to find out.
    """
    try:
        breeder = Breeder(1, SearchSpace(), seed=1, max_length=7, max_depth=4, tournament=2)
        parents = breeder.create(4)
        offspring = breeder.breed(parents, [0.0] * 4, 4)
        reading = breeder.read(offspring)
        breeder.write(offspring[0], reading.coefficients[: reading.leaf_starts[1]])
    except (
        OperonMissingError,
        AttributeError,
        TypeError,
        ValueError,
        OSError,
        RuntimeError,
    ) as error:
        return str(error)
    return None if len(offspring) == 4 else "it bred nothing"


@cache
def load() -> Any:
    """Import pyoperon and check the names that are used.

    Raises
    ------
    OperonMissingError
        If it is missing or has other names.
    """
    try:
        module = import_module("pyoperon")
    except (ImportError, OSError) as error:
        message = (
            f"The engine 'evolution' needs pyoperon, which cannot be imported here "
            f"({error}). It has wheels for Linux x86-64 "
            "and macOS arm64: pip install 'pyoperon>=0.6.2,<0.7'. Elsewhere use the engine 'terms'."
        )
        raise OperonMissingError(message, name="pyoperon") from error
    wanted = [*LEAVES, *(operator.operon for operator in OPERATORS.values() if operator.operon)]
    missing = [name for name in wanted if not hasattr(module.NodeType, name)]
    if missing:
        raise OperonMissingError(
            f"The installed pyoperon has no node type {missing[0]}; install a version that "
            f"is known to work: "
            "pip install 'pyoperon>=0.6.2,<0.7'.",
            name="pyoperon",
        )
    return module


@dataclass(frozen=True, slots=True)
class OperonReading:
    """Individuals as flat arrays: the node's hashes and the leaves' coefficients, one tree after
    the other.

    Attributes
    ----------
    hashes : ndarray of uint64, shape (n_nodes,)
    coefficients : ndarray, shape (n_leaves,)
    starts, leaf_starts : ndarray of int64, shape (n_trees + 1,)
    """

    hashes: NDArray[np.uint64]
    coefficients: FloatArray
    starts: NDArray[np.int64]
    leaf_starts: NDArray[np.int64]


class Breeder:
    """pyoperon's creator, crossover, mutation and selection for one island; everything stays alive
    in here.
    """

    def __init__(
        self,
        n_inputs: int,
        space: SearchSpace,
        *,
        seed: int,
        max_length: int,
        max_depth: int,
        tournament: int,
    ) -> None:
        operon = self._operon = load()
        node_type = operon.NodeType
        # A Dataset of single precision in Fortran order is a view: the array must live as long as
        # it does.
        self._data = np.asfortranarray(np.zeros((2, n_inputs + 1), dtype=np.float32))
        self._dataset = operon.Dataset(self._data)
        variables = list(self._dataset.Variables)
        self._problem = operon.Problem(self._dataset)
        self._problem.TrainingRange = self._problem.TestRange = operon.Range(0, 2)
        self._problem.Target = variables[-1]
        by_column = {variable.Index: variable.Hash for variable in variables}
        inputs = self._inputs = [by_column[column] for column in range(n_inputs)]
        self._problem.InputHashes = inputs
        functions = self.functions = tuple(
            str(OPERATORS[name].operon) for name in usable_operators(space)
        )
        self._known = {*LEAVES, *functions}
        config = node_type.Constant | node_type.Variable
        for name in functions:
            config = config | getattr(node_type, name)
        self._problem.ConfigurePrimitiveSet(config)
        symbols = self._symbols = self._problem.PrimitiveSet
        for name in (*LEAVES, *functions):
            symbols.SetFrequency(operon.Node(getattr(node_type, name)), FREQUENCIES.get(name, 1))
        self._rng = operon.RandomGenerator(seed)
        self._creator = operon.BalancedTreeCreator(symbols, inputs, 0.0)
        self._trees = operon.UniformLengthTreeInitializer(self._creator)
        self._trees.ParameterizeDistribution(1, max_length)
        self._trees.MaxDepth = max_depth
        self._numbers = operon.NormalCoefficientInitializer()
        self._numbers.ParameterizeDistribution(0, 1)
        self._mutations = [
            operon.NormalOnePointMutation(),
            operon.ChangeVariableMutation(inputs),
            operon.ChangeFunctionMutation(symbols),
            operon.ReplaceSubtreeMutation(self._creator, self._numbers, max_depth, max_length),
            operon.InsertSubtreeMutation(self._creator, self._numbers, max_depth, max_length),
            operon.RemoveSubtreeMutation(symbols),
        ]
        self._mutation = operon.MultiMutation()
        for mutation in self._mutations:
            self._mutation.Add(mutation, 1.0)
        self._crossover = operon.SubtreeCrossover(0.9, max_depth, max_length)
        self._selector = operon.TournamentSelector(objective_index=0)
        self._selector.TournamentSize = tournament
        # The generator insists on an evaluator and an optimiser; these two cost next to nothing and
        # their results are unused.
        self._evaluator = operon.LengthEvaluator(self._problem)
        self._table = operon.DispatchTable()
        self._least_squares = operon.LMOptimizer(self._table, self._problem, max_iter=0)
        self._optimizer = operon.CoefficientOptimizer(self._least_squares)
        self._generator = operon.BasicOffspringGenerator(
            self._evaluator,
            self._crossover,
            self._mutation,
            self._selector,
            self._selector,
            self._optimizer,
        )
        self._parents: Any = None
        self.limits = (max_length, max_depth)
        codes = {
            _hash(operon, OPERATORS[name].operon): name
            for name in OPERATORS
            if OPERATORS[name].operon
        }
        self.alphabet = Alphabet.of(_hash(operon, "Constant"), codes, inputs)

    def create(self, count: int) -> list[Any]:
        """New random individuals."""
        return [self._individual(self._new_tree()) for _ in range(count)]

    def breed(self, parents: Sequence[Any], scores: Iterable[float], count: int) -> list[Any]:
        """Offspring of parents chosen by tournament; lower scores win."""
        for parent, score in zip(parents, scores, strict=True):
            parent.SetFitness(score, 0)
        self._parents = self._operon.IndividualCollection(parents)
        self._generator.Prepare(self._parents)
        return list(self._generator(self._rng, 1.0, MUTATION_RATE, 0.0, 0.0, count))

    def plant(self, nodes: Sequence[tuple[str, float]]) -> Any | None:
        """An individual from nodes in pyoperon's order; None if it is larger than the limits or
        outside the primitives.

        Each node is the name of a node type and a number: the value of a constant, or the column of
        a variable.
        """
        # A foreign node would abort the first crossover that meets it.
        if any(name not in self._known for name, _ in nodes):
            return None
        operon = self._operon
        if not {name for name, _ in nodes} <= {*LEAVES, *self.functions}:
            return None
        built = []
        for name, number in nodes:
            kind = getattr(operon.NodeType, name)
            if name == "Variable":
                node = operon.Node(kind, self._inputs[int(number)])
                node.Value = 1.0
            else:
                node = operon.Node(kind)
                if name == "Constant":
                    node.Value = number
            built.append(node)
        tree = operon.Tree(built)
        tree.UpdateNodes()
        if tree.Length > self.limits[0] or tree.Depth > self.limits[1]:
            return None
        return self._individual(tree)

    def read(self, individuals: Sequence[Any]) -> OperonReading:
        """The individuals' nodes, as arrays."""
        hash_of = attrgetter("HashValue")
        hashes: list[int] = []
        coefficients: list[float] = []
        starts = np.zeros(len(individuals) + 1, dtype=np.int64)
        leaf_starts = np.zeros(len(individuals) + 1, dtype=np.int64)
        for position, individual in enumerate(individuals, start=1):
            tree = individual.Genotype
            hashes.extend(map(hash_of, tree.Nodes))
            coefficients += tree.GetCoefficients()
            starts[position] = len(hashes)
            leaf_starts[position] = len(coefficients)
        return OperonReading(
            np.array(hashes, dtype=np.uint64), np.array(coefficients), starts, leaf_starts
        )

    def write(self, individual: Any, coefficients: FloatArray) -> None:
        """Give an individual other coefficients, one for each of its leaves: fewer would read
        foreign memory.
        """
        tree = individual.Genotype
        if len(coefficients) != tree.CoefficientsCount:
            raise ValueError(
                f"{len(coefficients)} coefficients for {tree.CoefficientsCount} leaves."
            )
        tree.SetCoefficients(np.ascontiguousarray(coefficients, dtype=np.float32))
        individual.Genotype = tree

    def _new_tree(self) -> Any:
        tree = self._trees(self._rng)
        self._numbers(self._rng, tree)
        return tree

    def _individual(self, tree: Any) -> Any:
        individual = self._operon.Individual(1)
        individual.Genotype = tree
        return individual


def usable_operators(space: SearchSpace) -> tuple[str, ...]:
    """The operators of a space that pyoperon knows; a reciprocal is bred as a quotient, a sum as a
    difference too.

    Examples
    --------
    >>> usable_operators(SearchSpace(operators=["add", "inv", "cube"]))
    ('add', 'sub', 'div')
    """
    implied = {"inv": "div", "add": "sub"}
    names = space.operator_names
    wanted = {*names, *(implied[name] for name in names if name in implied)}
    return tuple(name for name in OPERATORS if name in wanted and OPERATORS[name].operon)


def _hash(operon: Any, name: str | None) -> int:
    return operon.Node(getattr(operon.NodeType, str(name))).HashValue
