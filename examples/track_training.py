"""Watch the tangent kernel while a network learns, in a plain optax loop.

    python examples/track_training.py

Digits 0-4 against 5-9, an MLP, Adam. The kernel turns away from its start (`distance`),
faster at first (`velocity`); its leading eigenvectors take in the labels (`energy`).
What a tracker does not record by itself, here the share of the first layer in the
trace, is one function more.
"""

import jax
import jax.numpy as jnp
import numpy as np
import optax

import tangentlab as tl


def main(num_steps: int = 400, num_samples: int = 300, every: int = 50):
    digits = tl.data.load("digits")
    x = digits.x[: digits.num_train]
    labels = np.where(digits.y[: digits.num_train] < 5, 1, -1).astype(np.float32)

    model = tl.models.mlp((8, 8, 1), widths=(64, 64))
    params = model.init(jax.random.key(0))
    optimizer = optax.adam(1e-3)
    state = optimizer.init(params)

    def loss(params, x, y):
        logits = model.apply(params, x)[:, 0]
        return optax.sigmoid_binary_cross_entropy(logits, (y + 1) / 2).mean()

    @jax.jit
    def update(params, state, x, y):
        value, gradient = jax.value_and_grad(loss)(params, x, y)
        changes, state = optimizer.update(gradient, state, params)
        return optax.apply_updates(params, changes), state, value

    x_seen, y_seen = x[:num_samples], labels[:num_samples]

    def first_layer(now, first):
        return tl.analysis.trace_shares(model.apply, now.params, x_seen).shares[0]

    tracker = tl.analysis.Tracker(
        model.apply, x_seen, y_seen, measures={"first_layer": first_layer}
    )
    tracker(0, params)
    draws = np.random.default_rng(0)
    for step in range(1, num_steps + 1):
        batch = draws.integers(len(x), size=128)
        x_batch, y_batch = jnp.asarray(x[batch]), jnp.asarray(labels[batch])
        params, state, value = update(params, state, x_batch, y_batch)
        if step % every == 0:
            seen = tracker(step, params)
            print(
                f"step {step:4d}  loss {value:.3f}"
                f"  distance {seen['distance']:.4f}  velocity {seen['velocity']:.1e}"
                f"  centered alignment {seen['centered_alignment']:.3f}"
                f"  energy {seen['energy_concentration']:.3f}"
                f"  first layer {seen['first_layer']:.3f}"
            )
    return tracker.history()


if __name__ == "__main__":
    main()
