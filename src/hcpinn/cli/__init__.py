"""The command line: one file per command, each of which joins the program in `app`."""

from . import bench, catalogue, new, pack, recheck, report, show, solve, study, theory
from .app import app, main

__all__ = [
    "app",
    "bench",
    "catalogue",
    "main",
    "new",
    "pack",
    "recheck",
    "report",
    "show",
    "solve",
    "study",
    "theory",
]
