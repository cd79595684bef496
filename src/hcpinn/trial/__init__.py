"""The function that is trained, and its parts."""

from .checks import OpenCondition
from .embedding import Characteristic, Embedding, Even, Fourier, Plain
from .gate import CustomGate, ExponentialGate, Gate, LinearGate, NoGate
from .lift import CustomLift, Decay, Lift, NoLift
from .network import MLP, CustomNetwork, JetNetwork, LayeredNetwork, ModifiedMLP, Network
from .semigroup import Semigroup, has_waves
from .trial import Fixed, MarchedTrial, Trial, derivative_of, jet_of, make_trial, march, without_zeros
from .walls import Walls

__all__ = [
    "MLP",
    "Characteristic",
    "CustomGate",
    "CustomLift",
    "CustomNetwork",
    "Decay",
    "Embedding",
    "Even",
    "ExponentialGate",
    "Fixed",
    "Fourier",
    "Gate",
    "JetNetwork",
    "LayeredNetwork",
    "Lift",
    "LinearGate",
    "MarchedTrial",
    "ModifiedMLP",
    "Network",
    "NoGate",
    "NoLift",
    "OpenCondition",
    "Plain",
    "Semigroup",
    "Trial",
    "Walls",
    "derivative_of",
    "has_waves",
    "jet_of",
    "make_trial",
    "march",
    "without_zeros",
]
