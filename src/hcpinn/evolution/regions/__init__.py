"""Evolution on curved domains: features of all coordinates at once."""

from .function import RegionFunction
from .passes import RegionSpace

__all__ = ["RegionFunction", "RegionSpace"]
