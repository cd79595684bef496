"""Studies: problems × methods × seeds as one resumable job, kept in a store."""

from .agreement import Agreement, Pair
from .compare import Comparison, compare
from .declaration import Section, Study
from .from_toml import grid, load_study
from .named import find_study, named_studies
from .page import StudyPage
from .recheck import Recheck, recheck
from .record import Record, run_key
from .report import write_report, write_tables
from .results import Results, read_results
from .runner import Tally, run_study
from .store import Store
from .tables import Table, study_tables
from .watch import Watch

__all__ = [
    "Agreement",
    "Comparison",
    "Pair",
    "Recheck",
    "Record",
    "Results",
    "Section",
    "Store",
    "Study",
    "StudyPage",
    "Table",
    "Tally",
    "Watch",
    "compare",
    "find_study",
    "grid",
    "load_study",
    "named_studies",
    "read_results",
    "recheck",
    "run_key",
    "run_study",
    "study_tables",
    "write_report",
    "write_tables",
]
