"""From runs of one shape to a plan of training: phases, points, trial functions and data."""

from .plan import REFERENCE, TrainingPlan, network_key

__all__ = ["REFERENCE", "TrainingPlan", "network_key"]
