"""Shapes: curved domains in the plane and in space, and their combinations."""

from .combine import combined
from .plane import Annulus, Disk, Ellipse, Implicit, Polygon
from .region import Region
from .solid import Ball, Cylinder, Solid

__all__ = [
    "Annulus",
    "Ball",
    "Cylinder",
    "Disk",
    "Ellipse",
    "Implicit",
    "Polygon",
    "Region",
    "Solid",
    "combined",
]
