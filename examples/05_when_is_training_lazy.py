# %% [markdown]
# # When does a network train like its linearization?
#
# Not only when it is wide. Multiply the outputs of any network by a large number, and
# it reaches its targets before its parameters have moved enough to matter: training is
# lazy (Chizat, Oyallon and Bach). How large is large?

# %%
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

import tangentlab as tl

x = jax.random.normal(jax.random.key(0), (10, 3))
y = jnp.sign(x[:, :1])

# %% [markdown]
# ## A network whose output is 0 at first
#
# Two copies, subtracted: the scale then multiplies nothing but what is learned.

# %%
width = 30
apply = tl.theory.doubled(tl.theory.two_layer_both(jnp.tanh))
a, W = jax.random.split(jax.random.key(1))
half = {"a": jax.random.normal(a, (width,)), "W": jax.random.normal(W, (width, 3))}
params = (half, half)
scales = 2.0 ** np.arange(-2, 6)
flows = tl.theory.scaled_flows(apply, params, x, y, scales, horizon=30.0)

# %% [markdown]
# ## A number that tells beforehand
#
# Laziness is expected where the relative change of the derivative on the way,
# `|h - y| |D2 h| / |D h|^2` at the start, is far below 1.

# %%
size = tl.theory.derivative_norm(apply, params, x)
bend = tl.theory.second_derivative_norm(
    apply, params, x, key=jax.random.key(2), num_starts=2, num_steps=20
)
distance = float(jnp.linalg.norm(y))
criterion = [
    tl.theory.laziness_criterion(distance, size, bend, scale=float(scale))
    for scale in scales
]
for scale, number, gap in zip(scales, criterion, flows.output_gap, strict=True):
    print(f"scale {scale:5.2f}: criterion {number:6.3f}, outputs differ by {gap:.1e}")

# %% [markdown]
# ## The answer
#
# Where the criterion is small. Ten times the scale: parameters move a tenth as far, and
# part from the linear ones by a hundredth. Where the criterion is above 1 they part by
# about as much as they move: the network goes its own way, and features are learned.

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
curves = {
    "parameters move": flows.weight_distance,
    "parameters, from the linear ones": flows.weight_gap,
    "outputs, from the linear ones": flows.output_gap,
}
for label, values in curves.items():
    left.loglog(scales, values, "o-", label=label)
left.set(title="during training", xlabel="output scale", ylabel="largest distance")
left.legend()
right.loglog(criterion, flows.output_gap, "o-", color="#c2410c")
right.axvline(1, color="gray", linestyle=":")
right.set(title="the criterion tells", xlabel="criterion at the start")
right.set_ylabel("outputs, from the linear ones")
plt.show()
