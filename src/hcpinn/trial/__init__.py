"""The function that is trained, and its parts."""

from .checks import OpenCondition
from .embedding import Characteristic, Embedding, Fourier, Plain
from .gate import CustomGate, ExponentialGate, Gate, LinearGate, NoGate
from .lift import CustomLift, Decay, Lift, NoLift
from .network import MLP, CustomNetwork, JetNetwork, LayeredNetwork, ModifiedMLP, Network
from .semigroup import Semigroup, has_waves
from .trial import Fixed, MarchedTrial, Trial, derivative_of, jet_of, make_trial, march, without_zeros

__all__ = [
    "MLP",
    "Characteristic",
    "CustomGate",
    "CustomLift",
    "CustomNetwork",
    "Decay",
    "Embedding",
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
    "derivative_of",
    "has_waves",
    "jet_of",
    "make_trial",
    "march",
    "without_zeros",
]
