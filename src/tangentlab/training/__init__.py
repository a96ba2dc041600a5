"""Stage 6: training a network, or its linearization, on tasks."""

from .loop import train as train
from .recipe import Recipe as Recipe
from .record import History as History
