"""Studies: problems × methods × seeds as one resumable job, kept in a store."""

from ..papers.hao2026.claimed import CLAIMS
from ..papers.hao2026.claims import Claim, Finding, Status, judge, our_evidence, published_evidence
from ..papers.hao2026.paper import paper
from .agreement import Agreement, Pair
from .comparison import Comparison, compare
from .declaration import Section, Study
from .ready import find_study, ready_made
from .recheck import Recheck, recheck
from .record import Record, run_key
from .report import write_report, write_tables
from .runner import Report, run_study
from .store import Store
from .tables import Table, read_tables
from .text import grid, load_study
from .watch import Watch

__all__ = [
    "CLAIMS",
    "Agreement",
    "Claim",
    "Comparison",
    "Finding",
    "Pair",
    "Recheck",
    "Record",
    "Report",
    "Section",
    "Status",
    "Store",
    "Study",
    "Table",
    "Watch",
    "compare",
    "find_study",
    "grid",
    "judge",
    "load_study",
    "our_evidence",
    "paper",
    "published_evidence",
    "read_tables",
    "ready_made",
    "recheck",
    "run_key",
    "run_study",
    "write_report",
    "write_tables",
]
