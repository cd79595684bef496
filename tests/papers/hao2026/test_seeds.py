"""What several seeds can tell: the rule by which errors are compared, against the tests it comes from."""

import itertools
import math

import pytest
from scipy.stats import binomtest, mannwhitneyu

from hcpinn.papers.hao2026.seeds import Sample, agreed, at_most, contrary, every, lies_below, seed_by_seed


def sample(*errors):
    return Sample(dict(enumerate(errors)))


def with_wrong_pairs(first, second, wrong):
    """Two samples that are apart but for so many pairs: the first seed of one climbs into the other."""
    below, above = list(range(first)), [float(first + number) for number in range(second)]
    for place in reversed(range(first)):
        step = min(wrong, second)
        below[place], wrong = first + step - 0.5 + 0.01 * place if step else below[place], wrong - step
    return sample(*map(float, below)), sample(*above)


@pytest.mark.parametrize(("first", "second"), [(3, 3), (3, 10), (5, 5), (4, 6), (10, 10)])
def test_as_many_pairs_may_disagree_as_the_rank_test_allows(first, second):
    for wrong in range(first * second // 2):
        one, other = with_wrong_pairs(first, second, wrong)
        assert sum(a > b for a in one.values for b in other.values) == wrong
        chance = mannwhitneyu(one.values, other.values, alternative="less", method="exact").pvalue
        if one.median < other.median:
            assert (lies_below(one, other) is True) == (chance <= 0.05)


@pytest.mark.parametrize("seeds", range(5, 13))
def test_as_many_seeds_may_disagree_as_the_sign_test_allows(seeds):
    for wrong in range(seeds // 2):
        chance = binomtest(seeds - wrong, seeds, alternative="greater").pvalue
        assert (agreed([True] * (seeds - wrong) + [False] * wrong) is True) == (chance <= 0.05)


@pytest.mark.parametrize("seeds", [1, 2, 3, 4])
def test_few_seeds_have_to_agree_without_exception(seeds):
    assert agreed([True] * seeds) is True
    assert agreed([False] * seeds) is False
    if seeds > 1:
        assert agreed([True] * (seeds - 1) + [False]) is None


def test_one_figure_against_another_is_always_decided():
    assert lies_below(sample(1.0), sample(2.0)) is True
    assert lies_below(sample(2.0), sample(1.0)) is False
    assert lies_below(sample(1.0), sample(1.0)) is False
    assert at_most(sample(1.0), 1.0) is True


def test_of_two_samples_one_lies_below_if_the_other_does_not():
    cases = [(1.0, 2.0, 3.0), (2.1, 3.1, 4.1), (4.2, 5.2, 6.2), (1.3, 5.3, 9.3)]
    for one, other in itertools.combinations(cases, 2):
        there, back = lies_below(sample(*one), sample(*other)), lies_below(sample(*other), sample(*one))
        assert there is contrary(back)


def test_one_bad_seed_of_ten_does_not_hide_an_effect_and_one_of_three_does():
    good, bad = [1e-3 * (1 + n / 10) for n in range(10)], [1e-2 * (1 + n / 10) for n in range(10)]
    assert lies_below(sample(*good[:9], math.inf), sample(*bad)) is True
    assert lies_below(sample(*good[:2], math.inf), sample(*bad[:3])) is None
    assert at_most(sample(*good[:9], 1.0), 2e-3) is True
    assert at_most(sample(*good[:2], 1.0), 2e-3) is None


def test_seed_by_seed_takes_what_all_have_or_else_the_medians():
    first, second = Sample({0: 1.0, 1: 2.0, 5: 9.0}), Sample({1: 3.0, 0: 2.0, 7: 1.0})
    assert seed_by_seed([first, second], lambda a, b: a < b) is True
    assert seed_by_seed([first, second.times(0.6)], lambda a, b: a < b) is None
    assert seed_by_seed([Sample({0: 1.0}), Sample({1: 2.0})], lambda a, b: a < b) is True


def test_statements_are_joined():
    assert [every(given) for given in ([True, True], [True, None], [None, False], [])] == [
        True,
        None,
        False,
        True,
    ]
    assert [contrary(given) for given in (True, False, None)] == [False, True, None]


def test_a_sample_is_told_by_its_median_and_its_ends():
    assert str(sample(1e-3)) == "1.00e-3"
    assert str(sample(3e-3, 1e-3, 0.5)) == "3.00e-3 (1.00e-3 to 0.500)"
    assert str(sample(3e-3, 1e-3, math.inf)) == "3.00e-3 (1.00e-3 to ∞)"
