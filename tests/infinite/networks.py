"""Small networks of every kind of layer, by name, with the inputs they are tested on.

The same networks are built with another library in `reference/`; a name stands for the
same layers, widths and deviations there.
"""

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from tangentlab import infinite as inf

ROOT_2 = math.sqrt(2)


class Case(NamedTuple):
    """A network, and the shape of one of its inputs.

    `mask` and `graph` say what inputs bring along; see `examples`.
    """

    build: Callable[[], inf.Layer]
    shape: tuple[int, ...]
    mask: bool = False
    graph: bool = False


def examples(name: str, n: int = 4, seed: int = 0) -> inf.Batch:
    """Inputs of a network by its name; see `inputs`."""
    return inputs(NETWORKS[name], n, seed)


def inputs(case: Case, n: int = 4, seed: int = 0) -> inf.Batch:
    """Inputs of a network; the last of several is the first again, nearly."""
    draws = np.random.default_rng(seed)
    x = draws.normal(size=(n, *case.shape))
    if n > 2:
        x[-1] = x[0] + 1e-3 * draws.normal(size=case.shape)
    mask = graph = None
    if case.mask:
        lengths = draws.integers(2, case.shape[0] + 1, size=n)
        mask = np.arange(case.shape[0])[None] < lengths[:, None]
        if len(case.shape) == 3:  # images of unequal height
            mask = np.repeat(mask[:, :, None], case.shape[1], axis=2)
    if case.graph:
        graph = draws.uniform(size=(n, case.shape[0], case.shape[0]))
    return inf.Batch(x, mask, graph)


def dense(width: int = 1, weight_std: float = 1.1, bias_std: float | None = 0.3):
    return inf.Dense(width, weight_std, bias_std)


def conv(
    window: tuple[int, ...] = (3, 3),
    strides: int | tuple[int, ...] = 1,
    padding: Literal["SAME", "VALID", "CIRCULAR"] = "SAME",
    **options: Any,
):
    options = {"weight_std": 1.3, "bias_std": 0.2, **options}
    return inf.Conv(6, window, strides, padding, **options)


def _images(*layers, shape=(4, 5, 2)) -> Case:
    return Case(lambda: inf.serial(*layers), shape)


def _standard():
    layers = []
    for width in (8, 6):
        layers += [
            inf.Dense(width, ROOT_2, 0.1, parameterization="standard"),
            inf.Relu(),
        ]
    return inf.serial(*layers, inf.Dense(1, 1.0, 0.0, parameterization="standard"))


def _standard_conv():
    options = {"weight_std": 1.2, "parameterization": "standard"}
    return inf.serial(
        inf.Conv(5, (3, 3), bias_std=0.1, **options),
        inf.Relu(),
        inf.Conv(7, (2, 2), padding="VALID", bias_std=None, **options),
        inf.Relu(),
        inf.GlobalAvgPool(),
        inf.Dense(1, 1.0, None, parameterization="standard"),
    )


def attention(**options):
    return inf.GlobalSelfAttention(
        6, 5, 4, 2, key_std=1.2, query_std=0.9, value_std=1.1, bias_std=0.2, **options
    )


def sequence(layer, **options) -> Case:
    layers = inf.serial(dense(6), inf.Relu(), layer, inf.GlobalAvgPool(), dense())
    return Case(lambda: layers, (4, 3), **options)


relu, gap, flat = inf.Relu(), inf.GlobalAvgPool(), inf.Flatten()

NETWORKS: dict[str, Case] = {
    "dense": Case(lambda: inf.serial(dense(8), relu, dense(8), relu, dense()), (5,)),
    "dense_erf": Case(lambda: inf.serial(dense(8), inf.Erf(), dense()), (5,)),
    "dense_ends_in_relu": Case(lambda: inf.serial(dense(8), relu), (5,)),
    "standard": Case(_standard, (5,)),
    "standard_conv": Case(_standard_conv, (4, 4, 3)),
    "conv_flatten": _images(conv(), relu, conv(), relu, flat, dense()),
    "conv_gap": _images(conv(), relu, conv(), relu, gap, dense()),
    "conv_valid": _images(conv((2, 3), padding="VALID"), relu, conv(), relu, gap),
    "conv_circular": _images(conv(padding="CIRCULAR"), relu, conv(), relu, gap),
    "conv_circular_strided": _images(
        conv((3, 3), (2, 1), "CIRCULAR"), relu, conv(padding="CIRCULAR"), relu, gap
    ),
    "conv_strided": _images(conv((3, 2), (2, 1)), relu, conv((2, 2), 2), relu, gap),
    "conv_dilated": _images(
        conv((2, 3), dilation=(2, 1)), relu, conv((3, 3), dilation=2), relu, gap
    ),
    "conv_1d": _images(conv((3,)), relu, conv((2,)), relu, gap, shape=(6, 2)),
    "conv_3d": _images(conv((2, 2, 2)), relu, gap, dense(), shape=(2, 3, 2, 2)),
    "conv_dense": _images(conv(), relu, dense(6), relu, gap, dense()),
    "conv_transpose": _images(
        conv(),
        relu,
        inf.ConvTranspose(6, (3, 2), (2, 1), weight_std=1.2, bias_std=0.1),
        relu,
        gap,
    ),
    "conv_transpose_valid": _images(
        inf.ConvTranspose(6, (2, 3), 2, "VALID", weight_std=1.2), relu, gap, dense()
    ),
    "conv_transpose_circular": _images(
        inf.ConvTranspose(6, (3, 3), 2, "CIRCULAR", weight_std=1.2), relu, gap, dense()
    ),
    "conv_local": _images(
        conv(),
        relu,
        inf.ConvLocal(6, (3, 2), padding="SAME", weight_std=1.2, bias_std=0.1),
        relu,
        gap,
    ),
    "conv_local_strided": _images(
        inf.ConvLocal(6, (3, 2), (1, 2), "VALID", weight_std=1.2), relu, flat, dense()
    ),
    "avg_pool": _images(
        conv(), relu, inf.AvgPool((2, 2), 2), conv(), relu, flat, dense()
    ),
    "avg_pool_same": _images(
        conv(), relu, inf.AvgPool((2, 3), (1, 2), "SAME"), conv(), relu, gap
    ),
    "avg_pool_edges": _images(
        conv(),
        relu,
        inf.AvgPool((2, 3), (1, 2), "SAME", count_padding=False),
        conv(),
        relu,
        gap,
    ),
    "avg_pool_circular": _images(
        conv(), relu, inf.AvgPool((2, 2), 1, "CIRCULAR"), conv(), relu, gap
    ),
    "sum_pool": _images(conv(), relu, inf.SumPool((2, 2), (2, 1)), flat, dense()),
    "global_sum_pool": _images(conv(), relu, inf.GlobalSumPool(), dense()),
    "pool_of_gaussians": _images(conv(), inf.AvgPool((2, 2), 2), relu, gap, dense()),
    "residual": _images(
        conv(), inf.residual(relu, conv(), relu, conv()), relu, gap, dense()
    ),
    "residual_shortcut": _images(
        conv(),
        inf.residual(relu, conv((3, 3), 2), shortcut=conv((1, 1), 2)),
        relu,
        flat,
        dense(),
    ),
    "residual_dense": Case(
        lambda: inf.serial(
            dense(8), inf.repeat(inf.residual(relu, dense(8)), 2), relu, dense()
        ),
        (5,),
    ),
    "product": Case(
        lambda: inf.serial(
            dense(8),
            inf.parallel(
                inf.serial(relu, dense(6)),
                inf.serial(inf.Erf(), dense(6)),
                join=inf.Product(),
            ),
            dense(),
        ),
        (5,),
    ),
    "concatenate": Case(
        lambda: inf.serial(
            dense(8),
            inf.parallel(
                inf.serial(relu, dense(6)),
                inf.serial(inf.Erf(), dense(2)),
                join=inf.Concatenate(),
            ),
            dense(),
        ),
        (5,),
    ),
    "layer_norm": Case(
        lambda: inf.serial(dense(8), inf.LayerNorm(), relu, dense()), (5,)
    ),
    "layer_norm_conv": _images(conv(), inf.LayerNorm(), relu, conv(), relu, gap),
    "layer_norm_positions": _images(
        conv(), inf.LayerNorm(over_positions=True), relu, conv(), relu, gap
    ),
    "dropout": Case(
        lambda: inf.serial(
            dense(8), relu, inf.Dropout(0.7, training=True), dense(8), relu, dense()
        ),
        (5,),
    ),
    "dropout_conv": _images(
        conv(), relu, inf.Dropout(0.7, training=True), conv(), relu, gap, dense()
    ),
    "attention_softmax": sequence(attention()),
    "attention_identity": sequence(attention(mechanism="identity")),
    "attention_relu": sequence(attention(mechanism="relu")),
    "attention_abs": sequence(attention(mechanism="abs")),
    "attention_root": sequence(attention(mechanism="identity", scaling="root")),
    "attention_images": _images(conv(), relu, attention(), relu, gap, dense()),
    "resize": _images(conv(), relu, inf.ImageResize((3, 7)), conv(), relu, gap),
    "resize_nearest": _images(
        conv(), relu, inf.ImageResize((6, 3), "nearest"), conv(), relu, gap
    ),
    "slice": _images(
        conv(), relu, inf.Slice(slice(1, None, 2), slice(0, 4)), conv(), relu, gap
    ),
    "slice_index": _images(conv(), relu, inf.Slice(2, 1), dense()),
    "aggregate": Case(
        lambda: inf.serial(
            inf.Aggregate(), dense(6), relu, inf.Aggregate(), dense(6), relu, gap
        ),
        (4, 3),
        graph=True,
    ),
    "masked_dense": Case(
        lambda: inf.serial(dense(6), relu, dense(6), relu, gap, dense()),
        (5, 3),
        mask=True,
    ),
    "masked_conv": Case(
        lambda: inf.serial(conv((3,)), relu, conv((3,)), relu, gap, dense()),
        (6, 3),
        mask=True,
    ),
    "masked_conv_strided": Case(
        lambda: inf.serial(
            conv((3, 3)), relu, conv((3, 3), (2, 1)), relu, flat, dense()
        ),
        (6, 4, 3),
        mask=True,
    ),
    "masked_pool": Case(
        lambda: inf.serial(
            conv((3,)), relu, inf.AvgPool((2,), 2), conv((3,)), relu, gap, dense()
        ),
        (6, 3),
        mask=True,
    ),
    "masked_attention": sequence(attention(), mask=True),
    "fc": Case(lambda: inf.fc(3, 8), (5,)),
    "cntk": Case(lambda: inf.cntk(3, 6), (4, 5, 2)),
    "cntk_flatten": Case(lambda: inf.cntk(3, 6, global_pool=False), (4, 5, 2)),
    "myrtle5": Case(lambda: inf.myrtle(5, 6), (32, 32, 3)),
    "wide_resnet": Case(lambda: inf.wide_resnet(2, 1, pool=2), (8, 8, 3)),
}
