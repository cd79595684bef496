"""The study of optimisers: runs that differ in their optimiser alone, and a page with their curves."""

import dataclasses

import numpy as np
import pytest
from matplotlib.collections import LineCollection

import hcpinn as hc
from hcpinn.study import Store, find_study, read_results
from hcpinn.study.optimisers import OPTIMISERS, curves_figure
from hcpinn.study.report import page_parts, page_text
from hcpinn.study.results import state
from small_studies import record


@pytest.fixture(scope="module")
def whole():
    return find_study("optimisers")


def test_runs_of_a_problem_differ_in_their_optimiser_alone(whole):
    for section in whole.sections:
        bare = {repr(dataclasses.replace(run.method, name="", stages=(hc.Adam(),))) for run in section.runs}
        problems = {id(run.problem) for run in section.runs}
        stages = {run.method.stages for run in section.runs}
        assert (len(bare), len(problems), len(stages)) == (1, 1, 3 * len(OPTIMISERS))


def test_its_page_shows_medians_over_seeds_against_seconds_and_steps(whole, tmp_path):
    part = whole.only(problems=["allen-cahn-2"], methods=["Adam"])
    store = Store.make(tmp_path)
    state(store, part)
    (section,) = part.sections
    for run, key in zip(section.runs, section.keys, strict=True):
        (stage,) = run.method.stages
        error = (1.0, 2.0, 9.0)[run.seed] / stage.steps
        summary = {"rel_l2": {"u": error}, "steps": stage.steps, "verdict": "not converged"}
        about = {"key": key, "problem": "allen-cahn-2", "method": "Adam", "seed": run.seed, "history": {}}
        store.keep(record(**about, summary=summary, device_s=stage.steps / 100))
    results = read_results(store)
    against_seconds, against_steps = curves_figure(page_parts(results).tables[0].rows).axes
    assert np.array(against_steps.lines[0].get_xydata()).tolist() == [[n, 2 / n] for n in (500, 2000, 8000)]
    assert np.array(against_seconds.lines[0].get_xdata()).tolist() == [5, 20, 80]
    (bars,) = against_steps.collections
    assert isinstance(bars, LineCollection)
    assert [np.array(segment)[:, 1].tolist() for segment in bars.get_segments()] == [
        [1 / n, 9 / n] for n in (500, 2000, 8000)
    ]
    assert "Error against seconds and steps" in page_text(results)
