"""Convolutions of every kind, and pooling."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .cases import network

IMAGE = (4, 4, 2)


def conv(x, kernel, padding: Any = "SAME", strides=None, layout="NHWC", **options):
    """Convolution, of images `(n, h, w, c)` and kernels `(h, w, c, out)` by default."""
    lhs, rhs, out = layout.split() if " " in layout else (layout, "HWIO", layout)
    strides = strides or (1,) * (x.ndim - 2)
    return lax.conv_general_dilated(
        x, kernel, strides, padding, dimension_numbers=(lhs, rhs, out), **options
    )


def read_out(images, v):
    """Outputs from images, their channels last, after a smooth activation."""
    return jnp.tanh(images).mean(axis=tuple(range(1, images.ndim - 1))) @ v


VARIANTS = {
    "same": ((3, 3, 2, 3), {}),
    "valid": ((3, 2, 2, 3), {"padding": "VALID"}),
    "strided": ((3, 3, 2, 3), {"strides": (2, 2)}),
    "strided_unequally": ((2, 3, 2, 3), {"strides": (1, 3), "padding": "VALID"}),
    "stride_beyond_window": ((1, 1, 2, 3), {"strides": (2, 2), "padding": "VALID"}),
    "dilated": ((2, 2, 2, 3), {"rhs_dilation": (2, 2)}),
    "dilated_input": ((3, 3, 2, 3), {"lhs_dilation": (2, 2), "padding": ((1, 1),) * 2}),
    "grouped": ((3, 3, 1, 4), {"feature_group_count": 2}),
    "depthwise": ((3, 3, 1, 2), {"feature_group_count": 2}),
    "asymmetric": ((2, 2, 2, 3), {"padding": ((2, 0), (0, 1))}),
    "cropped": ((2, 2, 2, 3), {"padding": ((-1, 0), (0, -1))}),
    "pointwise": ((1, 1, 2, 3), {}),
    "whole_image": ((4, 4, 2, 3), {"padding": "VALID"}),
    "everything_at_once": (
        (2, 3, 1, 4),
        {
            "strides": (2, 1),
            "padding": ((1, 2), (3, 0)),
            "lhs_dilation": (2, 1),
            "rhs_dilation": (1, 2),
            "feature_group_count": 2,
        },
    ),
}


def enter_variant(name, kernel, options):
    shapes = {"k": kernel, "b": kernel[-1:], "v": (kernel[-1], 2)}

    @network(shapes, x=IMAGE, outputs=2, name=f"conv_{name}")
    def apply(p, x):
        return read_out(conv(x, p["k"], **options) + p["b"][None, None, None], p["v"])


for _name, (_kernel, _options) in VARIANTS.items():
    enter_variant(_name, _kernel, _options)


# In single precision XLA's CPU backend reads beyond the image for such padding.
@network({"k": (2, 2, 2, 3), "v": (3, 1)}, x=IMAGE, tags=("fixed",))
def conv_cropped_and_padded(p, x):
    return read_out(conv(x, p["k"], ((-1, 1), (0, -1))), p["v"])


@network({"k": (3, 3, 4), "v": (4, 1)}, x=(4, 3))
def conv_1d(p, x):
    return read_out(conv(x, p["k"], layout="NWC WIO NWC"), p["v"])


@network({"k": (2, 2, 2, 1, 2), "v": (2, 1)}, x=(2, 3, 2, 1))
def conv_3d(p, x):
    return read_out(conv(x, p["k"], layout="NDHWC DHWIO NDHWC"), p["v"])


@network({"k": (3, 3, 2, 3), "v": (3, 2)}, x=IMAGE, outputs=2)
def conv_circular(p, x):
    wrapped = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="wrap")
    return read_out(conv(wrapped, p["k"], "VALID"), p["v"])


@network({"k": (3, 3, 2, 3), "v": (3, 2)}, x=IMAGE, outputs=2)
def conv_reflected(p, x):
    mirrored = jnp.pad(x, ((0, 0), (1, 1), (2, 0), (0, 0)), mode="reflect")
    return read_out(conv(mirrored, p["k"], "VALID"), p["v"])


@network({"k": (3, 4, 2, 3), "v": (3, 1)}, x=IMAGE)
def conv_channels_first(p, x):
    out = conv(x, p["k"], layout="NCHW OIHW NCHW")
    return read_out(out.transpose(0, 2, 3, 1), p["v"])


@network({"k": (2, 3, 2, 3), "v": (3, 1)}, x=IMAGE)
def conv_odd_layouts(p, x):
    out = conv(x.transpose(2, 1, 0, 3), p["k"], layout="WHNC IHWO CNWH")
    return read_out(out.transpose(1, 3, 2, 0), p["v"])


@network({"k": (3, 2, 4, 1), "v": (4, 1)}, x=IMAGE)
def conv_odd_layouts_grouped(p, x):
    options = {"feature_group_count": 2, "strides": (2, 1)}
    out = conv(x, p["k"], layout="NWHC HWOI NCHW", **options)
    return read_out(out.transpose(0, 2, 3, 1), p["v"])


@network({"k": (3, 3, 2, 3), "v": (3, 1)}, x=IMAGE)
def conv_transposed(p, x):
    return read_out(lax.conv_transpose(x, p["k"], (2, 2), "SAME"), p["v"])


@network({"k": (3, 2, 3, 2), "v": (3, 1)}, x=IMAGE)
def conv_transposed_kernel_too(p, x):
    out = lax.conv_transpose(x, p["k"], (2, 1), "VALID", transpose_kernel=True)
    return read_out(out, p["v"])


@network({"k": (2, 2, 2, 3), "v": (3, 1)}, x=IMAGE)
def conv_transposed_and_dilated(p, x):
    out = lax.conv_transpose(x, p["k"], (2, 2), "SAME", rhs_dilation=(2, 1))
    return read_out(out, p["v"])


@network({"k": (2, 2, 2, 4), "v": (2, 1)}, x=IMAGE)
def conv_in_batch_groups(p, x):
    doubled = jnp.concatenate([x, x[:, ::-1]])
    out = conv(doubled, p["k"], batch_group_count=2)
    return read_out(out[..., :2] * out[..., 2:], p["v"])


@network({"k": (2, 2, 2, 2), "v": (2, 1)}, x=IMAGE)
def conv_used_twice_with_other_strides(p, x):
    first = jnp.tanh(conv(x, p["k"]))
    return read_out(conv(first, p["k"], "VALID", strides=(2, 1)), p["v"])


@network({"k": (2, 2, 2, 2), "v": (2, 1)}, x=IMAGE)
def conv_used_forward_and_transposed(p, x):
    first = jnp.tanh(conv(x, p["k"], strides=(2, 2)))
    return read_out(lax.conv_transpose(first, p["k"], (2, 2), "SAME"), p["v"])


@network({"k": (3, 1, 2), "v": (2, 1)}, x=IMAGE)
def conv_of_every_row(p, x):
    rows = x.reshape(-1, 4, 2)[..., :1]
    out = conv(rows, p["k"], layout="NWC WIO NWC")
    return read_out(out.reshape(*x.shape), p["v"])


@network({"a": (4, 4, 2), "v": (2, 1)}, x=IMAGE)
def conv_with_data_as_kernel(p, x):
    def one(kernel):
        return conv(p["a"][None], kernel[:2, :2, :, None], layout="NHWC")[0]

    out = jax.vmap(one)(x)
    return read_out(jnp.concatenate([out, out**2], axis=-1), p["v"])


@network({"k": (3, 3, 1, 2), "m": (1, 1, 2, 3), "v": (3, 1)}, x=IMAGE)
def conv_separable(p, x):
    out = conv(conv(x, p["k"], feature_group_count=2), p["m"])
    return read_out(out, p["v"])


@network({"k": (8, 3), "v": (3, 1)}, x=IMAGE)
def conv_by_patches(p, x):
    layouts = ("NHWC", "HWIO", "NHWC")
    patches = lax.conv_general_dilated_patches(
        x, (2, 2), (1, 1), "VALID", dimension_numbers=layouts
    )
    return read_out(patches @ p["k"], p["v"])


@network({"k": (3, 3, 8, 2), "v": (2, 1)}, x=IMAGE)
def conv_unshared(p, x):
    layouts = ("NHWC", "HWIO", "NHWC")
    out = lax.conv_general_dilated_local(
        x, p["k"], (1, 1), "VALID", (2, 2), dimension_numbers=layouts
    )
    return read_out(out, p["v"])


@network({"k": (2, 2, 2, 3), "v": (3, 1)}, x=IMAGE)
def conv_of_a_vectorized_image(p, x):
    def one(image):
        return conv(image[None], p["k"])[0]

    return read_out(jax.vmap(one)(x), p["v"])


@network({"k": (3, 3, 2, 2), "v": (2, 1)}, x=IMAGE, tags=("bfloat16",))
def conv_mixed_precision(p, x):
    out = conv(x.astype(jnp.bfloat16), p["k"].astype(jnp.bfloat16))
    return read_out(out.astype(jnp.float32), p["v"].astype(jnp.float32))


POOLS = {
    "sum": (0.0, lax.add, (2, 2), (2, 2), "VALID"),
    "sum_overlapping": (0.0, lax.add, (3, 2), (1, 2), "SAME"),
    "max": (-np.inf, lax.max, (2, 2), (2, 2), "VALID"),
    "max_overlapping": (-np.inf, lax.max, (3, 3), (1, 2), "SAME"),
    "min": (np.inf, lax.min, (2, 2), (1, 1), "VALID"),
}


def enter_pool(name, start, reduce, window, strides, padding):
    tags = ("kinks",) if name.startswith("m") else ()
    shapes = {"k": (3, 3, 2, 3), "v": (3, 1)}

    @network(shapes, x=IMAGE, tags=tags, name=f"pool_{name}")
    def apply(p, x):
        images = jnp.tanh(conv(x, p["k"]))
        first = np.asarray(start, images.dtype)
        sizes = (1, *window, 1), (1, *strides, 1)
        return read_out(
            lax.reduce_window(images, first, reduce, *sizes, padding), p["v"]
        )


for _name, _options in POOLS.items():
    enter_pool(_name, *_options)


@network({"k": (3, 3, 2, 3), "v": (3, 1)}, x=IMAGE)
def pool_average(p, x):
    images = jnp.tanh(conv(x, p["k"])).reshape(-1, 2, 2, 2, 2, 3)
    return read_out(images.mean(axis=(2, 4)), p["v"])


@network({"k": (3, 3, 2, 3), "v": (3, 1)}, x=IMAGE)
def pool_average_of_what_is_there(p, x):
    sizes = (1, 2, 2, 1), (1, 1, 1, 1), "SAME"
    images = jnp.tanh(conv(x, p["k"]))
    zero = np.asarray(0, images.dtype)
    total = lax.reduce_window(images, zero, lax.add, *sizes)
    count = lax.reduce_window(jnp.ones_like(images), zero, lax.add, *sizes)
    return read_out(total / count, p["v"])


@network({"k": (3, 3, 2, 3), "v": (3, 1)}, x=IMAGE)
def pool_global_average(p, x):
    return jnp.tanh(conv(x, p["k"])).mean(axis=(1, 2)) @ p["v"]


@network({"k": (3, 3, 2, 3), "v": (3, 1)}, x=IMAGE, tags=("kinks",))
def pool_global_maximum(p, x):
    return jnp.tanh(conv(x, p["k"])).max(axis=(1, 2)) @ p["v"]


@network({"k": (3, 3, 2, 3), "v": (3, 1)}, x=IMAGE)
def pool_softly(p, x):
    return jax.nn.logsumexp(conv(x, p["k"]), axis=(1, 2)) @ p["v"]
