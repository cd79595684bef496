"""How to train, as a value."""

from .budget import with_budget
from .declaration import Method
from .schedule import Curriculum, Resampling
from .text import from_dict, from_toml, load_method, save_method, to_dict, to_toml

__all__ = [
    "Curriculum",
    "Method",
    "Resampling",
    "from_dict",
    "from_toml",
    "load_method",
    "save_method",
    "to_dict",
    "to_toml",
    "with_budget",
]
