"""Shapes: curved domains in the plane and in space, and how they are put together."""

from .combine import combined
from .plane import Annulus, Disk, Ellipse, Implicit, Polygon
from .region import Region

__all__ = ["Annulus", "Disk", "Ellipse", "Implicit", "Polygon", "Region", "combined"]
