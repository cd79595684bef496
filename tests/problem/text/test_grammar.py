"""Formulas are read as they stand on paper, and what two readers may read differently is refused."""

import cmath
import math

import numpy as np
import pytest

from hcpinn.problem.text.grammar import Scope, parse
from hcpinn.problem.text.tokens import FormulaError
from hcpinn.problem.text.tree import value_of
from hcpinn.problem.text.typeset import MATHML, PLAIN, TERMINAL

NAMES = {"u": 0.7, "v": -1.3, "x": 0.31, "t": 2.1, "k": 3.0, "gamma1": 0.01, "lambda_": 5.0, "D_u": 0.2}
SCOPE = Scope(("u", "v"), ("t", "x"), ("k", "gamma1", "lambda_", "D_u"), (), "x", "The equation")
u, v, x, t, k, gamma1, lambda_, D_u = NAMES.values()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.001 u - 5 (u^3 - u)", 0.001 * u - 5 * (u**3 - u)),
        ("2x", 2 * x),
        ("2 pi x", 2 * math.pi * x),
        ("2πx", 2 * math.pi * x),
        ("-x^2", -(x**2)),
        ("2^-1 x", 2**-1 * x),
        ("2^3^2", 2**3**2),
        ("u v/k", u * v / k),
        ("u / (2 v)", u / (2 * v)),
        ("1/2 u", 1 / 2 * u),
        ("1 - 2 - 3", -4),
        ("8 / 4 / 2", 1),
        ("k - (u - v)", k - (u - v)),
        ("γ₁ u³ − u·v", gamma1 * u**3 - u * v),
        ("lambda + λ", 2 * lambda_),
        ("D_u x", D_u * x),
        ("|u|^2 v", abs(u) ** 2 * v),
        ("||v| - 2|", abs(abs(v) - 2)),
        ("2|v|", 2 * abs(v)),
        ("u |v|", u * abs(v)),
        ("sin^2(x)", math.sin(x) ** 2),
        ("sin(x)²", math.sin(x) ** 2),
        ("e^(-t)", np.exp(-t)),
        ("sqrt(k) cos(2 x)", math.sqrt(k) * math.cos(2 * x)),
        ("where(x < 0.5, 1, 2)", 1.0),
        ("where(0 < x < 0.2, 1, 2)", 2.0),
        ("if(x <= 0.31, u, v)", u),
        ("max(u, v, x) - min(u, v)", u - v),
        ("step(v) + sign(v)", -1.0),
        ("x(1 - x)", x * (1 - x)),
        ("u (1 - u)", u * (1 - u)),
        ("exp(i x)", cmath.exp(1j * x)),
        ("2i", 2j),
        ("real(1 + 2i)", 1.0),
        ("1e-3 + .5 + 2.", 1e-3 + 0.5 + 2.0),
        ("mod(7, 4)", 3),
    ],
)
def test_a_formula_has_the_value_that_python_gives_it(text, value):
    tree = parse(text, SCOPE)
    assert value_of(tree, NAMES, {}) == value
    assert parse(PLAIN.write(tree), SCOPE) == tree
    assert TERMINAL.write(tree)
    assert MATHML.write(tree).count("<mrow>") == MATHML.write(tree).count("</mrow>")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("gamma1 u_xx - 5 (u^3 - u)", "γ₁ uₓₓ − 5 (u³ − u)"),
        ("(u^3)_xx", "(u³)ₓₓ"),
        ("u.xx", "uₓₓ"),
        ("uₓₓ", "uₓₓ"),
        ("u_{xx}", "uₓₓ"),
        ("Δu + laplacian(v)", "Δu + Δv"),
        ("∇²u", "Δu"),
        ("|u|² u", "|u|² u"),
        ("u^(-k)", "u^(−k)"),
    ],
)
def test_a_formula_is_typeset(text, shown):
    assert TERMINAL.write(parse(text, SCOPE)) == shown


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        ("u + ", 4, "ends too early"),
        ("", 0, "ends too early"),
        ("(u", 0, "never closed"),
        ("u)", 1, "has no opening bracket"),
        ("|u", 0, "never closed"),
        ("u $ v", 2, "'$' has no meaning"),
        ("u \x00 v", 2, "U+0000"),
        ("ux", 0, "For a product write u x"),
        ("kgamma1 + u", 0, "For a product write k gamma1"),
        ("w", 0, "'w' means nothing"),
        ("gama1", 0, "Did you mean 'gamma1'?"),
        ("u_y", 0, "the domain has no such axis"),
        ("u_t", 0, "the time derivative stands once"),
        ("u_xxxxxxx", 0, "order 7"),
        ("u / 2 v", 6, "two ways"),
        ("1/2u", 3, "two ways"),
        ("Δu^2", 2, "Δ(u^2)"),
        ("2 3", 2, "A sign is missing"),
        ("u(x)", 1, "a product or a value"),
        ("sin x", 4, "in brackets"),
        ("sin", 3, "in brackets"),
        ("sin(x, t)", 0, "1 argument"),
        ("where(x, 1)", 0, "3 argument"),
        ("1/0", 1, "division by zero"),
        ("9^9^9^9", 3, "too large"),
        ("1e999", 0, "too large"),
        ("log(-1)", 0, "not finite"),
        ("(-1)^0.5", 4, "negative number"),
        ("u = v", 2, "'='"),
        ("(" * 100 + "u" + ")" * 100, None, "too many brackets"),
        ("-" * 500 + "u", None, "too many brackets"),
        ("u+" * 3000 + "u", None, "characters"),
        ("u+" * 1500 + "u", None, "more than 600"),
        ("__import__('os').system('true')", 0, "'_"),
        ("u.__class__", None, ""),
        ("exec(u)", 0, "'exec' means nothing"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text, at, words):
    with pytest.raises(FormulaError) as caught:
        parse(text, SCOPE)
    assert words in str(caught.value)
    assert str(caught.value).endswith((".", "?"))
    assert at is None or caught.value.at == at


def test_a_comparison_and_a_power_of_whole_numbers_stay_within_bounds():
    assert value_of(parse("2^60", SCOPE), NAMES, {}) == 2.0**60
    assert np.isfinite(value_of(parse("10^300", SCOPE), NAMES, {}))
