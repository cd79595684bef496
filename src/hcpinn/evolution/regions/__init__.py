"""Evolution on curved domains: features of all coordinates at once."""

from .basis import RegionBasis
from .function import RegionFunction
from .passes import RegionSpace
from .system import RegionSystem

__all__ = ["RegionBasis", "RegionFunction", "RegionSpace", "RegionSystem"]
