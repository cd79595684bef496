"""Shapes know their points, normals, distances and measures, in any combination."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc

L = [(-1, -1), (0, -1), (0, 0), (1, 0), (1, 1), (-1, 1)]

SHAPES = {
    "disk": (lambda: hc.Disk((1, 2), 0.5), np.pi / 4, np.pi),
    "ellipse": (lambda: hc.Ellipse((0, 0), (2, 1), 0.3), 2 * np.pi, 9.688448220547675),
    "annulus": (lambda: hc.Annulus(), 0.75 * np.pi, 3 * np.pi),
    "L": (lambda: hc.Polygon(L), 3.0, 8.0),
    "L of boxes": (lambda: hc.Box((-1, 1), (0, 1)) | hc.Box((-1, 0), (-1, 1)), 3.0, 8.0),
    "holes": (
        lambda: hc.Box((0, 3), (0, 2)) - hc.Disk((0.7, 0.7), 0.3) - hc.Disk((2.2, 1.2), 0.4),
        6 - 0.25 * np.pi,
        10 + 1.4 * np.pi,
    ),
    "lens": (lambda: hc.Disk() & hc.Disk((1, 0)), 2 * np.pi / 3 - np.sqrt(3) / 2, 4 * np.pi / 3),
    "implicit": (
        lambda: hc.Implicit(lambda x, y: 1 - x**2 / 4 - y**2, ((-3, 3), (-2, 2))),
        2 * np.pi,
        9.688448220547675,
    ),
    "cut by its box": (lambda: hc.Implicit(lambda x, y: x - y, ((0, 1), (0, 1))), 0.5, 2 + np.sqrt(2)),
}


@pytest.fixture(scope="module", params=SHAPES)
def shape(request):
    make, area, perimeter = SHAPES[request.param]
    return make(), area, perimeter


def test_area_perimeter_and_quadrature(shape):
    region, area, perimeter = shape
    assert region.area == pytest.approx(area, rel=1e-9)
    assert region.perimeter == pytest.approx(perimeter, rel=1e-9)
    points, weights = region.quadrature(400)
    assert weights.sum() == pytest.approx(area, rel=1e-7)
    assert region.contains(points).all()
    assert (weights > 0).all()


def test_points_are_inside_and_spread_by_area(shape):
    region, area, _ = shape
    points = region.inside(np.random.default_rng(0).random((4000, 2)))
    assert region.contains(points).mean() > 0.999
    nodes, weights = region.quadrature(400)
    assert np.allclose(points.mean(0), weights @ nodes / area, atol=0.06)


def test_gauss(shape):
    """∮ x · n = 2 area: normals point outwards, and weights add up to lengths."""
    region, area, _ = shape
    total = 0.0
    for part in region.parts:
        points, weights, normals = region.boundary_quadrature(part, 64)
        assert np.allclose(np.linalg.norm(normals, axis=1), 1)
        assert np.allclose(np.stack(region.normal(part, points), 1), normals, atol=1e-9)
        total += float(weights @ (points * normals).sum(1))
    assert total == pytest.approx(2 * area, rel=1e-8)


def test_the_gate_vanishes_on_the_boundary_and_nowhere_else(shape):
    region, _, _ = shape
    unit = np.random.default_rng(1).random((2000, 2))
    for part in region.parts:
        assert np.abs(region.edge_factor(region.parts, region.on(part, unit[:, :1]))).max() < 1e-12
    assert region.edge_factor(region.parts, region.inside(unit)).min() > 0
    first, *others = region.parts
    for part in others:  # a gate for one part leaves the others alone
        if part.split(".")[0] != first.split(".")[0]:
            assert np.median(region.edge_factor([first], region.on(part, unit[:, :1]))) > 1e-3


def test_distances_are_those_near_the_boundary():
    region = hc.Ellipse((0, 0), (2, 1))
    points, _, normals = region.boundary_quadrature("ellipse", 32)
    assert np.allclose(region.distance("ellipse", points - 1e-4 * normals), 1e-4, rtol=1e-3)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_sizes_do_not_matter(factor):
    region = (hc.Disk() - hc.Disk((0.25, 0), 1 / 3)).scale(factor).move(factor, 0).turn(0.3)
    assert region.area == pytest.approx(np.pi * 8 / 9 * factor**2, rel=1e-9)
    assert region.parts == ("disk", "disk2")


def test_corners_and_their_angles():
    found = hc.Polygon(L[::-1]).corners
    assert sorted(round(np.degrees(c.angle)) for c in found) == [90] * 5 + [270]
    (corner,) = [c for c in found if c.reentrant]
    assert np.allclose(corner.place, 0)
    assert not hc.Disk().corners


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: hc.Polygon([(0, 0), (1, 1), (1, 0), (0, 1)]),
            r"crosses itself: edges 1 and 3 meet at \(0.5, 0.5\)",
        ),
        (lambda: hc.Polygon([(0, 0), (1, 0)]), "at least 3 different vertices, but 2"),
        (lambda: hc.Polygon([(0, 0), (1, 0), (1, np.nan)]), "finite numbers"),
        (lambda: hc.Polygon([(0, 0), (1, 0), (1, 1e-7), (0, 1e-7)]), "sliver"),
        (lambda: hc.Disk() & hc.Disk((5, 0)), "empty"),
        (lambda: hc.Disk() - hc.Disk(radius=2), "empty"),
        (lambda: hc.Disk() - hc.Disk((5, 0)), "disk2, lies outside"),
        (lambda: hc.Disk() | hc.Disk((5, 0)), "2 separate pieces"),
        (lambda: hc.Disk() - hc.Disk((0.5, 0), 0.5), "touch there without crossing"),
        (lambda: hc.Disk(radius=-1), "radius of a disk must be a positive finite number, but is -1"),
        (lambda: hc.Annulus(inner=2), "inner radius of an annulus, 2, must be below the outer one, 1"),
        (lambda: hc.Ellipse(axes=(1, 0)), "semi-axes"),
        (lambda: hc.Implicit(lambda x, y: -1 - x**2, ((0, 1), (0, 1))), "positive nowhere"),
        (lambda: hc.Implicit(lambda x, y: [][1], ((0, 1), (0, 1))), "failed with IndexError"),
        (lambda: hc.Implicit(lambda x, y: 1 - abs(x) - abs(y), ((-2, 2), (-2, 2))), "corner or no slope"),
        (lambda: hc.Disk() | hc.Interval(0, 1), "two shapes of the plane"),
        (lambda: hc.Disk() | 3, "takes two shapes"),
        (lambda: hc.Disk().scale(0), "positive finite number, but is 0"),
    ],
)
def test_hostile_shapes_get_a_sentence(make, said):
    with pytest.raises(hc.HcpinnError, match=said):
        make()


def test_polygons_from_files(tmp_path):
    ring = [[0, 0], [2, 0], [2, 1], [0, 1], [0, 0]]
    hole = [[0.5, 0.25], [1, 0.25], [1, 0.75], [0.5, 0.75], [0.5, 0.25]]
    place = {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [ring, hole]}}
    (tmp_path / "a.geojson").write_text(json.dumps(place))
    assert hc.Polygon.from_file(tmp_path / "a.geojson").area == pytest.approx(1.75)
    (tmp_path / "b.svg").write_text('<svg><path fill="x" d="M0,0 h2 v1 L0 1z m.5 .25 h.5v.5h-.5z"/></svg>')
    assert hc.Polygon.from_file(tmp_path / "b.svg").area == pytest.approx(1.75)
    (tmp_path / "c.svg").write_text("<svg><path d='M0 0 C 0 1 1 1 1 0 Z'/></svg>")
    assert hc.Polygon.from_file(tmp_path / "c.svg").area == pytest.approx(0.6, rel=0.01)
    for name, text, said in (
        ("d.json", "{", "neither GeoJSON nor SVG"),
        ("e.json", '{"type": "Point"}', "not a Polygon"),
        ("f.svg", "<svg><path d='M0 0 A 1 1 0 0 0 1 1'/></svg>", "command 'A'"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(hc.HcpinnError, match=said):
            hc.Polygon.from_file(tmp_path / name)


def test_a_picture_shows_parts_and_normals(tmp_path):
    path = hc.Polygon(L).plot(tmp_path / "l.png")
    assert path.stat().st_size > 5000


def heat(domain, boundary, **more):
    settings = {"horizon": 0.1, "rhs": lambda u: u.laplacian, "initial": lambda x, y: 0 * x}
    return hc.Problem(domain=domain, boundary=boundary, **(settings | more))


PLATE = hc.Box((0, 1), (0, 1)) - hc.Disk((0.5, 0.5), 0.2)


def test_conditions_by_part():
    problem = heat(PLATE, {"disk": hc.Dirichlet(0.0), "rest": hc.Neumann(lambda t, x: t * x)})
    kinds = {piece.part: piece.conditions[0][0].kind for piece in problem.pieces}
    assert kinds.pop("disk") == "Dirichlet"
    assert set(kinds.values()) == {"Neumann"}
    group = heat(
        hc.Polygon(L) - hc.Disk((-0.5, 0), 0.2), {"polygon": hc.Neumann(0.0), "disk": hc.Dirichlet(0.0)}
    )
    assert len(group.pieces) == 7


@pytest.mark.parametrize(
    ("boundary", "said"),
    [
        (hc.Periodic(), "no opposite ends"),
        ({"hole": hc.Dirichlet(0.0)}, "'hole', which is not a part of the domain: y.lower"),
        ({"disk": hc.Dirichlet(0.0)}, "has no condition on y.lower"),
        ((hc.Dirichlet(0.0), hc.Dirichlet(0.0)), "Give one condition"),
        (hc.Dirichlet(0.0, 1.0), "data for two ends"),
        (hc.Dirichlet(1.0), r"disagree on the part 'y.lower', at x = 0, y = 0: u\(0, ·\) = 0 but g = 1"),
        (hc.Dirichlet(1.0, jump=True), "agree, for jump=True is for the walls of boxes"),
        ([hc.Dirichlet(0.0), hc.Neumann(0.0)], "2 conditions on the part"),
        ({"disk": hc.Dirichlet(lambda t: t), "rest": hc.Dirichlet(lambda t, x: t / (x > 2))}, "not finite"),
        (
            {"x.lower": hc.Dirichlet(lambda t: t), "rest": hc.Dirichlet(0.0)},
            "where 'y.lower' and 'x.lower' meet",
        ),
    ],
)
def test_wrong_conditions_get_a_sentence(boundary, said):
    with pytest.raises(hc.HcpinnError, match=said):
        heat(PLATE, boundary)


def test_fingerprints_tell_shapes_and_conditions_apart():
    from hcpinn.equation import fingerprint

    boundaries = hc.Neumann(0.0), hc.Neumann(1.0), {"disk": hc.Dirichlet(0.0), "rest": hc.Neumann(0.0)}
    found = [fingerprint(heat(PLATE, b)) for b in boundaries]
    found += [fingerprint(heat(d, hc.Neumann(0.0))) for d in (hc.Disk(), hc.Disk(radius=2), hc.Polygon(L))]
    assert len(set(found)) == len(found)
    assert fingerprint(heat(hc.Disk(), hc.Neumann(0.0))) == found[3]


SOLIDS = {
    "ball": (lambda: hc.Ball((1, 0, 0), 2.0), 32 * np.pi / 3, 16 * np.pi),
    "cylinder": (lambda: hc.Cylinder((0, 1), 0.5, (1, 3)), np.pi / 2, 2.5 * np.pi),
    "shell": (lambda: (hc.Ball() - hc.Ball(radius=0.5)).scale(2.0).move(0, 0, 1), 28 * np.pi / 3, 20 * np.pi),
    "nut": (
        lambda: hc.Box((0, 1), (0, 1), (0, 1)) - hc.Cylinder((0.5, 0.5), 0.25, (-1, 2)),
        1 - np.pi / 16,
        6 + np.pi * (0.5 - 0.125),
    ),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_solids_know_their_points_measures_and_normals(name):
    make, volume, area = SOLIDS[name]
    solid = make()
    assert solid.volume == pytest.approx(volume, rel=2e-3)
    assert sum(solid.extent(part) for part in solid.parts) == pytest.approx(area, rel=2e-2)
    points = solid.inside(np.random.default_rng(0).random((500, 3)))
    assert solid.contains(points).all()
    assert solid.edge_factor(solid.parts, points).min() > 0
    total = 0.0
    for part in solid.parts:
        on, weights, normals = solid.boundary_quadrature(part, 2000)
        assert np.abs(solid.edge_factor(solid.parts, on)).max() < 1e-12
        assert np.allclose(np.stack(solid.normal(part, on), 1), normals)
        assert not solid.contains(on + 1e-6 * normals).any()
        total += float(weights @ (on * normals).sum(1))
    assert total == pytest.approx(3 * volume, rel=2e-2)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: hc.Ball() & hc.Ball((5, 0, 0)), "empty"),
        (lambda: hc.Ball() | hc.Ball((1, 0, 0)), "no union"),
        (lambda: hc.Ball() - hc.Disk(), "3 and 2 dimensions"),
        (lambda: hc.Ball(radius=0), "radius of a ball"),
        (lambda: hc.Cylinder(height=(1, 0)), "no inside from z = 1 to 0"),
    ],
)
def test_hostile_solids_get_a_sentence(make, said):
    with pytest.raises(hc.HcpinnError, match=said):
        make()


def test_a_mask_counts_the_boundary_in():
    plate = hc.Box((0, 1), (0, 1)) - hc.Disk((0.5, 0.5), 0.25)
    axis = np.linspace(0, 1, 9)
    mesh = np.stack([m.ravel() for m in np.meshgrid(axis, axis, indexing="ij")], axis=1)
    away = np.hypot(*(mesh - 0.5).T)
    assert np.array_equal(plate.mask(mesh), away >= 0.25)


def test_a_gate_may_be_made_while_a_function_is_traced():
    egg = hc.Implicit(lambda x, y: 1 - x**2 - (1 + 0.3 * x) * y**2, ((-2, 2), (-2, 2)))
    points = egg.inside(np.random.default_rng(0).random((5, 2)))
    found = jax.jit(lambda p: egg.edge_factor(egg.parts, p))(jnp.asarray(points))
    assert np.allclose(found, egg.edge_factor(egg.parts, points), rtol=1e-5)


def test_no_point_of_a_union_is_without_weight():
    keyhole = hc.Disk() | hc.Box((-0.3, 0.3), (-2, 0))
    assert (keyhole.quadrature(660)[1] > 0).all()
