"""Activations: what a nonlinearity makes of the covariance of a Gaussian pair.

Each is a layer that rests on one record, `Dual`: the function, and its two Gaussian
integrals.

| file | idea |
|---|---|
| `dual.py` | the record, and how the second integral follows from the first |
| `angles.py` | roots and arc tangents of a covariance, cheap and differentiable |
| `half_moments.py`, `rectified.py` | whatever has a corner or a jump at zero |
| `error_functions.py` | erf and gelu |
| `waves.py`, `exponentials.py`, `polynomials.py` | what exponentials and powers give |
| `series.py`, `elementwise.py` | any other function, as a sum of Hermite polynomials |
"""

from .dual import Dual as Dual
from .elementwise import Elementwise as Elementwise
from .elementwise import Elu as Elu
from .elementwise import GeluTanh as GeluTanh
from .elementwise import Silu as Silu
from .elementwise import Softplus as Softplus
from .elementwise import Tanh as Tanh
from .error_functions import Erf as Erf
from .error_functions import Gelu as Gelu
from .error_functions import SigmoidLike as SigmoidLike
from .exponentials import Exp as Exp
from .exponentials import ExpNormalized as ExpNormalized
from .exponentials import Gaussian as Gaussian
from .polynomials import Hermite as Hermite
from .polynomials import Monomial as Monomial
from .polynomials import Polynomial as Polynomial
from .rectified import ABRelu as ABRelu
from .rectified import Abs as Abs
from .rectified import LeakyRelu as LeakyRelu
from .rectified import RectifiedMonomial as RectifiedMonomial
from .rectified import Relu as Relu
from .rectified import Sign as Sign
from .waves import Cos as Cos
from .waves import Gabor as Gabor
from .waves import Rbf as Rbf
from .waves import Sin as Sin
