"""Solutions for any parameters on one fixed basis, with their exact derivatives by the parameters.

With u = ψ(θ) + Q c and the sensitivity ∂u/∂θ = ψ_θ + Q d, the projected equation c′ = f(t, c; θ) gives the
linear one d′ = (∂f/∂c) d + ∂f/∂θ. It is solved by the same Radau scheme, at the steps that c took and for all
parameters at once: each step costs its factorisations and a few products of matrices.

The lift is ψ(θ) = ψ(θ₀) + w(θ) − w(θ₀), w the lift without waves: what initial and boundary data do with θ is
exact, and nothing needs to be expanded or compiled again.
"""

from .frame import Flow, Frame, make_frame
from .opened import Named, Opened
from .places import Places

__all__ = ["Flow", "Frame", "Named", "Opened", "Places", "make_frame"]
