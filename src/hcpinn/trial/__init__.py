"""The function that is trained, and its parts."""

from .embedding import (
    Characteristic as Characteristic,
    Embedding as Embedding,
    Even as Even,
    Fourier as Fourier,
    Plain as Plain,
)
from .gate import (
    CustomGate as CustomGate,
    ExponentialGate as ExponentialGate,
    Gate as Gate,
    LinearGate as LinearGate,
    NoGate as NoGate,
)
from .lift import CustomLift as CustomLift, Decay as Decay, Lift as Lift, NoLift as NoLift
from .network import (
    MLP as MLP,
    CustomNetwork as CustomNetwork,
    JetNetwork as JetNetwork,
    LayeredNetwork as LayeredNetwork,
    ModifiedMLP as ModifiedMLP,
    Network as Network,
)
from .pieces import holding as holding
from .semigroup import Semigroup as Semigroup, has_waves as has_waves
from .trial import (
    Fixed as Fixed,
    MarchedTrial as MarchedTrial,
    Trial as Trial,
    derivative_of as derivative_of,
    jet_of as jet_of,
    make_trial as make_trial,
    march as march,
    without_zeros as without_zeros,
)
from .walls import OpenCondition as OpenCondition, Walls as Walls
