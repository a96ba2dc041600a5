"""Networks and data as one writes them."""

_NAMES = {
    "mlp": "MLP",
    "lenet": "LeNet",
    "resnet18": "ResNet18",
    "cifar10": "CIFAR-10",
    "mnist": "MNIST",
    "fashion_mnist": "Fashion-MNIST",
}


def subject(model: str, data: str) -> str:
    """What a run is about.

    Args:
        model: Name of the network.
        data: Name of the data set.

    Returns:
        Such as `LeNet on CIFAR-10`.
    """
    return " on ".join(_NAMES.get(name, name) for name in (model, data))
