"""Networks of other libraries, and plain functions, as a `Model`."""

from .equinox import from_equinox as from_equinox
from .function import from_function as from_function
from .haiku import from_haiku as from_haiku
from .linen import from_flax as from_flax
from .nnx import from_nnx as from_nnx
