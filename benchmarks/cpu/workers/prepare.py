"""Write one problem: weights, inputs, and a small reference in float64.

`python prepare.py NETWORK NUM FILE`, in tangentlab's own environment. The reference is
plain `jax.grad` of one example at a time: neither `tl.gram` nor a peer takes part.
"""

import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from ours import network

import tangentlab as tl

_NUM_REFERENCE = 16


def images(num: int) -> tuple[np.ndarray, str]:
    """CIFAR-10 where it is found, else Gaussian images with a natural spectrum."""
    try:
        dataset = tl.data.normalize(tl.data.load("cifar10"))
    except FileNotFoundError:
        dataset = tl.data.one_over_f(jax.random.key(0), num, 0)
    return np.asarray(dataset.x[:num], np.float32), dataset.name


def reference(model: tl.Model, params, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Outputs and Gram matrix in float64."""
    with jax.enable_x64(True):
        flat, unravel = ravel_pytree(
            jax.tree.map(lambda w: w.astype("float64"), params)
        )

        def output(flat, image):
            return model.apply(unravel(flat), image[None])[0, 0]

        both = jax.jit(jax.value_and_grad(output))
        rows = [both(flat, jnp.asarray(image, jnp.float64)) for image in x]
        J = np.stack([np.asarray(gradient) for _, gradient in rows])
        return np.array([float(value) for value, _ in rows]), J @ J.T


def main(name: str, num: int, file: Path) -> None:
    """Write the problem."""
    model = network(name)
    params = model.init(jax.random.key(42))
    x, source = images(num)
    outputs, K = reference(model, params, x[:_NUM_REFERENCE])
    arrays: dict[str, Any] = {
        "params/" + "/".join(str(key.key) for key in path): np.asarray(leaf)
        for path, leaf in jax.tree_util.tree_leaves_with_path(params)
    }
    arrays |= {"x": x, "outputs": outputs, "reference": K, "source": source}
    scratch = file.with_name("unfinished-" + file.name)
    np.savez(scratch, **arrays)
    scratch.rename(file)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
