"""What running F teaches about an equation: derivatives used, linear part, growth, fingerprint."""

from .closure import unclosed as unclosed
from .code import content_of as content_of
from .fingerprint import fingerprint as fingerprint
from .growth import growth_rate as growth_rate
from .scan import scan as scan
from .split import split as split
