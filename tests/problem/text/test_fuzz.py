"""Malformed texts: every one gets a sentence with line and column, and none runs anything."""

import random
import re
from pathlib import Path

import pytest

import hcpinn as hc
from hcpinn.problem.text.places import TextError

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.toml"))
SPLINTERS = [*"()[]{}|^*/+-=<>_.,\"'#\\$@!?;:&%~`", "\x00", "²", "₂", "λ", "é", "😀", "1e999", "9^9^9^9", " 2 3 ", "u_t", "\n", '"""', "[[", "]]", "eval(", "import os", "__", "nan", "i", "\u202e"]  # fmt: skip
PLACE = re.compile(r", line (\d+), column (\d+): .+[.?]\n", re.DOTALL)


def malformed(count):
    """Texts of the examples with one to three splinters in them, or a piece cut out or said twice."""
    rng = random.Random(7)
    for number in range(count):
        text = EXAMPLES[number % len(EXAMPLES)].read_text()
        begin = text.index("equation")
        for _ in range(rng.choice([1, 1, 2, 3])):
            at = rng.randrange(begin, len(text))
            end = min(len(text), at + rng.randrange(1, 12))
            kind = rng.randrange(4)
            if kind == 0:
                text = text[:at] + rng.choice(SPLINTERS) + text[at:]
            elif kind == 1:
                text = text[:at] + text[end:]
            elif kind == 2:
                text = text[:at] + text[at:end] + text[at:]
            else:
                text = text[:at] + rng.choice(SPLINTERS) + text[end:]
        yield text


def refusal(text):
    """What is said of a text; None if nothing is wrong with it but perhaps its mathematics."""
    try:
        hc.parse_problem(text, source="f.toml", folder=EXAMPLES[0].parent)
    except TextError as error:
        return str(error)
    return None


def test_two_hundred_malformed_texts_each_get_a_sentence_with_line_and_column(monkeypatch):
    monkeypatch.setattr("hcpinn.problem.text.read.Problem", lambda **settings: None)
    refused = 0
    for text in malformed(600):
        said = refusal(text)
        if said is None:
            continue
        found = PLACE.search(said)
        assert found, said
        line, column = map(int, found.groups())
        lines = text.split("\n")
        assert 1 <= line <= len(lines)
        assert 1 <= column <= len(lines[line - 1]) + 1
        refused += 1
    assert refused >= 200


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"\x80" * 10, b"a = 1\nequation = '\xe9'"])
def test_bytes_that_are_no_text_have_a_place_too(content, tmp_path):
    (tmp_path / "p.toml").write_bytes(content)
    with pytest.raises(hc.HcpinnError, match=r"line \d+, column \d+: This is not text"):
        hc.read_problem(tmp_path / "p.toml")


def test_nothing_is_run(tmp_path):
    mark = tmp_path / "ran"
    for attempt in (
        f"__import__('os').system('touch {mark}')",
        f"open('{mark}', 'w')",
        f"exec(\"open('{mark}','w')\")",
    ):
        for line in ('equation = "u_t = {}"', 'equation = "u_t = u"\ninitial = "{}"', "x = {}"):
            with pytest.raises(TextError):
                hc.parse_problem(
                    line.format(attempt.replace('"', '\\"')) + "\ndomain = [0, 1]\nhorizon = 1\n"
                )
    assert not mark.exists()
