"""PyTorch's own `torch.func`: per-example Jacobians by `vmap(jacrev)`, contracted."""

# pyright: reportMissingImports=false
import numpy as np
import torch
import torch_networks
from torch.func import functional_call, jacrev, vmap


def build(network: str, params: dict, x: np.ndarray, options: dict) -> dict:
    """Return `outputs` and `compute`, in the way `options["way"]` names.

    `tutorial`: as in PyTorch's tutorial on neural tangent kernels, both Jacobians and
    one einsum per parameter, stacked and summed. `once`: the same with the Jacobian of
    the one set of examples computed once, and products summed as they come.
    """
    module = torch_networks.build(network, params)
    images = torch_networks.arrange(network, x)
    weights = {name: value.detach() for name, value in module.named_parameters()}

    def single(weights, image):
        return functional_call(module, weights, (image[None],))[0]

    def jacobian(images):
        chunk = options.get("chunk")
        rows = vmap(jacrev(single), (None, 0), chunk_size=chunk)(weights, images)
        return [J.flatten(2) for J in rows.values()]

    def tutorial():
        pairs = zip(jacobian(images), jacobian(images), strict=True)
        terms = [torch.einsum("naf,mbf->nmab", left, right) for left, right in pairs]
        return torch.stack(terms).sum(0)[:, :, 0, 0].numpy()

    def once():
        K = torch.zeros(len(images), len(images))
        for J in jacobian(images):
            K.addmm_(J[:, 0], J[:, 0].T)
        return K.numpy()

    return {
        "outputs": lambda num: module(images[:num])[:, 0].detach(),
        "compute": tutorial if options["way"] == "tutorial" else once,
    }
