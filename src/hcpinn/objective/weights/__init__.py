"""Rules for the weights of points, one file each."""

from .attention import Attention as Attention
from .causal import Causal as Causal
from .rule import WeightRule as WeightRule
from .self_adaptive import SelfAdaptive as SelfAdaptive
