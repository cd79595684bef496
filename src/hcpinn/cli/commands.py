"""All commands: each joins the program in `app`."""

from . import (
    bench as bench,
    catalogue as catalogue,
    export as export,
    fit as fit,
    new as new,
    recheck as recheck,
    report as report,
    show as show,
    solve as solve,
    study as study,
    theory as theory,
)
from .app import app as app, run as run
