# %% [markdown]
# # What is the tangent kernel of a network, in numbers?
#
# For two inputs: the inner product of the two gradients of the output with respect to
# all parameters. It says how much a step on one input moves the output at the other.

# %%
import time

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

import tangentlab as tl

angles = np.linspace(0, 2 * np.pi, 90, endpoint=False)
x = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
apply = tl.theory.two_layer_both()  # m^(-1/2) sum_j a_j relu(w_j . x)


def draw(width, seed):
    a, W = jax.random.split(jax.random.key(seed))
    return {"a": jax.random.normal(a, (width,)), "W": jax.random.normal(W, (width, 2))}


params = draw(width=400, seed=0)

# %% [markdown]
# ## By hand
#
# One gradient for each input, all parameters in a row: the Jacobian, `(n, p)`. The
# inner products of its rows are the Gram matrix, `(n, n)`.


# %%
def gradient(x_i):
    tree = jax.grad(lambda params: apply(params, x_i[None])[0, 0])(params)
    return jnp.concatenate([leaf.ravel() for leaf in jax.tree.leaves(tree)])


start = time.perf_counter()
J = jax.vmap(gradient)(jnp.asarray(x))
by_hand = J @ J.T
print(f"Jacobian {J.shape}, Gram matrix {by_hand.shape}", end=", ")
print(f"{time.perf_counter() - start:.2f} s by hand")

# %% [markdown]
# ## By library
#
# The same numbers, for any network, without the Jacobian ever being formed whole.

# %%
start = time.perf_counter()
K = tl.gram(apply, params, x)
print(f"{time.perf_counter() - start:.2f} s by library", end=", ")
print(f"largest difference {float(jnp.abs(K - by_hand).max()):.1e}")

# %% [markdown]
# ## The answer
#
# A matrix that knows neither labels nor training. On the circle it depends on the angle
# between two inputs: nearly, for a finite width, since weights are random; exactly, for
# an infinite one, where the lecture's formula gives it.

# %%
infinite = tl.theory.both_layers_kernel(x)
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
image = left.imshow(K, extent=(0, 360, 360, 0), cmap="magma")
left.set(title="Gram matrix, width 400")
left.set(xlabel="angle of x' (degrees)", ylabel="angle of x (degrees)")
figure.colorbar(image, ax=left, shrink=0.85)
for seed in range(8):
    one = tl.gram(apply, draw(width=400, seed=seed), x)
    label = "width 400, eight draws" if not seed else None
    right.plot(np.degrees(angles), one[0], color="#c2410c", alpha=0.4, label=label)
right.plot(np.degrees(angles), infinite[0], color="black", label="infinite width")
right.set(title="kernel against angle", ylabel="kernel")
right.set(xlabel="angle between x and x' (degrees)")
right.legend()
plt.show()
