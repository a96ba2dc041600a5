"""Stage 6: training a network, or its linearization, on tasks."""

from .distances import origin as origin
from .dual import train_dual as train_dual
from .primal import train as train
from .primal import train_seeds as train_seeds
from .recipe import Recipe as Recipe
from .record import History as History
