"""The study of Hao, Liu, Braga-Neto, Wang and Zhong: its rows and rivals, its figures, claims and page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING

from ...catalog import Extension
from . import rivals
from .ablation import ABLATION, baseline, best_settings

if TYPE_CHECKING:
    from ...study import Results, Study, StudyPage

PAGE = "hao2026"
"""What stores call the page of this study."""


def _studies() -> Mapping[str, Callable[[], Study]]:
    from .studies import named

    return named()


def _page(results: Results) -> StudyPage:
    from .paper_page import PaperPage

    return PaperPage(results)


def _theory() -> ModuleType:
    from .theory import stored

    return stored


EXTENSION = Extension(
    methods={
        "paper": best_settings,
        "baseline": baseline,
        "causal": rivals.causal,
        "rba": rivals.rba,
        "causal-50k": rivals.causal_50k,
        "rba-50k": rivals.rba_50k,
        "cinn": rivals.cinn,
    },
    switches=(ABLATION,),
    studies=_studies,
    pages={PAGE: _page},
    theory=_theory,
)
