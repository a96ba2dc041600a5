"""Closed forms: what a linearized network learns, from its kernel alone."""

from .conjugate import conjugate_gradients as conjugate_gradients
from .descent import gradient_descent as gradient_descent
from .ensembles import Blocks as Blocks
from .ensembles import ensemble as ensemble
from .ensembles import split_kernel as split_kernel
from .evaluation import evaluate as evaluate
from .flow import gradient_flow as gradient_flow
from .gaussian import gp_posterior as gp_posterior
from .integration import loss_flow as loss_flow
from .margin import hard_margin as hard_margin
from .problem import decompose as decompose
from .rates import max_learning_rate as max_learning_rate
from .record import Posterior as Posterior
from .record import Solution as Solution
from .regression import ridge as ridge
from .regression import ridgeless as ridgeless
from .stopping import EarlyStopping as EarlyStopping
from .stopping import early_stopping as early_stopping
from .weight_space import weights as weights
