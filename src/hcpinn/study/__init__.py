"""Studies: problems × methods × seeds as one resumable job, kept in a store."""

from .declaration import Section, Study
from .record import Record, run_key
from .store import Store

__all__ = ["Record", "Section", "Store", "Study", "run_key"]
