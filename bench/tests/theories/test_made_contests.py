from closedform_bench.theories.made_contests import APART, ERRORS, NEAR, Form, made_contest


def test_a_near_contest_is_as_it_is_asked_for():
    made = made_contest(0, 0, has_truth=True, is_near=True)
    assert ERRORS[0] <= made.error <= ERRORS[1]
    assert APART * made.error <= made.nearest <= NEAR * made.error
    assert made.true_name is not None
    assert made.theories[made.true_name] == made.truth
    assert len(set(made.theories.values())) == len(made.theories) in (3, 4)
    assert set(made.constants) <= set(made.free)


def test_constants_are_numbered_as_they_are_written():
    form = Form((2, 5), (0,), (0, 1))
    assert form.text(["x", "y"]) == ("(x**c1 + c3*sqrt(c2 + y))", 3)
