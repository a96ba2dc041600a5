# %% [markdown]
# # How wide is infinitely wide?
#
# As a network gets wider its tangent kernel stops depending on the draw of its weights.
# The limit has a closed form. How fast is it reached, and what does it predict?

# %%
import jax
import matplotlib.pyplot as plt
import numpy as np

import tangentlab as tl

x = np.random.default_rng(0).normal(size=(12, 8)).astype(np.float32)
widths = (32, 128, 512, 2048)


# %% [markdown]
# ## Finite kernels beside the infinite one
#
# A layer of `tl.infinite` knows both. `tl.compare_widths` draws networks of each width
# and measures how far their Gram matrices are from the limit.


# %%
def build(width):
    return tl.infinite.fc(1, width)


found = tl.compare_widths(build, x, widths, key=jax.random.key(0), num_draws=8)
print(f"error ~ width^{found.slope:.2f}, interval {np.round(found.slope_interval, 2)}")

# %% [markdown]
# ## What an infinitely wide network learns
#
# Trained to the end on square loss, it is regression with that kernel; its spread over
# random initializations is known too. Here on six samples of a sine.

# %%
train = np.linspace(-1.5, 1.5, 6)
grid = np.linspace(-2.5, 2.5, 120)
points = np.concatenate([train, grid])
inputs = np.stack([points, np.ones_like(points)], axis=1)
kernels = tl.infinite.fc(2, bias_std=0.3).kernel(inputs, precision="float64")
nngp, ntk = (tl.predict.split_kernel(np.asarray(K), 6) for K in kernels)
ensemble = tl.predict.ensemble(ntk, nngp, np.sin(2 * train), np.inf)
spread = 2 * np.sqrt(np.maximum(np.diagonal(ensemble.covariance), 0))
print(f"two standard deviations: {spread.min():.3f} to {spread.max():.2f}")

# %% [markdown]
# ## The answer
#
# Four times the width, half the error: two thousand units are within a few percent. And
# the limit is itself a predictor, with an ensemble of networks behind it that one never
# has to train.

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.loglog(found.widths, found.errors, ".", color="#c2410c", alpha=0.5)
mean = found.errors.mean(axis=1)
left.loglog(found.widths, mean, "o-", color="#c2410c", label="one draw, mean")
guide = mean[0] * (np.array(widths) / widths[0]) ** -0.5
left.loglog(widths, guide, "--", color="gray", label="slope -1/2")
left.set(title="distance from the infinite kernel", xlabel="width")
left.set(ylabel="relative distance")
left.set_xticks(widths, [f"{width:,}" for width in widths])
left.set_yticks([0.03, 0.05, 0.1, 0.2, 0.4], ["3 %", "5 %", "10 %", "20 %", "40 %"])
left.minorticks_off()
left.legend()
right.fill_between(grid, ensemble.mean - spread, ensemble.mean + spread, alpha=0.2)
right.plot(grid, ensemble.mean, label="mean of all networks")
right.plot(grid, np.sin(2 * grid), ":", color="gray", label="sine")
right.plot(train, np.sin(2 * train), "o", color="black", label="samples")
right.set(title="infinitely many networks, trained to the end", ylim=(-2, 2))
right.set(xlabel="x", ylabel="output; two standard deviations")
right.legend()
plt.show()
