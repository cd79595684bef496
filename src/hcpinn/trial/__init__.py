"""The function that is trained, and its parts."""

from .embedding import Embedding, Fourier, Plain
from .gate import CustomGate, Gate, LinearGate
from .lift import CustomLift, Decay, Lift
from .network import MLP, CustomNetwork, JetNetwork, Network
from .trial import Fixed, Trial, without_zeros

__all__ = [
    "MLP",
    "CustomGate",
    "CustomLift",
    "CustomNetwork",
    "Decay",
    "Embedding",
    "Fixed",
    "Fourier",
    "Gate",
    "JetNetwork",
    "Lift",
    "LinearGate",
    "Network",
    "Plain",
    "Trial",
    "without_zeros",
]
