"""A domain says where its points, its faces and their normals are."""

import numpy as np
import pytest

import hcpinn as hc
from hcpinn.errors import ProblemError

BOX = hc.Box((0, 1), (-2, 1), (0.5, 3))
UNIT = np.random.default_rng(0).random((200, 3))


def test_a_box_has_a_volume_and_named_faces():
    assert (BOX.dimension, BOX.volume) == (3, 7.5)
    assert BOX.parts == ("x.lower", "x.upper", "y.lower", "y.upper", "z.lower", "z.upper")
    assert hc.Interval(-1, 2).parts == ("x.lower", "x.upper")
    with pytest.raises(ProblemError, match="no face 'w.lower'"):
        BOX.normal("w.lower", UNIT)


def test_points_inside_keep_their_place_in_the_unit_cube():
    points = BOX.inside(UNIT)
    np.testing.assert_allclose((points - BOX.lower) / BOX.lengths, UNIT, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(BOX.inside(np.array([[0.0] * 3, [1.0] * 3])), [BOX.lower, BOX.upper])


def test_no_point_leaves_the_box_by_rounding():
    """a + 1·(b − a) may exceed b in floating point, and data such as √(b − x) are not defined there."""
    rng = np.random.default_rng(1)
    for low, high in np.sort(rng.normal(size=(500, 2)) ** 3, axis=1):
        assert hc.Interval(low, high).inside(np.array([[1.0]]))[0, 0] <= high


@pytest.mark.parametrize("part", BOX.parts)
def test_points_on_a_face_lie_there_and_its_normal_leads_out(part):
    axis = "xyz".index(part[0])
    points = BOX.on(part, UNIT[:, :2])
    np.testing.assert_array_equal(BOX.distance(part, points), 0.0)
    others = [i for i in range(3) if i != axis]
    shares = (points - BOX.lower) / BOX.lengths
    np.testing.assert_allclose(shares[:, others], UNIT[:, :2], rtol=1e-12, atol=1e-15)
    normal = np.array(BOX.normal(part, points))
    assert np.linalg.norm(normal) == 1.0
    inside = BOX.inside(UNIT)
    step = 1e-3 * normal
    np.testing.assert_allclose(
        BOX.distance(part, inside + step), BOX.distance(part, inside) - 1e-3, atol=1e-12
    )
    assert (BOX.distance(part, inside) > 0).all()


@pytest.mark.parametrize(
    "parts",
    [(), ("x.lower",), ("y.upper",), ("x.lower", "x.upper"), ("x.upper", "z.lower", "z.upper"), BOX.parts],
)
def test_the_edge_factor_vanishes_on_the_parts_named_and_nowhere_else(parts):
    inside = BOX.edge_factor(parts, BOX.inside(UNIT)) * np.ones(len(UNIT))
    assert (inside > 0).all()
    assert (inside <= 1).all()
    for part in BOX.parts:
        there = BOX.edge_factor(parts, BOX.on(part, UNIT[:, :2])) * np.ones(len(UNIT))
        assert (there == 0).all() == (part in parts)


def test_scaled_coordinates_go_from_minus_one_to_one():
    np.testing.assert_allclose(BOX.scaled(1, np.array([-2.0, -0.5, 1.0])), [-1, 0, 1])
