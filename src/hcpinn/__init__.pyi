"""The public names of hcpinn, listed once. `__init__.py` loads each when it is first used."""

from .catalog import (
    find_method as find_method,
)
from .catalog import (
    find_problem as find_problem,
)
from .descent import (
    LBFGS as LBFGS,
)
from .descent import (
    Adam as Adam,
)
from .descent import (
    Broyden as Broyden,
)
from .descent import (
    Constant as Constant,
)
from .descent import (
    Cosine as Cosine,
)
from .descent import (
    Curriculum as Curriculum,
)
from .descent import (
    Exponential as Exponential,
)
from .descent import (
    LevenbergMarquardt as LevenbergMarquardt,
)
from .descent import (
    Method as Method,
)
from .descent import (
    Resampling as Resampling,
)
from .descent import (
    Run as Run,
)
from .descent import (
    load_method as load_method,
)
from .descent import (
    save_method as save_method,
)
from .errors import (
    HcpinnError as HcpinnError,
)
from .machine.programs import (
    keep_programs as keep_programs,
)
from .objective import (
    Attention as Attention,
)
from .objective import (
    Batches as Batches,
)
from .objective import (
    BoundaryPenalty as BoundaryPenalty,
)
from .objective import (
    Causal as Causal,
)
from .objective import (
    DataPenalty as DataPenalty,
)
from .objective import (
    InitialPenalty as InitialPenalty,
)
from .objective import (
    PeriodicPenalty as PeriodicPenalty,
)
from .objective import (
    SelfAdaptive as SelfAdaptive,
)
from .problem import (
    Box as Box,
)
from .problem import (
    Dirichlet as Dirichlet,
)
from .problem import (
    Interval as Interval,
)
from .problem import (
    Neumann as Neumann,
)
from .problem import (
    Periodic as Periodic,
)
from .problem import (
    Problem as Problem,
)
from .problem import (
    Robin as Robin,
)
from .problem import (
    apply as apply,
)
from .reference import (
    Reference as Reference,
)
from .reference import (
    solve_reference as solve_reference,
)
from .solution import (
    Solution as Solution,
)
from .solution import (
    Verdict as Verdict,
)
from .solution import (
    load as load,
)
from .solving import (
    solve as solve,
)
from .solving import (
    solve_batch as solve_batch,
)
from .trial import (
    MLP as MLP,
)
from .trial import (
    Characteristic as Characteristic,
)
from .trial import (
    CustomGate as CustomGate,
)
from .trial import (
    CustomLift as CustomLift,
)
from .trial import (
    CustomNetwork as CustomNetwork,
)
from .trial import (
    Decay as Decay,
)
from .trial import (
    ExponentialGate as ExponentialGate,
)
from .trial import (
    Fourier as Fourier,
)
from .trial import (
    LinearGate as LinearGate,
)
from .trial import (
    ModifiedMLP as ModifiedMLP,
)
from .trial import (
    NoGate as NoGate,
)
from .trial import (
    NoLift as NoLift,
)
from .trial import (
    Plain as Plain,
)
from .trial import (
    Semigroup as Semigroup,
)

__version__: str
__all__: list[str]
