"""The curvature of the loss against its whole Hessian."""

import jax
import numpy as np
import pytest

from equations import pair
from hcpinn.theory import curvature


def test_the_whole_hessian_has_negative_curvature_that_the_theorem_does_not_show():
    _, hard = pair("allen-cahn")
    values = np.linalg.eigvalsh(np.asarray(jax.jit(jax.jacfwd(hard.slope))(hard.theta)))
    result = curvature(hard)
    assert result.largest == pytest.approx(values[-1], rel=1e-2)
    assert result.smallest == pytest.approx(values[0], rel=1e-2)
    assert result.smallest < 0 < result.gauss_newton
