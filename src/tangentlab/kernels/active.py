"""Which features are exactly zero: at initialization, often nearly all.

The published ResNet18 has no gradient in 98 % of its parameters at initialization,
because the last scale of each residual branch is zero. The first chunk of examples
tells; what is zero there is not computed, only looked at on all others, and computed
after all if it was not zero on one of them.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from .accelerated.compiling import call
from .accelerated.filling import compiled_factors, sites_of
from .engine import Job
from .planning import plan
from .reading.backward import Factors


def skip_idle(job: Job) -> Job:
    """Plan a computation again without what is zero on the first examples.

    Args:
        job: The computation.

    Returns:
        The same, with fewer features if some are zero.
    """
    made, problem = job.plan, job.problem
    if len(made.passes) == 1 and problem.n <= made.chunk:
        return job  # a look would cost as much as the whole
    features = made.features
    batch = [jnp.asarray(a[: made.chunk]) for a in job.x_1]
    alive = np.asarray(_nonzero(call(compiled_factors(job.source), job.values, batch)))
    idle = [f for f in features if not alive[list(sites_of(job.source, f))].any()]
    active = [f for f in features if f not in idle]
    if not idle or not active:
        return job
    fresh = plan(job.source, active, problem, made.memory)
    return job._replace(plan=replace(fresh, idle=tuple(idle)))


@jax.jit
def _nonzero(made: Factors) -> Bool[Array, " sites"]:
    return jnp.stack([jnp.any(delta != 0) for delta in made.deltas])
