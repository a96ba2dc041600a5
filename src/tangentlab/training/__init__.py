"""Stage 6: training a network, or its linearization, on tasks."""

from .dual import train_dual as train_dual
from .initial import origin as origin
from .loop import train as train
from .recipe import Recipe as Recipe
from .record import History as History
from .seeds import train_seeds as train_seeds
