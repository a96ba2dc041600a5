# %% [markdown]
# # Does a network still learn if only its first-order expansion is trained?
#
# Freeze a network at its initialization and keep the tangent: a model that is linear in
# its parameters, and as nonlinear in its inputs as before. Train both, by the same
# steps of gradient descent, and watch.

# %%
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

import tangentlab as tl

x = np.linspace(-1, 1, 12, dtype=np.float32)[:, None]
y = np.sin(3 * x)
grid = np.linspace(-1.5, 1.5, 200, dtype=np.float32)[:, None]


# %% [markdown]
# ## Two models, one training loop
#
# `tl.linearize(apply, params)` returns another `apply`. Whatever trains the network
# trains its linearization too.


# %%
def train(apply, params, num_steps, rate):
    def loss(params):
        return jnp.mean((apply(params, x) - y) ** 2) / 2

    def step(params, _):
        value, gradient = jax.value_and_grad(loss)(params)
        moved = jax.tree.map(lambda p, g: p - rate * g, params, gradient)
        return moved, value

    @jax.jit
    def run(params):
        params, losses = jax.lax.scan(step, params, None, length=num_steps)
        return losses, apply(params, grid)[:, 0]

    return run(params)


def both(width, num_steps=1500):
    smooth = tl.infinite.Erf()
    layers = tl.infinite.fc(1, width, activation=smooth, weight_std=2.0, bias_std=1.0)
    model = layers.model((1,))
    params = model.init(jax.random.key(0))
    rate = 0.2 * tl.predict.max_learning_rate(tl.gram(model.apply, params, x))
    linear = tl.linearize(model.apply, params)
    return [train(apply, params, num_steps, rate) for apply in (model.apply, linear)]


runs = {width: both(width) for width in (8, 1024)}
for width, (network, linear) in runs.items():
    gap = float(jnp.sqrt(jnp.mean((network[1] - linear[1]) ** 2)))
    print(
        f"width {width:4d}: final loss {network[0][-1]:.1e} of the network, "
        f"{linear[0][-1]:.1e} of the linear one; functions differ by {gap:.3f}"
    )

# %% [markdown]
# ## The answer
#
# It does. A narrow network and its linearization part on the way; a wide one is hardly
# told from it, during all of training and between the samples too.

# %%
figure, axes = plt.subplots(2, 2, figsize=(9, 6), layout="constrained")
for row, (width, (network, linear)) in zip(axes, runs.items(), strict=True):
    losses, functions = row
    losses.loglog(network[0], color="#c2410c", label="network")
    losses.loglog(linear[0], color="#1d4ed8", label="linearization")
    losses.set(title=f"width {width}", xlabel="step", ylabel="training loss")
    functions.plot(x, y, "o", color="black", label="samples")
    functions.plot(grid, network[1], color="#c2410c")
    functions.plot(grid, linear[1], color="#1d4ed8", linestyle="--")
    functions.set(title="what they learned", xlabel="x", ylim=(-2, 2))
axes[0, 0].legend()
axes[0, 1].legend()
plt.show()
