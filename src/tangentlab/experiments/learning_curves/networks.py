"""Learning curves of finite networks, on the tasks of the kernel."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ... import data, infinite, predict, tasks
from ...training import Recipe, train_seeds
from .images import Images


def network_errors(
    images: Images,
    sizes: tuple[int, ...],
    *,
    width: int,
    steps: int,
    seeds: int,
    seed: int,
) -> Float[np.ndarray, "s t n"]:
    """Mean squared error of trained networks on images left out.

    Full-batch gradient descent with momentum on square loss, at half the largest rate
    that is stable without momentum.

    Args:
        images: The sample.
        sizes: Numbers of training samples.
        width: Of the two hidden layers.
        steps: Of gradient descent.
        seeds: Initializations.
        seed: The first of them; decides samples as in the first draw of the kernel.

    Returns:
        Errors by initialization, task and size.
    """
    x = images.x.astype(np.float32)
    network = infinite.fc(2, width)
    model = network.model(x.shape[1:])
    keys = jnp.stack([jax.random.key(seed + number) for number in range(seeds)])
    drawn = jax.vmap(model.init)(keys)
    params = jax.tree.map(lambda w: w.astype(np.float32), drawn)
    order = np.random.default_rng([seed, 0]).permutation(len(x))
    ntk = np.asarray(network.ntk(x[order[: max(sizes)]]), np.float64)
    errors = []
    for n in sizes:
        dataset = data.from_arrays(x[order], np.zeros(len(x), np.int32), num_train=n)
        made = [
            tasks.from_labels(dataset, y[order].astype(np.float32), regression=True)
            for y in images.Y.T
        ]
        recipe = Recipe(
            epochs=steps,
            batch_size=n,
            learning_rate=predict.max_learning_rate(ntk[:n, :n]) / 2,
            schedule="constant",
            loss="square",
        )
        histories = train_seeds(model, params, made, recipe, keys=keys)
        outputs = np.stack([np.asarray(each.outputs) for each in histories])
        left = outputs[..., n:] - images.Y[order[n:]].T
        errors.append((left**2).mean(axis=-1))
    return np.stack(errors, axis=-1)
