"""The command line: one file per command, each of which joins the program in `app`."""

from . import bench, catalogue, pack, recheck, report, solve, study, theory
from .app import app, main

__all__ = ["app", "bench", "catalogue", "main", "pack", "recheck", "report", "solve", "study", "theory"]
