# %% [markdown]
# # What does a network find easy to learn?
#
# Gradient descent on the linearized network learns each eigenvector of the Gram matrix
# on its own, at a rate given by its eigenvalue. So the spectrum of the kernel, before
# any training, is an order of difficulty. Is it the one the network itself follows?

# %%
import jax
import matplotlib.pyplot as plt
import numpy as np

import tangentlab as tl

digits = tl.data.normalize(tl.data.load("digits"))
small = tl.data.subset(digits, 400, num_test=200, key=jax.random.key(0))
model = tl.models.mlp(small.shape)
params = model.init(jax.random.key(42))
spectrum = tl.spectrum(tl.gram(model.apply, params, small.x))
print(f"{spectrum.eigenvalues.size} eigenvalues, from {spectrum.eigenvalues[0]:.3g}")

# %% [markdown]
# ## Tasks made of eigenfunctions
#
# Label every image by the sign of one eigenvector, and train the network on it, not its
# linearization. Index 0 is left out: it has one sign, and nothing to learn.

# %%
indices = [1, 2, 4, 9, 19, 49, 99, 199]
tasks = [tl.tasks.eigenfunction(spectrum, index, small) for index in indices]
recipe = tl.Recipe(epochs=20, batch_size=50)
history = tl.train(model, params, tasks, recipe, key=jax.random.key(1))
accuracy = np.asarray(history.test_accuracy[:, -1])
for index, value in zip(indices, accuracy, strict=True):
    print(f"eigenfunction {index + 1:4d}: test accuracy {value:.1%}")

# %% [markdown]
# ## The answer
#
# It is: accuracy falls with the index, though the labels of all tasks are as balanced,
# and the network was free to leave its kernel behind. Below, the images at both ends of
# three eigenfunctions: the first tell coarse shapes apart, the late ones nothing that
# one could name.

# %%
figure = plt.figure(figsize=(10, 6.4), layout="constrained")
top, bottom = figure.subfigures(2, 1, height_ratios=(1.3, 1))
left, right = top.subplots(1, 2)
left.loglog(np.arange(1, 601), np.maximum(spectrum.eigenvalues, 1e-3), color="black")
left.plot(np.array(indices) + 1, spectrum.eigenvalues[np.array(indices)], "o")
left.set(title="eigenvalues", xlabel="number (1 = leading)")
right.semilogx(np.array(indices) + 1, 100 * accuracy, "o-", color="#c2410c")
right.axhline(50, color="gray", linestyle=":")
right.set(title="test accuracy of the network (%)", xlabel="eigenfunction number")
axes = bottom.subplots(3, 12)
for row, index in zip(axes, (1, 9, 99), strict=True):
    order = np.argsort(spectrum.eigenvectors[:, index])
    for axis, image in zip(row, np.r_[order[:6], order[-6:]], strict=True):
        axis.imshow(small.x[image, :, :, 0], cmap="gray_r")
        axis.set_xticks([])
        axis.set_yticks([])
    row[0].set_ylabel(f"{index + 1}", rotation=0, ha="right", va="center")
bottom.suptitle("most negative and most positive images, by eigenfunction number")
plt.show()
