"""The work of a step agrees with what a reader of the formulas would count."""

import pytest

import hcpinn as hc
from hcpinn.descent import Preparation
from hcpinn.speed import BenchCase, model_problem, step_work


def step(**settings):
    return BenchCase(**{"points": 64, "width": 8, "depth": 2, "modes": 1, **settings}).step()


def test_products_are_those_of_the_formula():
    """u, uₜ, uₓ and uₓₓ through layers of 4, 8, 8 and 1: time and three Fourier features, two hidden layers."""
    pairs = [4 * 8, 8 * 8, 8 * 1]
    assert step().work().products == 2 * 64 * 4 * (3 * sum(pairs) - pairs[0])


def test_elementwise_work_is_about_what_faa_di_bruno_takes():
    """Of tanh one evaluation a neuron; of its jet some tens of operations a neuron, forward and back."""
    work = step(points=10_000, width=32, depth=7).work()
    assert work.functions == pytest.approx(10_000 * 7 * 32, rel=0.02)
    assert 20 < work.arithmetic / work.functions < 80


def test_work_grows_with_points_and_runs():
    one, twice, batch = (step(**s).work() for s in ({}, {"points": 128}, {"runs": 3}))
    assert twice.products == 2 * one.products
    assert one.arithmetic < twice.arithmetic < 2 * one.arithmetic  # the update does not grow
    assert batch.products == 3 * one.products
    assert batch.arithmetic == pytest.approx(3 * one.arithmetic)
    assert one.bytes < batch.bytes < 3 * one.bytes  # what is the same for all runs is read once


def test_bytes_follow_the_precision():
    assert step(precision="float64").work().bytes == 2 * step().work().bytes


def test_what_cannot_be_counted_is_refused():
    problem = model_problem()
    method = hc.Method(embedding=hc.Fourier(1), network=hc.ModifiedMLP(4, 1), points=8)
    preparation = Preparation([hc.Run(problem, method)])
    prepared = preparation.prepare()
    with pytest.raises(hc.HcpinnError, match="MLP"):
        step_work(prepared.objective, prepared.data)
