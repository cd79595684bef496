"""Unknowns from measurements, with their uncertainty."""

from .fit import fit
from .measurements import Measurements
from .result import Estimate, Fit, FitVerdict
from .unknown import Unknown

__all__ = ["Estimate", "Fit", "FitVerdict", "Measurements", "Unknown", "fit"]
