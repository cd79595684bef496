"""Unknowns from measurements, with their uncertainty."""

from .curve import UnknownFunction
from .fit import fit
from .measurements import Measurements
from .result import CurveEstimate, Estimate, Fit, FitVerdict
from .storage import load_fit

__all__ = [
    "CurveEstimate",
    "Estimate",
    "Fit",
    "FitVerdict",
    "Measurements",
    "UnknownFunction",
    "fit",
    "load_fit",
]
