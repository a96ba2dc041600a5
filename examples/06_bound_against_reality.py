# %% [markdown]
# # What does a generalization bound say about real data?
#
# An interpolating network has training error 0, whatever the labels are. The bound of
# the lecture looks at what the labels cost in the norm of the kernel. Does it know true
# labels from random ones, and does it promise anything?

# %%
import jax
import matplotlib.pyplot as plt
import numpy as np

import tangentlab as tl

digits = tl.data.load("digits")
pixels = np.asarray(digits.x, np.float64).reshape(len(digits.x), -1)
x = np.asarray(tl.theory.with_constant_coordinate(pixels), np.float64)
x /= np.linalg.norm(x, axis=1, keepdims=True)
K = np.asarray(tl.infinite.fc(3).ntk(x, precision="float64"))
K = K / np.mean(np.diagonal(K))
true = np.where(np.asarray(digits.y) == 0, 1.0, -1.0)  # is it a zero?
order = np.random.default_rng(0).permutation(len(true))
test = order[-400:]

# %% [markdown]
# ## Bound and error
#
# `tl.theory.generalization_bound` wants a kernel that was chosen before the samples
# were seen: that of an infinitely wide network qualifies.


# %%
def bound_and_error(y, n):
    train = order[:n]
    bound = tl.theory.generalization_bound(K[np.ix_(train, train)], y[train], 0.05)
    fitted = tl.predict.ridgeless(K[np.ix_(train, train)], y[train])
    outputs = tl.predict.evaluate(fitted, K[np.ix_(test, train)])
    return bound.value, np.mean(np.sign(outputs) != y[test])


coins = np.random.default_rng(1).choice([-1.0, 1.0], len(true))
sizes = (100, 200, 400, 800)
curves = {}
for name, y in {"is it a zero?": true, "random labels": coins}.items():
    curves[name] = np.array([bound_and_error(y, n) for n in sizes])
    bound, error = curves[name][-1]
    print(f"{name:14s} {sizes[-1]} samples: bound {bound:.2f}, test error {error:.3f}")

# %% [markdown]
# ## What labels cost
#
# The same norm for shuffled copies of the true labels, as balanced as these.

# %%
H = K[np.ix_(order[:400], order[:400])]
cost = tl.theory.label_complexity(H, true[order[:400]])
shuffled = tl.theory.permuted_complexities(
    H, true[order[:400]], key=jax.random.key(0), num=200
)
print(f"true labels cost {cost:.0f}, 200 shuffled ones {shuffled.min():.0f} or more")

# %% [markdown]
# ## The answer
#
# It knows: shuffled labels cost many times as much, and their bound never falls. What
# it promises is little: above 1 it says nothing, and even for an easy task and true
# labels it is far above the error. A bound that holds for every distribution is not a
# prediction; notebook 3 and `tangentlab run learning_curves` show one that is.

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for (name, values), color in zip(curves.items(), ("#1d4ed8", "#c2410c"), strict=True):
    left.loglog(sizes, values[:, 0], "D-", color=color, label=f"bound, {name}")
    shown = np.maximum(values[:, 1], 1 / 800)  # half a test sample, for the axis
    left.loglog(sizes, shown, "o--", color=color, label=f"test error, {name}")
left.axhline(1, color="gray", linestyle=":")
left.set(title="above 1 a bound says nothing", xlabel="training samples")
left.set_ylabel("share of wrong answers")
left.set_xticks(sizes, sizes)
left.minorticks_off()
left.legend(fontsize=8)
right.hist(shuffled, bins=25, color="#475569", label="shuffled labels")
right.axvline(cost, color="#1d4ed8", linewidth=3, label="true labels")
right.set(title="what labels cost", xlabel="squared norm", ylabel="label vectors")
right.set_xlim(0)
right.legend()
plt.show()
