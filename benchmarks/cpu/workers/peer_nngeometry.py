"""nngeometry: `GramMatrix`, with either of its ways to per-example gradients."""

# pyright: reportMissingImports=false
import numpy as np
import torch_networks
from nngeometry import GramMatrix
from nngeometry.backend.torch_hooks import grads_conv
from torch.utils.data import DataLoader, TensorDataset


def build(network: str, params: dict, x: np.ndarray, options: dict) -> dict:
    """Return `outputs` and `compute`; `options["convolutions"]` is `unfold` or `conv`.

    One batch holds all examples unless `options["tile"]` says otherwise: smaller ones
    make the library repeat backward passes.
    """
    module = torch_networks.build(network, params)
    images = torch_networks.arrange(network, x)
    size = options.get("tile") or len(images)
    convolutions = {
        "unfold": grads_conv.use_unfold_impl_for_convs,
        "conv": grads_conv.use_conv_impl_for_convs,
    }[options["convolutions"]]

    def compute():
        loader = DataLoader(TensorDataset(images), batch_size=size)
        with convolutions():
            K = GramMatrix(module, loader).to_torch()
        return K[0, :, 0].numpy()

    return {
        "outputs": lambda num: module(images[:num])[:, 0].detach(),
        "compute": compute,
    }
