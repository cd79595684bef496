"""The function that is trained, and its parts."""

from .embedding import Characteristic, Embedding, Fourier, Plain
from .gate import CustomGate, ExponentialGate, Gate, LinearGate, NoGate
from .lift import CustomLift, Decay, Lift, NoLift
from .network import MLP, CustomNetwork, FusedMLP, JetNetwork, ModifiedMLP, Network, quicken
from .part import Condition
from .semigroup import Semigroup, has_waves
from .trial import Fixed, MarchedTrial, Trial, jet_of, march, without_zeros

__all__ = [
    "MLP",
    "Characteristic",
    "Condition",
    "CustomGate",
    "CustomLift",
    "CustomNetwork",
    "Decay",
    "Embedding",
    "ExponentialGate",
    "Fixed",
    "Fourier",
    "FusedMLP",
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
    "Semigroup",
    "Trial",
    "has_waves",
    "jet_of",
    "march",
    "quicken",
    "without_zeros",
]
