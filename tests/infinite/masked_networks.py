"""Networks on inputs of unequal length, one for each layer that sees masks."""

from typing import Any

import numpy as np

from tangentlab import infinite as inf

from .networks import Case, attention, conv, dense, flat, gap, inputs, relu, sequence

over_all = inf.LayerNorm(over_positions=True)


def uneven(case: Case, n: int = 4, seed: int = 0) -> inf.Batch:
    """Inputs of a network, of odd and even lengths."""
    size = case.shape[0]
    lengths = np.array([size // 2, size - 1, 2, size])[:n]
    drawn = inputs(case, n, seed)
    mask = np.arange(size)[None] < lengths[:, None]
    mask = np.expand_dims(mask, tuple(range(2, len(case.shape))))
    return drawn._replace(mask=np.broadcast_to(mask, drawn.x.shape[:-1]))


def conv_1d(window: int = 3, *options: Any):
    return conv((window,), *options)


def _lengths(*layers, shape=(6, 3), graph=False) -> Case:
    return Case(lambda: inf.serial(*layers), shape, mask=True, graph=graph)


def _heights(*layers) -> Case:
    return _lengths(*layers, shape=(6, 4, 2))


def _after_conv(*layers) -> Case:
    return _lengths(conv_1d(), relu, *layers)


def _transposed(window: int, strides: int, padding: Any = "SAME"):
    return inf.ConvTranspose(
        6, (window,), strides, padding, weight_std=1.2, bias_std=0.1
    )


def _joined(join: Any, *branches) -> Case:
    return _lengths(conv_1d(), inf.parallel(*branches, join=join), gap, dense())


LONG, SHORT = inf.serial(relu, conv_1d(3, 2)), conv_1d(1, 2)  # unequal middles
LOCAL = inf.ConvLocal(6, (3, 2), padding="SAME", weight_std=1.2, bias_std=0.1)

MASKED: dict[str, Case] = {
    "layer_norm": _lengths(conv_1d(), inf.LayerNorm(), relu, conv_1d(), relu, gap),
    "layer_norm_positions": _lengths(conv_1d(), over_all, relu, conv_1d(), relu, gap),
    "layer_norm_images": _heights(conv(), over_all, relu, flat, dense()),
    "layer_norm_after_pool": _lengths(
        conv_1d(), inf.AvgPool((3,), 1, "SAME"), over_all, relu, gap
    ),
    "resize": _heights(conv(), relu, inf.ImageResize((3, 5)), conv(), relu, gap),
    "resize_nearest": _after_conv(inf.ImageResize((9,), "nearest"), gap, dense()),
    "resize_lanczos": _after_conv(
        inf.ImageResize((18,), "lanczos3"), dense(6), relu, gap
    ),
    "slice": _heights(
        *(conv(), relu, inf.Slice(slice(1, None, 2), slice(0, 2)), conv(), relu, gap)
    ),
    "slice_index": _after_conv(inf.Slice(3), dense(6), relu, dense()),
    "conv_transpose": _after_conv(_transposed(3, 2), relu, gap),
    "conv_transpose_even": _after_conv(_transposed(2, 2), relu, gap),
    "conv_transpose_once": _after_conv(_transposed(4, 1), relu, gap),
    "conv_transpose_circular": _after_conv(_transposed(3, 2, "CIRCULAR"), relu, gap),
    "conv_local": _heights(conv(), relu, LOCAL, relu, gap),
    "conv_local_valid": _lengths(
        inf.ConvLocal(6, (3,), 2, "VALID", weight_std=1.2), relu, flat, dense()
    ),
    "sum_pool": _after_conv(inf.SumPool((3,), 1, "SAME"), gap, dense()),
    "avg_pool": _heights(
        conv(), relu, inf.AvgPool((2, 3), (2, 1), "SAME"), flat, dense()
    ),
    "avg_pool_valid": _after_conv(inf.AvgPool((3,)), gap, dense()),
    "global_sum_pool": _after_conv(inf.GlobalSumPool(), dense()),
    "aggregate": _lengths(
        *(inf.Aggregate(), dense(6), relu, inf.Aggregate(), dense(6), relu, gap),
        shape=(4, 3),
        graph=True,
    ),
    "aggregate_last": _lengths(dense(6), relu, inf.Aggregate(), gap, graph=True),
    "attention_identity": sequence(attention(mechanism="identity"), mask=True),
    "attention_relu": sequence(attention(mechanism="relu"), mask=True),
    "attention_abs": sequence(attention(mechanism="abs"), mask=True),
    "attention_root": sequence(
        attention(mechanism="identity", scaling="root"), mask=True
    ),
    "conv_valid": _lengths(conv_1d(3, 1, "VALID"), relu, conv_1d(2, 1, "VALID"), gap),
    "conv_circular": _lengths(
        conv_1d(3, 1, "CIRCULAR"), relu, conv_1d(3, 2, "CIRCULAR"), relu, gap
    ),
    "conv_dilated": _lengths(conv((3,), dilation=2), relu, conv_1d(), relu, gap),
    "conv_dilated_even": _lengths(
        conv((2,), dilation=2), relu, conv((2,), 2, dilation=2), relu, gap
    ),
    "residual": _lengths(conv_1d(), inf.residual(relu, conv_1d()), relu, gap, dense()),
    "shortcut": _joined(inf.Sum(), SHORT, LONG),
    "shortcut_last": _joined(inf.Sum(), LONG, SHORT),
    "product": _joined(
        inf.Product(), inf.serial(relu, conv_1d()), inf.serial(inf.Erf(), dense(6))
    ),
    "concatenate": _joined(
        inf.Concatenate(), inf.serial(relu, conv_1d()), inf.serial(inf.Erf(), dense(2))
    ),
    "dropout": _after_conv(inf.Dropout(0.7, training=True), conv_1d(), relu, gap),
}
