import numpy as np

from closedform.searching.evolution.survival import DUPLICATE, survival_scores


def ranks_by_definition(misalignments, costs):
    left = set(range(len(costs)))
    ranks = np.full(len(costs), -1)
    rank = 0
    while left:
        front = {
            i
            for i in left
            if not any(
                misalignments[j] <= misalignments[i]
                and costs[j] <= costs[i]
                and (misalignments[j] < misalignments[i] or costs[j] < costs[i])
                for j in left
            )
        }
        for i in front:
            ranks[i] = rank
        left -= front
        rank += 1
    return ranks


def test_ranks_are_those_of_non_dominated_sorting():
    rng = np.random.default_rng(0)
    for _ in range(20):
        misalignments, costs = rng.random(60), rng.integers(1, 12, 60)
        scores = survival_scores(misalignments, costs, np.arange(60, dtype=np.uint64))
        np.testing.assert_array_equal(np.floor(scores), ranks_by_definition(misalignments, costs))


def test_of_one_structure_only_the_best_counts():
    keys = np.array([7, 7, 7, 8], dtype=np.uint64)
    scores = survival_scores(np.array([0.5, 0.2, 0.9, 0.6]), np.array([3, 3, 3, 3]), keys)
    assert (scores >= DUPLICATE).tolist() == [True, False, True, False]


def test_equal_objectives_are_kept_once():
    scores = survival_scores(
        np.array([0.2, 0.2, 0.2]), np.array([3, 3, 4]), np.array([1, 2, 3], dtype=np.uint64)
    )
    assert (scores >= DUPLICATE).tolist() == [False, True, False]


def test_crowded_places_come_last_in_their_front():
    misalignments = np.array([0.9, 0.5, 0.49, 0.48, 0.1])
    scores = survival_scores(
        misalignments, np.array([1, 10, 11, 12, 40]), np.arange(5, dtype=np.uint64)
    )
    assert (scores < 1).all()
    assert scores[[0, 4]].tolist() == [0, 0]
    assert scores[2] == scores.max()
