"""Numbers as people read them, and text as LaTeX prints it."""

import pytest

from hcpinn.study.numbers import duration, number, ratio
from hcpinn.study.tables import latex


@pytest.mark.parametrize(
    ("value", "said"),
    [(8.294e-4, "8.29e-4"), (0.4033, "0.403"), (1.0, "1.00"), (12.44, "12.4"), (0.0, "0.00")],
)
def test_numbers_have_three_digits(value, said):
    assert number(value) == said


def test_ratios_have_two_digits():
    assert [ratio(v) for v in (1.83, 0.0281, 0.4996, 2.27e-4, 345.6)] == [
        "1.8",
        "0.028",
        "0.50",
        "2.3e-4",
        "346",
    ]


def test_latex_prints_text_as_it_is():
    assert latex("a_b & 50% of 1.5e-4") == r"a\_b \& 50\% of $1.5\times 10^{-4}$"


def test_times_have_the_unit_that_suits_them():
    assert [duration(v) for v in (47, 150, 732, 19_440)] == ["47 s", "2.5 min", "12 min", "5.4 h"]
