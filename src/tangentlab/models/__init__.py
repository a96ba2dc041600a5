"""Networks as pure functions: the zoo, adapters, linearization and the contract."""

from .activations import Activation as Activation
from .adapters import from_equinox as from_equinox
from .adapters import from_flax as from_flax
from .adapters import from_function as from_function
from .adapters import from_haiku as from_haiku
from .adapters import from_nnx as from_nnx
from .contract import check_apply as check_apply
from .linearized import linearize as linearize
from .linearized import taylor_expand as taylor_expand
from .mixed import mixed_precision as mixed_precision
from .model import Model as Model
from .registry import ModelName as ModelName
from .registry import build as build
from .samples import sample_of as sample_of
from .zoo import lenet as lenet
from .zoo import mlp as mlp
from .zoo import resnet18 as resnet18
