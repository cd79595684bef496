"""What running F teaches about an equation: derivatives used, linear part, growth, fingerprint."""

from .code import content_of
from .fingerprint import fingerprint
from .growth import growth_rate
from .scan import scan
from .split import split

__all__ = ["content_of", "fingerprint", "growth_rate", "scan", "split"]
