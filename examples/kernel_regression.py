# %% [markdown]
# # How far does a network get without ever changing its features?
#
# A network that trains by first-order steps alone is regression with its tangent
# kernel. So classify images with nothing but the kernel of an untrained network: ten
# targets, one for each class, one decomposition for every training time.
#
# Runs on MNIST and CIFAR-10 if `TANGENTLAB_DATA` names a folder that holds them, on the
# embedded digits otherwise.

# %%
import argparse
import os

import jax
import matplotlib.pyplot as plt
import numpy as np

import tangentlab as tl

parser = argparse.ArgumentParser(description="Classify with a tangent kernel.")
real = bool(os.environ.get("TANGENTLAB_DATA"))
names = ["mnist", "cifar10"] if real else ["digits"]
parser.add_argument("--data", nargs="*", default=names)
parser.add_argument("--num-train", type=int, default=2000 if real else 1000)
parser.add_argument("--num-test", type=int, default=1000 if real else 300)
options, _ = parser.parse_known_args()


# %% [markdown]
# ## Kernel and targets
#
# One logit is enough: in the infinite-width limit the logits of a network do not see
# each other, and all classes share one kernel. Targets are one-hot rows, centered.


# %%
def kernel_and_targets(name):
    data = tl.data.normalize(tl.data.load(name))
    data = tl.data.subset(
        data, options.num_train, num_test=options.num_test, key=jax.random.key(0)
    )
    model = tl.models.lenet(data.shape)
    params = model.init(jax.random.key(42))
    K = tl.gram(model.apply, params, data.x)
    classes = np.asarray(data.y)
    y = np.eye(10)[classes] - 0.1
    n = data.num_train
    return tl.predict.split_kernel(np.asarray(K), n), y[:n], y[n:]


def accuracy(predictions, y):
    return (predictions.argmax(axis=-1) == y.argmax(axis=-1)).mean(axis=-1)


# %% [markdown]
# ## Train for any time
#
# Time is learning rate x steps of gradient descent on the mean loss. It is counted here
# in units of the largest stable learning rate: so many of the largest steps.

# %%
curves = {}
for name in options.data:
    kernel, y, y_test = kernel_and_targets(name)
    modes = tl.predict.decompose(kernel.train)  # once
    rate = tl.predict.max_learning_rate(modes)
    steps = np.geomspace(0.1, 1e7, 60)
    flow = tl.predict.gradient_flow(modes, y, rate * steps)
    seen = accuracy(flow.outputs, y)
    unseen = accuracy(tl.predict.evaluate(flow, kernel.test_train), y_test)
    curves[name] = steps, seen, unseen

    ridge = 1e-2 * float(np.trace(kernel.train)) / len(y)
    fitted = tl.predict.ridge(modes, y, ridge)
    final = accuracy(tl.predict.evaluate(fitted, kernel.test_train), y_test)
    half = len(y_test) // 2  # one half chooses the time, the other half judges it
    stop = tl.predict.early_stopping(modes, y, kernel.test_train[:half], y_test[:half])
    stopped = tl.predict.gradient_flow(modes, y, stop.time)
    stopped = tl.predict.evaluate(stopped, kernel.test_train[half:])
    print(f"{name}: {len(y)} images, condition {fitted.condition:.1e} with the ridge")
    print(f"  ridge regression   {final:.1%} of {len(y_test)} test images")
    print(
        f"  early stopping     {accuracy(stopped, y_test[half:]):.1%}, after "
        f"{stop.time / rate:.3g} of the largest steps"
    )
    distance = np.sqrt(fitted.squared_norm.sum())
    print(f"  parameters moved   {distance:.3g} for all ten classes together")

    # The same without a decomposition, as one would with more images than fit.
    iterated = tl.predict.conjugate_gradients(kernel.train, y, ridge=ridge)
    error = np.abs(iterated.outputs - fitted.outputs).max()
    print(
        f"  by conjugate gradients the same up to {error:.1g}, in "
        f"{iterated.num_iterations} products"
    )

# %% [markdown]
# ## The answer
#
# Far on digits, less far on photographs. The training images are learned in the end,
# whatever they show; test images are decided early, by the first modes of the kernel.

# %%
figure, axes = plt.subplots(
    1,
    len(curves),
    figsize=(5 * len(curves), 3.6),
    squeeze=False,
    sharey=True,
    layout="constrained",
)
for axis, (name, (steps, seen, unseen)) in zip(axes[0], curves.items(), strict=True):
    axis.semilogx(steps, 100 * seen, label="training images")
    axis.semilogx(steps, 100 * unseen, label="test images")
    axis.axhline(10, color="gray", linestyle=":", label="chance")
    axis.set(title=name, xlabel="time, in steps of the largest stable rate")
axes[0, 0].set_ylabel("accuracy (%)")
axes[0, 0].legend()
plt.show()
