"""Options that many experiments share."""

from dataclasses import dataclass
from pathlib import Path

from ...models import Activation, ModelName


@dataclass(frozen=True)
class Setting:
    """Data, network and seeds: options that many experiments share."""

    data: str = "digits"
    """Data set: digits, cifar10, mnist, fashion_mnist, or a path to an .npz file."""
    directory: Path | None = None
    """Folder with the data; else $TANGENTLAB_DATA, then the user cache."""
    num_samples: int | None = None
    """Samples in all, train and test, stratified by class; all there are by default."""
    num_test: int | None = None
    """Test samples among them; the data set's own proportion by default. Give it to
    compare training sizes: it alone decides which test samples are taken."""
    model: ModelName = "mlp"
    """Network: mlp, lenet or resnet18, as in the paper."""
    activation: Activation = "relu"
    """Its activation."""
    last_scale: float = 0.0
    """Initial scale of the last batch norm in each block of a resnet18: 0, as in the
    paper's code, leaves all blocks silent at the start (its text does not tell); with 1
    all parameters carry the kernel."""
    seed: int = 42
    """Decides the initialization, the subset and the order of samples."""
    seeds: int = 1
    """Number of initializations: seed, seed + 1, ... on the same samples. Five are
    needed for intervals over initializations."""
