"""Rules for the weights of points, one file each."""

from .attention import Attention
from .causal import Causal
from .rule import WeightRule
from .self_adaptive import SelfAdaptive

__all__ = ["Attention", "Causal", "SelfAdaptive", "WeightRule"]
