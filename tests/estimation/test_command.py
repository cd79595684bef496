"""`hcpinn fit`: a table and a problem as text in, fit.json out."""

import json

import numpy as np

from command_line import assert_refused, hcpinn

TEXT = """
name = "decay"
equation = "u_t = k u_xx - r u"
domain = { x = [-1, 1] }
horizon = 1.0
initial = "1 + sin(pi x)"
[parameters]
k = "0.01..1 log"
r = 1.0
"""


def test_a_problem_as_text_and_a_table_give_fit_json(tmp_path):
    rng = np.random.default_rng(0)
    t, x = rng.random(100), rng.uniform(-1, 1, 100)
    u = np.exp(-t) * (1 + np.exp(-0.05 * np.pi**2 * t) * np.sin(np.pi * x)) + 0.02 * rng.standard_normal(100)
    np.savetxt(tmp_path / "u.csv", np.c_[t, x, u], delimiter=",", header="t,x,u", comments="")
    (tmp_path / "decay.toml").write_text(TEXT)
    data = ("--data", tmp_path / "u.csv", "--starts", 1, "--out", tmp_path / "out")
    code, out, _ = hcpinn("fit", tmp_path / "decay.toml", *data)
    assert code == 0, out
    found = json.loads((tmp_path / "out" / "fit.json").read_text())
    estimate = found["estimates"]["k"]
    assert estimate["interval"][0] < estimate["value"] < estimate["interval"][1]
    assert abs(estimate["value"] - 0.05) < 4 * estimate["error"]
    assert found["verdict"] == "reliable"
    assert found["noise"]["u"] > 0
    assert {p.name for p in (tmp_path / "out").iterdir()} == {
        "fit.json",
        "solution.npz",
        "data.png",
        "corner.png",
    }


def test_nonsense_is_answered_in_one_sentence(tmp_path):
    (tmp_path / "u.csv").write_text("t,x,u\n0.5,0.1,1\n")
    data = ("--data", tmp_path / "u.csv", "--out", tmp_path / "out")
    code, _, said = hcpinn("fit", "allen-cahn-2", *data)
    assert_refused(code, said, "no unknowns")
    code, _, said = hcpinn("fit", "allen-cahn-2", *data, "--unknown", "gamma1=a..b")
    assert_refused(code, said, "NAME=GUESS", "gamma1=a..b")
    code, _, said = hcpinn("fit", "allen-cahn-2", "--data", tmp_path / "none.csv", "--unknown", "gamma1=0.1")
    assert_refused(code, said, "none.csv")
