"""Work on several processes or machines, on Dask.distributed.

Whoever has work describes it as units; this room hands them to workers, and to others
when workers, the scheduler or the client die. It knows nothing of kernels.
"""

from .links import linked as linked
from .sweeping import sweep as sweep
from .templates import kubernetes_example as kubernetes_example
from .templates import slurm_example as slurm_example
from .units import Unfit as Unfit
