"""`hcpinn report`: what the page of a study holds, and how it behaves in a browser."""

import dataclasses
import io
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

import hcpinn as hc
import page_checks
from browser import Browser
from hcpinn.cli.commands import run
from hcpinn.errors import FileError, UnknownNameError
from hcpinn.study import (
    Section,
    Store,
    Study,
    read_results,
    run_study,
    study_tables,
    write_report,
    write_tables,
)
from hcpinn.study.columns import Cell, Column
from hcpinn.study.fields import fields_of
from hcpinn.study.numbers import number
from hcpinn.study.origin import origin
from hcpinn.study.picture import small_png, to_svg
from hcpinn.study.report import page_text
from hcpinn.study.results import state
from hcpinn.study.tables import Table
from small_studies import DECAY, method, record as made_up, study

EXAMPLES = Path(__file__).parents[2] / "examples"
THE_PAPER = r"paper|Hao|published|claim|ablation|pbc|ic1|explanation"


@pytest.fixture(scope="module")
def burgers():
    """The problem of the example of that name, under a name of the reader's own."""
    sys.path.insert(0, str(EXAMPLES))
    try:
        import burgers
    finally:
        sys.path.remove(str(EXAMPLES))
    return dataclasses.replace(burgers.problem, name="my-burgers")


@pytest.fixture(scope="module")
def folder(burgers, tmp_path_factory):
    """A store with two methods from two seeds each, one failed run, and one that is still to come."""
    small = hc.Method(
        name="small",
        network=hc.MLP(6, 1),
        embedding=hc.Fourier(2),
        points=128,
        stages=(hc.Broyden(steps=40),),
    )
    slow = dataclasses.replace(small, name="slow", lift=hc.Decay(0.1))
    runs = [hc.Run(burgers, chosen, seed) for chosen in (small, slow) for seed in (0, 1)]
    broken = hc.Run(burgers, dataclasses.replace(small, name="broken", embedding=hc.Plain()))
    place = tmp_path_factory.mktemp("burgers")
    whole = Study("mine", "Two lifts <for> Burgers", (Section("lifts", "Lifts", (*runs, broken)),))
    run_study(whole, place)
    later = Section("lifts", "Lifts", (hc.Run(burgers, small, 7),))
    state(Store(place), dataclasses.replace(whole, sections=(later,)))
    return place


@pytest.fixture(scope="module")
def written(folder, tmp_path_factory):
    return write_report(folder, tmp_path_factory.mktemp("page") / "page.html")


@pytest.fixture(scope="module")
def browser(written, tmp_path_factory):
    opened = Browser(tmp_path_factory.mktemp("profile"))
    opened.window(1300)
    opened.open(written)
    yield opened
    opened.close()


def test_a_page_is_about_the_study_in_the_store_and_nothing_else(written, folder):
    text = written.read_text()
    assert "<h1>Two lifts &lt;for&gt; Burgers</h1>" in text
    assert "my-burgers" in text
    assert not re.search(THE_PAPER, re.sub(r"base64,[^\"]*", "", text), re.IGNORECASE)
    best = min(r.summary["rel_l2"]["u"] for r in Store(folder).records() if r.done)
    assert f"<b>{number(best)}</b><span>lowest relative L2 error" in text
    for fact in ("4</b>", "2 of 3", "1 failed", "periodic", "1 run of this study has not been run yet"):
        assert fact in text
    page_checks.check_whole(text)
    assert written.stat().st_size < 2e6


def test_a_page_shows_errors_losses_fields_and_profiles(written):
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", written.read_text())
    assert captions[0] == "Lifts: relative L2 errors"
    assert any(caption.startswith("Lifts: loss") for caption in captions)
    assert sum(caption.startswith("my-burgers, s") for caption in captions) == 2


def test_the_fields_of_every_run_are_known_without_its_declaration(folder, burgers):
    store = Store(folder)
    for record in store.records():
        shown = fields_of(store, record) if record.done else None
        if shown is not None:
            solution = store.solution(record.key, problem=burgers)
            again = solution.on_grid(shown.times, shown.x)["u"]
            np.testing.assert_allclose(shown.predicted["u"], again, atol=1e-6)
            error = np.linalg.norm(shown.exact["u"] - again) / np.linalg.norm(shown.exact["u"])
            assert error == pytest.approx(record.summary["rel_l2"]["u"], rel=0.2)
    assert sum(record.done for record in store.records()) == 4
    assert len(list((folder / "fields").iterdir())) == 4
    store.pack()
    assert not (folder / "fields").exists()
    assert fields_of(store, next(r for r in store.records() if r.done)) is not None


def test_problems_of_the_catalogue_keep_no_fields_of_their_own(tmp_path):
    run_study(study(hc.Run(hc.find_problem("advection").with_parameters(c=1), method())), tmp_path)
    assert not (tmp_path / "fields").exists()
    assert fields_of(Store(tmp_path), Store(tmp_path).records()[0]) is not None


def test_a_store_that_states_no_study_shows_its_runs_under_the_name_of_its_folder(tmp_path):
    store = Store.make(tmp_path / "old")
    store.keep(made_up(summary={"rel_l2": {"u": 0.1, "v": 0.2}, "verdict": "not converged"}))
    results = read_results(store)
    text = page_text(results)
    assert "<h1>old</h1>" in text
    assert "<code>decay</code>" in text
    assert "L2 of v error" in text
    assert "relative L2 error" in text


def test_studies_of_one_store_are_told_apart_and_sections_of_one_name_grow(tmp_path):
    store = Store.make(tmp_path)
    runs = [hc.Run(DECAY, method(), seed) for seed in (0, 1, 2)]
    state(store, study(*runs[:2], name="first"))
    state(store, study(*runs[1:], name="first"))
    state(store, dataclasses.replace(study(*runs, name="second"), page="elsewhere"))
    store.keep(made_up())
    results = read_results(store)
    assert [stated.title for stated in results.studies] == ["first", "second"]
    assert results.page == ""  # they do not agree
    ((line,),) = [section.lines for section in results.sections]
    assert len(line.keys) == 3
    assert "first, second" in page_text(results)


def test_runs_at_another_budget_have_a_row_of_their_own(tmp_path):
    long, short = method(), method(stages=(hc.Adam(steps=20, precision="float64"),))
    run_study(study(*(hc.Run(DECAY, short, seed) for seed in (0, 1))), tmp_path)
    state(Store(tmp_path), study(hc.Run(DECAY, long, 0)))
    (table,) = study_tables(read_results(tmp_path))
    assert [(len(row.done), row.expected) for row in table.rows] == [(2, 2), (0, 1)]
    (budgets,) = [column for column in table.columns if column.title == "budget"]
    assert [cell.text for cell in budgets.cells] == ["20 steps, 64 points", ""]


def test_a_page_that_nobody_registers_and_a_damaged_statement_are_answered_in_a_sentence(tmp_path):
    store = Store.make(tmp_path)
    store.keep(made_up())
    state(store, dataclasses.replace(study(hc.Run(DECAY, method())), page="nobodys"))
    with pytest.raises(UnknownNameError, match="no page of studies 'nobodys'"):
        write_report(tmp_path)
    section = {"name": "a", "title": "A", "lines": []}
    whole = {"name": "a", "title": "A", "page": "", "sections": [section]}
    for said in ([{}], {}, [{**whole, "title": 1}], [{**whole, "name": []}], [whole]):
        (tmp_path / "study.json").write_text(json.dumps({"kind": "study", "version": 1, "studies": said}))
        with pytest.raises(FileError, match=r"study\.json is damaged: it does not state a study"):
            write_report(tmp_path)


def test_device_time_is_shared_by_runs_that_trained_together():
    record = made_up(summary={"wall_s": 120.0}, trained_together=4)
    assert origin([record]).seconds == pytest.approx(120.0 / 4)


def test_tables_are_written_in_three_formats(folder, tmp_path):
    assert {path.name for path in write_tables(folder, tmp_path)} == {"lifts.md", "lifts.csv", "lifts.tex"}
    head, _, *lines = (tmp_path / "lifts.md").read_text().splitlines()
    assert head.startswith("| method | L2 error | L2 min–max |")
    assert [line.split(" | ")[0] for line in lines] == ["| small", "| slow", "| broken"]


def test_a_folder_that_is_no_store_is_refused(tmp_path):
    with pytest.raises(FileError, match="There is no folder"):
        write_report(tmp_path / "missing")
    with pytest.raises(FileError, match="is not a study's folder"):
        write_report(tmp_path)
    Store.make(tmp_path)
    with pytest.raises(FileError, match="holds no finished run yet"):
        write_report(tmp_path)
    marker = tmp_path / "store.json"
    marker.write_text(marker.read_text().replace('"version": 1', '"version": 99'))
    with pytest.raises(FileError, match="version 99"):
        write_report(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["store.json"]


def test_the_command_writes_page_and_tables_and_refuses_other_folders(folder, tmp_path, monkeypatch, capsys):
    wanted = [str(folder), "--out", str(tmp_path / "p.html"), "--tables", str(tmp_path / "t"), "--no-figures"]
    monkeypatch.setattr("sys.argv", ["hcpinn", "report", *wanted])
    with pytest.raises(SystemExit) as ended:
        run()
    assert not ended.value.code
    assert "<figure" not in (tmp_path / "p.html").read_text()
    assert (tmp_path / "t" / "lifts.csv").exists()
    monkeypatch.setattr("sys.argv", ["hcpinn", "report", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        run()
    assert ended.value.code == 2
    assert "is not a study's folder" in capsys.readouterr().err.replace("\n", " ")


def test_pictures_keep_their_pixels_in_256_colours():
    colours = np.arange(200, dtype=np.uint8).repeat(600).reshape(200, 200, 3)
    stream = io.BytesIO()
    Image.fromarray(colours).save(stream, format="PNG")
    small = small_png(stream.getvalue())
    assert len(small) <= len(stream.getvalue())
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(small)).convert("RGB")), colours)


def test_a_figure_takes_the_colours_of_the_page():
    figure = Figure()
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="black")
    svg = to_svg(figure, "a name")
    assert "currentColor" in svg
    assert "#000000" not in svg
    assert all(name.startswith("a-name-") for name in re.findall(r'\sid="([^"]+)"', svg))


def test_small_numbers_on_an_axis_keep_their_digits():
    figure = Figure()
    axes = figure.subplots()
    axes.set_yticks([0.0, 0.00025], ["0", "0.00025"])
    assert "0.00025</text>" in to_svg(figure, "small")


TABLE = "#lifts"


def shown(browser):
    return browser.run(
        f"Array.from(document.querySelectorAll('{TABLE} tbody tr')).filter((r) => !r.hidden).map((r) => r.cells[0].textContent)"
    )


def test_the_page_loads_offline_and_the_browser_has_nothing_to_say(browser):
    assert browser.run("document.title") == "Two lifts <for> Burgers"
    assert browser.run("document.querySelector('main').innerText.includes('my-burgers')")
    assert all(url.startswith(("file:", "data:")) for url in browser.requests)
    assert browser.messages == []


def test_headings_sort_up_and_down_with_what_is_missing_last(browser):
    heading = f"{TABLE} th:nth-child(2)"  # relative L2 errors
    browser.click(f"{heading} button")
    up = shown(browser)
    browser.press("Enter")  # the button has the focus
    assert browser.run(f"document.querySelector('{heading}').getAttribute('aria-sort')") == "descending"
    assert shown(browser) == [*up[1::-1], "broken"]
    assert up[2] == "broken"


def test_rows_are_filtered_by_words_and_by_verdict(browser):
    browser.click(f"{TABLE} input")
    browser.type("s l")
    assert sorted(shown(browser)) == ["slow", "small"]
    assert browser.run(f"document.querySelector('{TABLE} output').textContent") == "2 of 3 rows"
    browser.run(f"document.querySelector('{TABLE} input').value = ''")
    browser.run(
        f"(() => {{ const s = document.querySelector('{TABLE} select'); s.value = 'failed'; s.dispatchEvent(new Event('change')); }})()"
    )
    assert shown(browser) == ["broken"]


def test_figures_enlarge_turn_and_close_by_mouse_and_keys(browser):
    title = "document.querySelector('dialog p').textContent"
    browser.click("figure button")
    assert browser.run("document.querySelector('dialog').open && !!document.querySelector('dialog svg')")
    first = browser.run(title)
    larger = (
        "document.querySelector('dialog svg').clientWidth > document.querySelector('figure svg').clientWidth"
    )
    assert browser.run(larger)
    browser.press("ArrowRight")
    assert browser.run(title) != first
    browser.press("Escape")
    assert not browser.run("document.querySelector('dialog').open")
    assert browser.run("document.activeElement.closest('figure') !== null")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_both_schemes_and_fits_a_phone(browser, scheme):
    browser.media(prefers_color_scheme=scheme)
    ground = browser.run("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert (min(ground) > 128) == (scheme == "light")
    assert browser.run(page_checks.CONTRAST) >= 4.5
    browser.window(390, 800)
    assert browser.run("document.documentElement.scrollWidth") <= 390
    assert browser.run("!document.querySelector('nav details').open")
    browser.window(1300)
    assert browser.messages == []


def test_no_cell_of_a_table_is_a_formula():
    cells = (Cell("a", "=cmd|'/c calc'!A0"), Cell("b", -1.5), Cell("c", "@sum"), Cell("d"))
    table = Table("t", "t", "", (), (Column("+title", cells),))
    assert table.csv().splitlines() == ["'+title", "'=cmd|'/c calc'!A0", "-1.5", "'@sum", '""']
