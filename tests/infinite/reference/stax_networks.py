"""The networks of `tests/infinite/networks.py`, by the same names, in stax.

Not here: `conv_dilated`, for which stax has no layer; `conv_local`, `resize` and
`resize_nearest`, whose kernels in stax are not those of its own finite networks (it
mixes up height and width after an odd number of convolutions). Those three are here
after one more convolution, as `*_even`.
"""

import numpy as np
from neural_tangents import stax  # pyright: ignore[reportMissingImports]

ROOT_2 = 2**0.5
MASK = 1e3  # marks positions that are not there

relu, gap, flat = stax.Relu(), stax.GlobalAvgPool(), stax.Flatten()


def dense(width=1, weight_std=1.1, bias_std=0.3, **options):
    """A layer as `networks.dense` makes it."""
    return stax.Dense(width, weight_std, bias_std, **options)


def conv(window=(3, 3), strides=None, padding="SAME", weight_std=1.3, bias_std=0.2):
    """A layer as `networks.conv` makes it."""
    return stax.Conv(6, window, strides, padding, weight_std, bias_std)


def residual(*layers, shortcut=None):
    """Layers, and a way around them."""
    around = shortcut or stax.Identity()
    inside = stax.parallel(around, stax.serial(*layers))
    return stax.serial(stax.FanOut(2), inside, stax.FanInSum())


def joined(last, *branches):
    """Branches on one input."""
    return stax.serial(stax.FanOut(len(branches)), stax.parallel(*branches), last)


def attention(mechanism="SOFTMAX", linear=True):
    """A layer as `networks.attention` makes it."""
    return stax.GlobalSelfAttention(
        n_chan_out=6,
        n_chan_key=5,
        n_chan_val=4,
        n_heads=2,
        linear_scaling=linear,
        W_key_std=1.2,
        W_query_std=0.9,
        W_value_std=1.1,
        b_std=0.2,
        attention_mechanism=mechanism,
    )


def sequence(layer):
    """A network as `networks.sequence` makes it."""
    return dense(6), relu, layer, gap, dense()


def standard():
    """Improved standard parameterization."""
    options = {"parameterization": "standard"}
    return (
        *(dense(8, ROOT_2, 0.1, **options), relu),
        *(dense(6, ROOT_2, 0.1, **options), relu),
        dense(1, 1.0, 0.0, **options),
    )


def standard_conv():
    """The same with convolutions."""
    options = {"W_std": 1.2, "parameterization": "standard"}
    return (
        *(stax.Conv(5, (3, 3), padding="SAME", b_std=0.1, **options), relu),
        *(stax.Conv(7, (2, 2), padding="VALID", b_std=None, **options), relu),
        *(gap, stax.Dense(1, 1.0, None, parameterization="standard")),
    )


def plain_conv(weight_std=1.0, strides=None):
    """A 3 x 3 convolution of a preset."""
    return stax.Conv(6, (3, 3), strides, "SAME", weight_std)


def myrtle(repeats):
    """Stages of convolutions, averages between them."""
    layers = []
    for stage, times in enumerate(repeats):
        layers += [plain_conv(ROOT_2), relu] * times
        layers += [stax.AvgPool((2, 2), (2, 2))] * (3 if stage == 2 else 1)
    return *layers, flat, stax.Dense(1, ROOT_2)


def wide_resnet(blocks, pool):
    """Three groups of residual blocks."""
    layers = [plain_conv()]
    for group in range(3):
        for number in range(blocks):
            strides = (2, 2) if group and not number else None
            inside = relu, plain_conv(strides=strides), relu, plain_conv()
            around = plain_conv(strides=strides) if not number else None
            layers.append(residual(*inside, shortcut=around))
    return *layers, stax.AvgPool((pool, pool)), flat, stax.Dense(1)


def transposed(window, strides, padding="SAME", bias_std=None):
    """A transposed convolution."""
    return stax.ConvTranspose(6, window, strides, padding, 1.2, bias_std)


pool = stax.AvgPool
IMAGES = (4, 5, 2)
NETWORKS = {
    "dense": ((5,), dense(8), relu, dense(8), relu, dense()),
    "dense_erf": ((5,), dense(8), stax.Erf(), dense()),
    "dense_ends_in_relu": ((5,), dense(8), relu),
    "standard": ((5,), *standard()),
    "standard_conv": ((4, 4, 3), *standard_conv()),
    "conv_flatten": (IMAGES, conv(), relu, conv(), relu, flat, dense()),
    "conv_gap": (IMAGES, conv(), relu, conv(), relu, gap, dense()),
    "conv_valid": (IMAGES, conv((2, 3), padding="VALID"), relu, conv(), relu, gap),
    "conv_circular": (IMAGES, conv(padding="CIRCULAR"), relu, conv(), relu, gap),
    "conv_circular_strided": (
        *(IMAGES, conv((3, 3), (2, 1), "CIRCULAR"), relu),
        *(conv(padding="CIRCULAR"), relu, gap),
    ),
    "conv_strided": (
        *(IMAGES, conv((3, 2), (2, 1)), relu, conv((2, 2), (2, 2)), relu, gap),
    ),
    "conv_1d": ((6, 2), conv((3,)), relu, conv((2,)), relu, gap),
    "conv_3d": ((2, 3, 2, 2), conv((2, 2, 2)), relu, gap, dense()),
    "conv_dense": (IMAGES, conv(), relu, dense(6), relu, gap, dense()),
    "conv_transpose": (
        *(IMAGES, conv(), relu, transposed((3, 2), (2, 1), bias_std=0.1), relu, gap),
    ),
    "conv_transpose_valid": (
        *(IMAGES, transposed((2, 3), (2, 2), "VALID"), relu, gap, dense()),
    ),
    "conv_transpose_circular": (
        *(IMAGES, transposed((3, 3), (2, 2), "CIRCULAR"), relu, gap, dense()),
    ),
    "conv_local_even": (
        *(IMAGES, conv(), relu, conv(), relu),
        *(stax.ConvLocal(6, (3, 2), None, "SAME", 1.2, 0.1), relu, gap),
    ),
    "conv_local_strided": (
        *(IMAGES, stax.ConvLocal(6, (3, 2), (1, 2), "VALID", 1.2), relu, flat),
        dense(),
    ),
    "avg_pool": (
        *(IMAGES, conv(), relu, pool((2, 2), (2, 2)), conv(), relu, flat, dense()),
    ),
    "avg_pool_same": (
        *(IMAGES, conv(), relu, pool((2, 3), (1, 2), "SAME"), conv(), relu, gap),
    ),
    "avg_pool_edges": (
        *(IMAGES, conv(), relu, pool((2, 3), (1, 2), "SAME", True)),
        *(conv(), relu, gap),
    ),
    "avg_pool_circular": (
        *(IMAGES, conv(), relu, pool((2, 2), None, "CIRCULAR"), conv(), relu, gap),
    ),
    "sum_pool": (IMAGES, conv(), relu, stax.SumPool((2, 2), (2, 1)), flat, dense()),
    "global_sum_pool": (IMAGES, conv(), relu, stax.GlobalSumPool(), dense()),
    "pool_of_gaussians": (IMAGES, conv(), pool((2, 2), (2, 2)), relu, gap, dense()),
    "residual": (
        *(IMAGES, conv(), residual(relu, conv(), relu, conv()), relu, gap, dense()),
    ),
    "residual_shortcut": (
        *(IMAGES, conv()),
        residual(relu, conv((3, 3), (2, 2)), shortcut=conv((1, 1), (2, 2))),
        *(relu, flat, dense()),
    ),
    "residual_dense": (
        *((5,), dense(8), stax.repeat(residual(relu, dense(8)), 2), relu, dense()),
    ),
    "product": (
        *((5,), dense(8)),
        joined(
            stax.FanInProd(),
            stax.serial(relu, dense(6)),
            stax.serial(stax.Erf(), dense(6)),
        ),
        dense(),
    ),
    "concatenate": (
        *((5,), dense(8)),
        joined(
            stax.FanInConcat(-1),
            stax.serial(relu, dense(6)),
            stax.serial(stax.Erf(), dense(2)),
        ),
        dense(),
    ),
    "layer_norm": ((5,), dense(8), stax.LayerNorm(), relu, dense()),
    "layer_norm_conv": (IMAGES, conv(), stax.LayerNorm(), relu, conv(), relu, gap),
    "layer_norm_positions": (
        *(IMAGES, conv(), stax.LayerNorm((1, 2, 3)), relu, conv(), relu, gap),
    ),
    "dropout": ((5,), dense(8), relu, stax.Dropout(0.7), dense(8), relu, dense()),
    "dropout_conv": (
        *(IMAGES, conv(), relu, stax.Dropout(0.7), conv(), relu, gap, dense()),
    ),
    "attention_softmax": ((4, 3), *sequence(attention())),
    "attention_identity": ((4, 3), *sequence(attention("IDENTITY"))),
    "attention_relu": ((4, 3), *sequence(attention("RELU"))),
    "attention_abs": ((4, 3), *sequence(attention("ABS"))),
    "attention_root": ((4, 3), *sequence(attention("IDENTITY", linear=False))),
    "attention_images": (IMAGES, conv(), relu, attention(), relu, gap, dense()),
    "resize_even": (
        *(IMAGES, conv(), relu, conv(), relu),
        *(stax.ImageResize((-1, 3, 7, -1), "linear"), conv(), relu, gap),
    ),
    "resize_nearest_even": (
        *(IMAGES, conv(), relu, conv(), relu),
        *(stax.ImageResize((-1, 6, 3, -1), "nearest"), conv(), relu, gap),
    ),
    "slice": (
        IMAGES,
        conv(),
        relu,
        stax.Index(stax.Slice[:, 1::2, 0:4]),
        conv(),
        relu,
        gap,
    ),
    "slice_index": (IMAGES, conv(), relu, stax.Index(stax.Slice[:, 2, 1]), dense()),
    "aggregate": (
        *((4, 3), stax.Aggregate(1), dense(6), relu),
        *(stax.Aggregate(1), dense(6), relu, gap),
    ),
    "masked_dense": ((5, 3), dense(6), relu, dense(6), relu, gap, dense()),
    "masked_conv": ((6, 3), conv((3,)), relu, conv((3,)), relu, gap, dense()),
    "masked_conv_strided": (
        *((6, 4, 3), conv(), relu, conv((3, 3), (2, 1)), relu, flat, dense()),
    ),
    "masked_pool": (
        *((6, 3), conv((3,)), relu, pool((2,), (2,)), conv((3,)), relu, gap, dense()),
    ),
    "masked_attention": ((4, 3), *sequence(attention())),
    "fc": ((5,), flat, *(stax.Dense(8, ROOT_2), relu) * 3, stax.Dense(1)),
    "cntk": (IMAGES, *(plain_conv(ROOT_2), relu) * 3, gap, stax.Dense(1)),
    "cntk_flatten": (IMAGES, *(plain_conv(ROOT_2), relu) * 3, flat, stax.Dense(1)),
    "myrtle5": ((32, 32, 3), *myrtle((2, 1, 1))),
    "wide_resnet": ((8, 8, 3), *wide_resnet(2, 2)),
}


def examples(name, shape, n, seed):
    """Inputs, masks and graphs as `networks.examples` draws them."""
    draws = np.random.default_rng(seed)
    x = draws.normal(size=(n, *shape))
    if n > 2:
        x[-1] = x[0] + 1e-3 * draws.normal(size=shape)
    if name.startswith("masked"):
        lengths = draws.integers(2, shape[0] + 1, size=n)
        mask = np.arange(shape[0])[None] < lengths[:, None]
        if len(shape) == 3:
            mask = np.repeat(mask[:, :, None], shape[1], axis=2)
        return np.where(mask[..., None], x, MASK), None
    if name == "aggregate":
        graph = draws.uniform(size=(n, shape[0], shape[0]))
        return x, np.swapaxes(graph, 1, 2)  # stax wants tails first
    return x, None


def sizes(name):
    """How many examples on either side."""
    return (2, 1) if name == "myrtle5" else (3, 2)


def networks(kernels):
    """Kernels of all networks: of two sets, and of the first with itself."""
    found = {}
    for name, (shape, *layers) in NETWORKS.items():
        net, (n, m) = stax.serial(*layers), sizes(name)
        (x_1, graph_1), (x_2, graph_2) = (
            examples(name, shape, size, seed) for seed, size in enumerate((n, m))
        )
        options, own = {}, {}
        if name.startswith("masked"):
            options = own = {"mask_constant": MASK}
        if graph_1 is not None:
            options, own = {"pattern": (graph_1, graph_2)}, {"pattern": (graph_1,) * 2}
        found |= kernels(name, net, x_1, x_2, **options)
        found |= kernels(f"{name}.own", net, x_1, None, **own)
        found[f"{name}.sums"] = np.array([x_1.sum(), x_2.sum()])
    return found
