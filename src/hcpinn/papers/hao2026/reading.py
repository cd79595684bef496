"""How to read the paper's page."""

from __future__ import annotations

import tomllib
from importlib.resources import files

from ...study.elements import facts

_CARDS = tomllib.loads(files("hcpinn.papers.hao2026").joinpath("reading.toml").read_text("utf-8"))["card"]

READING = f'<div class="facts">{"".join(facts(**card) for card in _CARDS)}</div>'
