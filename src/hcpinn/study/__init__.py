"""Studies: problems × methods × seeds as one resumable job, kept in a store."""

from .declaration import Section, Study
from .paper import find_study, paper, ready_made
from .record import Record, run_key
from .runner import Report, run_study
from .store import Store
from .text import grid, load_study
from .watch import Watch

__all__ = [
    "Record",
    "Report",
    "Section",
    "Store",
    "Study",
    "Watch",
    "find_study",
    "grid",
    "load_study",
    "paper",
    "ready_made",
    "run_key",
    "run_study",
]
