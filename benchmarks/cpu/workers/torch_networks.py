"""The three networks as PyTorch modules with the weights of the JAX ones.

Images are channels first, as PyTorch wants them; the rows of the dense layer after a
flattened image are reordered once, here, so that no time goes into it later.
"""

# pyright: reportMissingImports=false, reportMissingTypeStubs=false
import numpy as np
import torch
from torch import nn
from torch.nn import functional

Weights = dict[str, np.ndarray]


def build(network: str, weights: Weights) -> nn.Module:
    """Return the network in evaluation mode, with these weights."""
    module = {"mlp": _mlp, "lenet": _lenet, "resnet18": ResNet18}[network](weights)
    return module.eval()


def arrange(network: str, x: np.ndarray) -> torch.Tensor:
    """Return images in the layout that the module takes."""
    if network == "mlp":
        return torch.from_numpy(np.ascontiguousarray(x.reshape(len(x), -1)))
    return torch.from_numpy(np.ascontiguousarray(x.transpose(0, 3, 1, 2)))


def _mlp(weights: Weights) -> nn.Module:
    dense = [_linear(weights, f"Dense_{i}") for i in range(3)]
    return nn.Sequential(dense[0], nn.ReLU(), dense[1], nn.ReLU(), dense[2])


def _lenet(weights: Weights) -> nn.Module:
    layers = []
    for name in ("Conv_0", "Conv_1"):
        layers += [_conv(weights, name, padding=2), nn.ReLU(), nn.AvgPool2d(2)]
    channels = layers[3].out_channels
    side = round((len(weights["Dense_0/kernel"]) / channels) ** 0.5)
    order = np.arange(side * side * channels).reshape(side, side, channels)
    rows = order.transpose(2, 0, 1).ravel()
    first = _linear(weights, "Dense_0", rows)
    rest = [nn.ReLU(), _linear(weights, "Dense_1"), nn.ReLU()]
    return nn.Sequential(
        *layers, nn.Flatten(), first, *rest, _linear(weights, "Dense_2")
    )


class Block(nn.Module):
    """Two 3x3 convolutions beside a shortcut, projected where shapes differ."""

    def __init__(self, weights: Weights, name: str, stride: int):
        super().__init__()
        # SAME padding at stride 2 on even sizes: nothing before, one after.
        self.pad = nn.ZeroPad2d((0, 1, 0, 1)) if stride == 2 else nn.Identity()
        padding = 0 if stride == 2 else 1
        self.conv_1 = _conv(weights, f"{name}/conv_1", stride=stride, padding=padding)
        self.norm_1 = _norm(weights, f"{name}/norm_1")
        self.conv_2 = _conv(weights, f"{name}/conv_2", padding=1)
        self.norm_2 = _norm(weights, f"{name}/norm_2")
        self.shortcut = nn.Sequential()
        if f"{name}/projection/kernel" in weights:
            projection = _conv(weights, f"{name}/projection", stride=stride)
            norm = _norm(weights, f"{name}/projection_norm")
            self.shortcut = nn.Sequential(projection, norm)

    def forward(self, x):
        """Return the feature maps after the block."""
        branch = functional.relu(self.norm_1(self.conv_1(self.pad(x))))
        branch = self.norm_2(self.conv_2(branch))
        return functional.relu(self.shortcut(x) + branch)


class ResNet18(nn.Module):
    """A 3x3 stem, four stages of two basic blocks, global average pooling."""

    def __init__(self, weights: Weights):
        super().__init__()
        self.stem = _conv(weights, "stem", padding=1)
        self.stem_norm = _norm(weights, "stem_norm")
        blocks = [
            Block(weights, f"block_{stage}_{i}", 2 if stage > 1 and i == 1 else 1)
            for stage in range(1, 5)
            for i in range(1, 3)
        ]
        self.blocks = nn.Sequential(*blocks)
        self.head = _linear(weights, "head")

    def forward(self, x):
        """Return the logit."""
        x = self.blocks(functional.relu(self.stem_norm(self.stem(x))))
        return self.head(x.mean(dim=(2, 3)))


def _linear(weights: Weights, name: str, rows=slice(None)) -> nn.Linear:
    kernel = weights[f"{name}/kernel"][rows]
    layer = nn.Linear(*kernel.shape)
    _set(layer.weight, kernel.T)
    _set(layer.bias, weights[f"{name}/bias"])
    return layer


def _conv(weights: Weights, name: str, stride: int = 1, padding: int = 0) -> nn.Conv2d:
    kernel = weights[f"{name}/kernel"].transpose(3, 2, 0, 1)
    bias = weights.get(f"{name}/bias")
    out_channels, in_channels, *window = kernel.shape
    layer = nn.Conv2d(
        in_channels, out_channels, tuple(window), stride, padding, bias=bias is not None
    )
    _set(layer.weight, kernel)
    if bias is not None:
        _set(layer.bias, bias)
    return layer


def _norm(weights: Weights, name: str) -> nn.BatchNorm2d:
    layer = nn.BatchNorm2d(len(weights[f"{name}/scale"]), eps=1e-5)
    _set(layer.weight, weights[f"{name}/scale"])
    _set(layer.bias, weights[f"{name}/bias"])
    return layer


def _set(parameter, value: np.ndarray) -> None:
    with torch.no_grad():
        parameter.copy_(torch.from_numpy(np.ascontiguousarray(value)))
