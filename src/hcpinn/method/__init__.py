"""How to train, as a value."""

from .declaration import Method
from .text import from_dict, to_dict

__all__ = ["Method", "from_dict", "to_dict"]
