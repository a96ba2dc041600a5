"""Stage 3: neural tangent kernels. Functions of `(apply, params, x)` return arrays."""

from .empirical import gram as gram
from .empirical import gram_by_parameter as gram_by_parameter
from .empirical import gram_diagonal as gram_diagonal
from .empirical import gram_full as gram_full
from .jacobians import jacobian as jacobian
from .matrix_free.products import kernel_product as kernel_product
from .preview.describing import plan_gram as plan_gram
from .preview.record import GramPlan as GramPlan
from .tiled.exporting import to_zarr as to_zarr
from .tiled.spread import spread as spread
from .tiled.status import GramStatus as GramStatus
from .tiled.status import gram_status as gram_status
from .tiled.tiled_gram import TiledGram as TiledGram
from .tiled.tiled_gram import open_gram as open_gram
