"""The function that is trained, and its parts."""

from .embedding import Characteristic, Embedding, Fourier, Plain
from .gate import CustomGate, Gate, LinearGate, NoGate
from .lift import CustomLift, Decay, Lift, NoLift
from .network import MLP, CustomNetwork, JetNetwork, ModifiedMLP, Network
from .part import Condition
from .trial import Fixed, MarchedTrial, Trial, march, without_zeros

__all__ = [
    "MLP",
    "Characteristic",
    "Condition",
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
    "MarchedTrial",
    "ModifiedMLP",
    "Network",
    "NoGate",
    "NoLift",
    "Plain",
    "Trial",
    "march",
    "without_zeros",
]
