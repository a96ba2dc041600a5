"""Compute reference kernels with neural-tangents 0.6.5 and store them beside this file.

It runs in an environment of its own (Python 3.11):

    pip install neural-tangents==0.6.5 jax==0.4.25 jaxlib==0.4.25 "numpy<2" \
        "scipy<1.13" tf2jax==0.3.6
    python make.py

and imports nothing of this project. `activations.npz` holds one small network for each
activation, `networks.npz` those of `stax_networks.py`; both with their inputs, in
float64. `names.txt` holds every public name.
"""

import types
import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

import neural_tangents as nt  # noqa: E402  # pyright: ignore[reportMissingImports]
from neural_tangents import stax  # noqa: E402  # pyright: ignore[reportMissingImports]

FOLDER = Path(__file__).parent
ACTIVATIONS = {
    "relu": stax.Relu(),
    "leaky_relu": stax.LeakyRelu(0.2),
    "abrelu": stax.ABRelu(-0.5, 1.5),
    "abs": stax.Abs(),
    "step": stax.RectifiedMonomial(0),
    "rectified_1": stax.RectifiedMonomial(1),
    "rectified_2": stax.RectifiedMonomial(2),
    "rectified_4": stax.RectifiedMonomial(4),
    "sign": stax.Sign(),
    "erf": stax.Erf(),
    "erf_affine": stax.Erf(0.7, 1.3, 0.4),
    "sigmoid_like": stax.Sigmoid_like(),
    "gelu": stax.Gelu(),
    "sin": stax.Sin(),
    "sin_affine": stax.Sin(0.8, 1.2, 0.3),
    "cos": stax.Cos(),
    "cos_affine": stax.Cos(0.8, 1.2, 0.3),
    "rbf": stax.Rbf(0.7),
    "gabor": stax.Gabor(),
    "exp": stax.Exp(0.5, 0.6),
    "gaussian": stax.Gaussian(1.5, -0.4),
    "exp_normalized": stax.ExpNormalized(0.8, -0.6),
    "monomial_1": stax.Monomial(1),
    "monomial_3": stax.Monomial(3),
    "polynomial": stax.Polynomial([0.5, -1.0, 0.3, 0.2]),
    "by_kernel": stax.Elementwise(jnp.square, lambda c, p, q: p * q + 2 * c * c),
    "tanh": stax.ElementwiseNumerical(jnp.tanh, 100),
    "silu": stax.ElementwiseNumerical(jax.nn.silu, 100),
    "elu": stax.ElementwiseNumerical(jax.nn.elu, 100),
    "softplus": stax.ElementwiseNumerical(jax.nn.softplus, 100),
    "gelu_tanh": stax.ElementwiseNumerical(jax.nn.gelu, 100),
}
UNIT_VARIANCE = {"hermite_0": stax.Hermite(0), "hermite_3": stax.Hermite(3)}


def inputs():
    """Two sets of vectors, the second with a copy of one of the first."""
    rng = np.random.default_rng(0)
    x_1, x_2 = rng.normal(size=(5, 4)), rng.normal(size=(4, 4))
    x_2[3] = x_1[0]
    return x_1, x_2


def activations():
    """`name.nngp` and `name.ntk` of Dense, activation, Dense; unit variance apart."""
    x_1, x_2 = inputs()
    found = {"x_1": x_1, "x_2": x_2}
    for name, layer in ACTIVATIONS.items():
        first, last = stax.Dense(1, 1.2, 0.3), stax.Dense(1, 0.9, 0.1)
        found |= kernels(name, stax.serial(first, layer, last), x_1, x_2)
    units = [2 * x / np.linalg.norm(x, axis=1, keepdims=True) for x in (x_1, x_2)]
    for name, layer in UNIT_VARIANCE.items():
        net = stax.serial(stax.Dense(1), layer, stax.Dense(1, 0.9, 0.1))
        found |= kernels(name, net, *units)
    return found


def kernels(name, layer, x_1, x_2, **options):
    """Both kernels of a network as two named arrays."""
    values = layer[2](x_1, x_2, ("nngp", "ntk"), **options)
    return {f"{name}.nngp": np.asarray(values.nngp), f"{name}.ntk": _ntk(values)}


def _ntk(values):
    return np.broadcast_to(np.asarray(values.ntk), values.nngp.shape)


def names():
    """Every public name, a line each."""
    modules = {
        "": nt,
        "stax.": stax,
        "predict.": nt.predict,
        "experimental.": nt.experimental,
    }
    for prefix, module in modules.items():
        for name in sorted(vars(module)):
            part = getattr(module, name)
            if not name.startswith("_") and not isinstance(part, types.ModuleType):
                yield prefix + name


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    from stax_networks import networks

    made = {"activations": activations(), "networks": networks(kernels)}
    for name, arrays in made.items():
        with (FOLDER / f"{name}.npz").open("wb") as file:
            np.savez_compressed(file, **arrays)
    (FOLDER / "names.txt").write_text("\n".join(names()) + "\n")
