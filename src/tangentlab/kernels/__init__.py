"""Stage 3: neural tangent kernels. Functions of `(apply, params, x)` return arrays."""

from .empirical import gram as gram
from .jacobians import jacobian as jacobian
