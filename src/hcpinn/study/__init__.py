"""Studies: problems × methods × seeds as one resumable job, kept in a store."""

from .compare import Agreement as Agreement, Comparison as Comparison, Pair as Pair, compare as compare
from .declaration import Section as Section, Study as Study
from .from_toml import (
    find_study as find_study,
    grid as grid,
    load_study as load_study,
    named_studies as named_studies,
)
from .page import StudyPage as StudyPage
from .recheck import Recheck as Recheck, recheck as recheck
from .record import Record as Record, run_key as run_key
from .report import write_report as write_report, write_tables as write_tables
from .results import Results as Results, read_results as read_results
from .runner import Tally as Tally, run_study as run_study
from .store import Store as Store
from .tables import Table as Table, study_tables as study_tables
from .watch import Watch as Watch
