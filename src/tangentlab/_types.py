"""The few types every stage shares, and the letters that name axes in annotations.

| letter | axis |
|---|---|
| `n`, `m` | samples |
| `d` | input dimensions (`...` where inputs keep their image shape) |
| `c` | outputs (logits) |
| `p` | parameters |
| `k` | modes or directions |
| `t` | tasks |
| `e` | epochs |
"""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jaxtyping import Key, PyTree

AnyArray = jax.Array | np.ndarray
"""Data may stay in host memory as numpy; computations return JAX arrays."""

Params = PyTree
"""Any pytree; integer leaves are buffers and never differentiated."""

State = PyTree
"""Batch statistics and the like; an empty dict for a network that has none."""

Inputs = PyTree
"""An array, or a pytree of arrays, with a leading batch axis."""

PRNGKey = Key[jax.Array, ""]

Apply = Callable[[Params, Inputs], Any]
"""`apply(params, x) -> (n, c)`, row i of the output depending on row i of `x` alone."""
