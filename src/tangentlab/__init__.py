"""What can a linearized network say about the real one?

Data flows one way: data, models, kernels, spectra, tasks, training, analysis, report.
A network is a function `apply(params, x) -> (n, c)`; everything else takes that.
"""

from . import analysis as analysis
from . import cluster as cluster
from . import data as data
from . import infinite as infinite
from . import models as models
from . import predict as predict
from . import tasks as tasks
from . import theory as theory
from .analysis import alignment as alignment
from .analysis import energy_concentration as energy_concentration
from .analysis import kernel_distance as kernel_distance
from .data import Dataset as Dataset
from .infinite import compare_widths as compare_widths
from .kernels import GramPlan as GramPlan
from .kernels import TiledGram as TiledGram
from .kernels import gram as gram
from .kernels import gram_by_parameter as gram_by_parameter
from .kernels import gram_diagonal as gram_diagonal
from .kernels import gram_full as gram_full
from .kernels import gram_status as gram_status
from .kernels import jacobian as jacobian
from .kernels import kernel_product as kernel_product
from .kernels import open_gram as open_gram
from .kernels import plan_gram as plan_gram
from .kernels import spread as spread
from .kernels import to_zarr as to_zarr
from .models import Model as Model
from .models import linearize as linearize
from .models import taylor_expand as taylor_expand
from .spectra import Spectrum as Spectrum
from .spectra import spectrum as spectrum
from .tasks import Task as Task
from .training import History as History
from .training import Recipe as Recipe
from .training import origin as origin
from .training import train as train
from .training import train_dual as train_dual
from .training import train_seeds as train_seeds

__version__ = "0.1.0"
