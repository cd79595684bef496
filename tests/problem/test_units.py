"""Units named by a problem: on axes, in files, and for quantities of pint."""

import numpy as np
import pytest

import hcpinn as hc


def rod(**changes):
    settings = {
        "domain": hc.Interval(0, 10),
        "horizon": 2.0,
        "rhs": lambda u, k, r: k * u.xx - r * u,
        "initial": lambda x: np.cos(np.pi * x / 5),
        "parameters": {"k": 3.0, "r": 0.1},
        "units": {"t": "ms", "x": "um", "u": "K"},
    }
    return hc.Problem(**settings | changes)


def test_axes_of_figures_and_files_show_the_units(tmp_path):
    problem = rod(horizon=0.01)
    solution = hc.solve(problem, hc.Evolution(features=24), reference=False)
    [panel] = solution.plot().axes
    assert (panel.get_xlabel(), panel.get_ylabel()) == (problem.label("t"), problem.label("x"))
    assert panel.get_title() == problem.label("u")
    assert "ms" in panel.get_xlabel()
    for found in (
        solution.to_xarray(3, 5),
        pytest.importorskip("xarray").open_dataset(solution.export(tmp_path / "a.nc", 3, 5)),
    ):
        assert {name: found[name].attrs["units"] for name in ("t", "x", "u")} == problem.units


def test_a_text_keeps_the_units():
    again = hc.parse_problem(rod().to_text())
    assert again.units == rod().units


def test_the_parts_of_a_complex_field_have_its_unit():
    problem = hc.Problem(
        domain=hc.Interval(0, 1), horizon=1.0, rhs=lambda psi: 1j * psi.xx, initial=1.0, units={"psi": "m"}
    )
    assert [problem.label(name) for name in problem.components] == ["real(psi) (m)", "imag(psi) (m)"]


def test_a_unit_of_something_unknown_is_refused():
    with pytest.raises(hc.HcpinnError, match="units gives 'm' for 'y', but there are t, x, u, k, r"):
        rod(units={"y": "m"})


@pytest.fixture
def unit():
    return pytest.importorskip("pint").get_application_registry()


def test_quantities_become_numbers_in_the_units_of_the_problem(unit):
    problem = rod(horizon=0.002 * unit.s, parameters={"k": 3 * unit.mm**2 / unit.s, "r": 100 / unit.s})
    assert problem.horizon == pytest.approx(2.0)
    assert dict(problem.parameters) == pytest.approx({"k": 3000.0, "r": 0.1})
    other = problem.with_parameters(k=1 * unit.m**2 / unit.hour, horizon=1 * unit.us)
    assert other.parameters["k"] == pytest.approx(1e12 / 3.6e6)
    assert other.horizon == pytest.approx(1e-3)
    assert problem.label("x") == "x (µm)"


def test_a_quantity_that_the_units_cannot_express_is_refused(unit):
    with pytest.raises(hc.HcpinnError, match=r"k = 3 kilogram cannot be converted.*t: ms, x: um, u: K"):
        rod(parameters={"k": 3 * unit.kg, "r": 0.1})
    with pytest.raises(hc.HcpinnError, match="The unit 'parrot' of x means nothing to pint"):
        rod(units={"x": "parrot"})
