"""Stage 3: neural tangent kernels. Functions of `(apply, params, x)` return arrays."""

from .empirical import gram as gram
from .empirical import gram_by_parameter as gram_by_parameter
from .empirical import gram_diagonal as gram_diagonal
from .empirical import gram_full as gram_full
from .jacobians import jacobian as jacobian
from .tiled_gram import TiledGram as TiledGram
from .tiled_gram import open_gram as open_gram
