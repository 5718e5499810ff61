import pickle

import pytest

from closedform.errors import ExpressionError
from closedform.expressions.tolerances import MAX_SIZE
from closedform.expressions.tree import Constant, apply, constant, named_constant, variable

X, Y = variable(0), variable(1)


def test_structural_equality_and_hash():
    first = apply("add", apply("sin", X), constant(0.1))
    second = apply("add", apply("sin", variable(0)), constant("0.1"))
    assert first == second
    assert hash(first) == hash(second)
    assert first != apply("add", constant(0.1), apply("sin", X))


def test_a_constant_is_never_taken_for_an_input_of_the_same_number():
    assert constant(1) != variable(1)
    assert apply("sin", constant(1)) != apply("sin", variable(1))


def test_children_are_the_operands():
    left, right = apply("sin", X), apply("mul", X, Y)
    assert apply("sub", left, right).children == (left, right)
    assert apply("neg", right).children == (right,)
    assert X.children == ()


def test_a_float_is_its_shortest_decimal():
    root = constant(0.1).root
    assert isinstance(root, Constant)
    assert (root.value.numerator, root.value.denominator) == (1, 10)


def test_numbers_have_one_spelling():
    assert apply("neg", constant(3)) == constant(-3)
    assert apply("div", constant(1), constant(3)) == constant("1/3")
    assert apply("div", constant(1), constant(0)).size == 3


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 10**301])
def test_constants_are_finite(bad):
    with pytest.raises(ExpressionError):
        constant(bad)


def test_mistakes_are_told():
    with pytest.raises(ExpressionError, match="no operator named 'sine'"):
        apply("sine", X)
    with pytest.raises(ExpressionError, match="takes 2"):
        apply("add", X)
    with pytest.raises(ExpressionError, match="no constant named"):
        named_constant("tau")
    with pytest.raises(ExpressionError, match="counted from 0"):
        variable(-1)


def test_deep_trees_need_no_stack():
    tree = X
    for _ in range(5000):
        tree = apply("sin", tree)
    assert tree.fold(lambda token: 0, lambda name, depth: depth + 1) == 5000
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert hash(tree) == hash(pickle.loads(pickle.dumps(tree)))


def test_size_is_limited():
    tree = X
    for _ in range(12):
        tree = apply("add", tree, tree)
    assert tree.size <= MAX_SIZE
    with pytest.raises(ExpressionError, match="nodes"):
        apply("add", tree, tree)


def test_a_leaf_is_replaced_wherever_it_stands():
    tree = apply("add", apply("sin", X), apply("mul", X, Y))
    product = apply("mul", Y, Y)
    found = tree.replaced(X.root, product)
    assert found == apply("add", apply("sin", product), apply("mul", product, Y))
    assert tree.replaced(variable(7).root, product) == tree
