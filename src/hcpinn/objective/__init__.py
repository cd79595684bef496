"""What training makes small."""

from .objective import Data, Objective, chunk_size, stack
from .residual import residual

__all__ = ["Data", "Objective", "chunk_size", "residual", "stack"]
