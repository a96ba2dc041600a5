"""Networks of infinite width: their kernels, and the finite networks beside them.

A layer is a small frozen record. `serial`, `parallel`, `residual` and `repeat` make
networks of layers; a network has `init` and `apply`, the finite one, and `kernel`,
`nngp` and `ntk`, what it becomes at infinite width.

>>> import jax
>>> from tangentlab import infinite
>>> network = infinite.serial(
...     infinite.Dense(512, weight_std=1.4), infinite.Relu(), infinite.Dense(1)
... )
>>> x = jax.random.normal(jax.random.key(0), (5, 10))
>>> kernels = network.kernel(x)
>>> kernels.nngp.shape, kernels.ntk.shape
((5, 5), (5, 5))
>>> model = network.model((10,))
>>> model.apply(model.init(jax.random.key(1)), x).shape
(5, 1)
"""

from .activations import ABRelu as ABRelu
from .activations import Abs as Abs
from .activations import Cos as Cos
from .activations import Dual as Dual
from .activations import Elementwise as Elementwise
from .activations import Elu as Elu
from .activations import Erf as Erf
from .activations import Exp as Exp
from .activations import ExpNormalized as ExpNormalized
from .activations import Gabor as Gabor
from .activations import Gaussian as Gaussian
from .activations import Gelu as Gelu
from .activations import GeluTanh as GeluTanh
from .activations import Hermite as Hermite
from .activations import LeakyRelu as LeakyRelu
from .activations import Monomial as Monomial
from .activations import Polynomial as Polynomial
from .activations import Rbf as Rbf
from .activations import RectifiedMonomial as RectifiedMonomial
from .activations import Relu as Relu
from .activations import SigmoidLike as SigmoidLike
from .activations import Sign as Sign
from .activations import Silu as Silu
from .activations import Sin as Sin
from .activations import Softplus as Softplus
from .activations import Tanh as Tanh
from .aggregating import Aggregate as Aggregate
from .attention import GlobalSelfAttention as GlobalSelfAttention
from .branching import parallel as parallel
from .branching import residual as residual
from .calls import Kernels as Kernels
from .combining import repeat as repeat
from .combining import serial as serial
from .conv import Conv as Conv
from .dense import Dense as Dense
from .flow import Batch as Batch
from .joining import Concatenate as Concatenate
from .joining import Product as Product
from .joining import Sum as Sum
from .layer import Layer as Layer
from .nonlinear import Activation as Activation
from .normalizing import Dropout as Dropout
from .normalizing import LayerNorm as LayerNorm
from .other_conv import ConvLocal as ConvLocal
from .other_conv import ConvTranspose as ConvTranspose
from .pooling import AvgPool as AvgPool
from .pooling import GlobalAvgPool as GlobalAvgPool
from .pooling import GlobalSumPool as GlobalSumPool
from .pooling import SumPool as SumPool
from .presets import cntk as cntk
from .presets import fc as fc
from .presets import myrtle as myrtle
from .presets import wide_resnet as wide_resnet
from .resizing import ImageResize as ImageResize
from .sampling import monte_carlo as monte_carlo
from .shaping import Flatten as Flatten
from .shaping import Identity as Identity
from .shaping import Slice as Slice
from .widths import WidthComparison as WidthComparison
from .widths import compare_widths as compare_widths
