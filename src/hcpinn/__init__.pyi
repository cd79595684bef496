"""The public names of hcpinn, listed once. `__init__.py` loads each when it is first used."""

from .catalog import (
    find_method as find_method,
    find_problem as find_problem,
)
from .descent import (
    Adam as Adam,
    Broyden as Broyden,
    Constant as Constant,
    Cosine as Cosine,
    Curriculum as Curriculum,
    Exponential as Exponential,
    Growth as Growth,
    LBFGS as LBFGS,
    LevenbergMarquardt as LevenbergMarquardt,
    Method as Method,
    Projected as Projected,
    Status as Status,
    Resampling as Resampling,
    Run as Run,
    SOAP as SOAP,
    SketchedGaussNewton as SketchedGaussNewton,
    load_method as load_method,
    save_method as save_method,
)
from .errors import (
    HcpinnError as HcpinnError,
)
from .estimation import (
    CurveEstimate as CurveEstimate,
    Estimate as Estimate,
    Fit as Fit,
    FitVerdict as FitVerdict,
    Measurements as Measurements,
    UnknownFunction as UnknownFunction,
    fit as fit,
    load_fit as load_fit,
)
from .evolution import (
    Evolution as Evolution,
)
from .family import (
    parameters_as_inputs as parameters_as_inputs,
)
from .machine.programs import (
    keep_programs as keep_programs,
)
from .objective import (
    Attention as Attention,
    Batches as Batches,
    BoundaryPenalty as BoundaryPenalty,
    Causal as Causal,
    DataPenalty as DataPenalty,
    InitialPenalty as InitialPenalty,
    PeriodicPenalty as PeriodicPenalty,
    SelfAdaptive as SelfAdaptive,
)
from .problem import (
    Annulus as Annulus,
    Ball as Ball,
    Between as Between,
    Box as Box,
    Cylinder as Cylinder,
    Derivative as Derivative,
    Dirichlet as Dirichlet,
    Disk as Disk,
    Ellipse as Ellipse,
    Implicit as Implicit,
    Interval as Interval,
    Linear as Linear,
    Neumann as Neumann,
    Periodic as Periodic,
    Polygon as Polygon,
    Problem as Problem,
    Robin as Robin,
    Samples as Samples,
    Unknown as Unknown,
    apply as apply,
    parse_problem as parse_problem,
    read_problem as read_problem,
)
from .reference import (
    Reference as Reference,
    solve_reference as solve_reference,
)
from .solution import (
    Family as Family,
    Solution as Solution,
    Verdict as Verdict,
    load as load,
)
from .solving import (
    solve as solve,
    solve_batch as solve_batch,
)
from .trial import (
    Characteristic as Characteristic,
    CustomGate as CustomGate,
    CustomLift as CustomLift,
    CustomNetwork as CustomNetwork,
    Decay as Decay,
    Even as Even,
    ExponentialGate as ExponentialGate,
    Fourier as Fourier,
    LinearGate as LinearGate,
    MLP as MLP,
    ModifiedMLP as ModifiedMLP,
    NoGate as NoGate,
    NoLift as NoLift,
    Plain as Plain,
    Semigroup as Semigroup,
)

__version__: str
__all__: list[str]
