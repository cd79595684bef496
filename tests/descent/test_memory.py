"""What a training takes is known before it begins; too much is refused, and what would fit is said."""

import dataclasses

import jax
import pytest

import hcpinn as hc
from declarations import declare
from hcpinn.descent import Extent, Preparation, memory, training_bytes
from hcpinn.errors import MethodError

EXTENT = Extent(points=10**6, axes=2, indices=4, features=10, outputs=1, parameters=1081)


def method(stage, **changes):
    return hc.Method(network=hc.MLP(6, 1), embedding=hc.Fourier(2), stages=(stage,), **changes)


def test_what_is_fixed_at_all_points_is_counted_to_the_byte():
    run = hc.Run(declare(), method(hc.LBFGS(steps=1), points=300, lift=hc.Semigroup()))
    preparation = Preparation([run])
    blocks = preparation.prepare().data.blocks
    held = sum(leaf.nbytes for leaf in jax.tree.leaves(blocks))
    trial = preparation.trials(preparation.schedule.first, [])[0]
    assert Extent.of(trial, preparation.theta.shape[1], 300, 1).block == pytest.approx(held, rel=0.1)


def test_memory_grows_with_points_runs_and_matrices():
    adam = method(hc.Adam(steps=1))
    once = training_bytes(adam, EXTENT)
    assert once > EXTENT.block
    assert training_bytes(adam, dataclasses.replace(EXTENT, points=10**7)) == pytest.approx(
        10 * once, rel=1e-3
    )
    assert training_bytes(adam, dataclasses.replace(EXTENT, runs=3)) > 2 * once
    drawn_again = method(hc.Adam(steps=1), resampling=hc.Resampling(by="residual"))
    assert training_bytes(drawn_again, EXTENT) > once
    few = dataclasses.replace(EXTENT, points=64)
    assert training_bytes(method(hc.Broyden(steps=1)), few) >= 8 * few.parameters**2
    coarse, fine = (training_bytes(method(hc.SketchedGaussNewton(group=g)), EXTENT) for g in (640, 40))
    assert 8 * 1500 * few.parameters < coarse < fine


def test_points_that_do_not_fit_are_refused_before_they_are_drawn(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: 8 << 30)
    with pytest.raises(
        MethodError, match=r"2,000,000,000 points takes about .* and 8\.0 GiB are free"
    ) as said:
        hc.solve(declare(), method(hc.Adam(steps=1), points=2 * 10**9), progress=False)
    many = int(str(said.value).split("free. ")[1].split()[0].replace(",", ""))
    room = 0.9 * (8 << 30)
    extent = dataclasses.replace(EXTENT, features=6, parameters=0)
    needed = [
        training_bytes(method(hc.Adam(steps=1)), dataclasses.replace(extent, points=n))
        for n in (many, 2 * many)
    ]
    assert needed[0] <= room < needed[1]


def test_matrices_that_do_not_fit_are_refused_by_name(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: 10_000)
    with pytest.raises(MethodError, match=r"Levenberg–Marquardt with .* needs about .* GiB are free"):
        Preparation([hc.Run(declare(), method(hc.LevenbergMarquardt(), points=4))])
