"""The claims of the paper, its supplement, its talk and its code: D1 to D23, D46, D47.

Unless an entry says otherwise, a number is beyond a threshold when all of its 95 %
interval is, after Holm's correction over all numbers of the claim, with at least 5
initialization seeds (3 for ResNet18) outside the smallest scale.

The paper learns eigenfunctions of CIFAR-10 and CIFAR2 with three networks, and shows
MNIST and single eigenfunctions for two of them, and NADs for another two. For which
networks it compares kernels before and after training (D12, D13) and training-set sizes
(D14) could not be read: these are about the two of its single eigenfunctions at least.
"""

from ..models import ModelName
from .entries import PAPER, SUPPLEMENT, TALK, Entry

_CURVES = "curves; their numbers are not published in text"
_THREE: tuple[ModelName, ...] = ("mlp", "lenet", "resnet18")
_SMALL: tuple[ModelName, ...] = ("mlp", "lenet")
_CONVOLUTIONAL: tuple[ModelName, ...] = ("lenet", "resnet18")

PAPER_CLAIMS = (
    Entry(
        "D1",
        "Accuracy falls with the eigenfunction index, for networks and linearizations",
        SUPPLEMENT,
        _CURVES,
        "Spearman's ρ of index and accuracy below −0.8 for each model; index 0 left "
        "out, at least 20 indices",
        networks=_THREE,
    ),
    Entry(
        "D2",
        "Networks and linearizations rank tasks alike, beyond the common fall",
        f"{SUPPLEMENT}, {TALK}",
        _CURVES,
        "partial Spearman's ρ of the two accuracies, given the logarithm of the index, "
        "above 0; at least 40 tasks",
        networks=_THREE,
    ),
    Entry(
        "D3",
        "Linearizations beat networks on tasks made of eigenfunctions",
        f"{SUPPLEMENT}, {TALK}",
        "a clear linear advantage on CIFAR-10; curves",
        "mean paired gap in accuracy over indices from 10 on above 0, for each model",
        networks=_THREE,
    ),
    Entry(
        "D4",
        "The fall, the ranking and the linear advantage are the same under Adam",
        SUPPLEMENT,
        _CURVES,
        "the criteria of D1, D2 and D3, trained with Adam",
        networks=_THREE,
    ),
    Entry(
        "D5",
        "The same trend on MNIST, where the two curves of LeNet cross near 500",
        SUPPLEMENT,
        "the crossing is around φ_500; curves",
        "the gap has opposite signs beyond 2 standard errors at the two ends, and the "
        "interval of the crossing meets [200, 1000]",
        networks=_SMALL,
    ),
    Entry(
        "D6",
        "Networks beat linearizations on classes of real images",
        SUPPLEMENT,
        "all three significantly better on CIFAR2 after 200 epochs",
        "paired gap in accuracy above 0 for all three networks, also against the best "
        "epoch of the linearization and a long run of it",
        networks=_THREE,
    ),
    Entry(
        "D7",
        "Energy of CIFAR2 labels concentrates in the 50 leading modes during training",
        f"{SUPPLEMENT}, Table 1",
        "MLP 26.0 to 63.6 %, LeNet 25.8 to 83.0 %, ResNet18 22.7 to 96.7 %",
        "reading (squared or not, trained on 12,000 or 50,000) chosen by the first "
        "row; last row inside the prediction interval over seeds, or within 5 points",
        networks=_THREE,
    ),
    Entry(
        "D8",
        "CIFAR2 test accuracies of Table 1",
        f"{SUPPLEMENT}, Table 1",
        "MLP 67.6 %, LeNet 75.0 %, ResNet18 81.4 %",
        "published value inside the prediction interval over seeds, or within 3 "
        "points; whether 12,000 or 50,000 samples were trained on is determined",
        networks=_THREE,
    ),
    Entry(
        "D9",
        "Steps to a loss of 0.01, distance and cosine distance grow with the index",
        SUPPLEMENT,
        _CURVES,
        "Kendall's τ_b of the index with each at least 0.8; runs that never reach the "
        "loss are ties at the end, and their number is reported",
        networks=_THREE,
    ),
    Entry(
        "D10",
        "After training on one eigenfunction the kernel's alignment spikes there",
        SUPPLEMENT,
        "a spike at the trained index; figures",
        "rank of a_j(T) / μ_j among the neighbors k in [j / 1.25, 1.25 j] in the top "
        "5 % for every j, at least 5 of them",
        networks=_SMALL,
    ),
    Entry(
        "D11",
        "Alignment of the kernel with the labels grows in training",
        TALK,
        "it grows; a figure",
        "centered, Frobenius-normalized alignment: its rise is larger than for at "
        "least 200 permuted label vectors",
        networks=_THREE,
    ),
    Entry(
        "D12",
        "A linear model on the trained kernel optimizes faster than on the first one",
        f"{TALK} and the official code; an expectation",
        "no numbers",
        "mean log ratio of steps to a fixed loss below 0; at least 5 tasks",
        networks=_SMALL,
    ),
    Entry(
        "D13",
        "Adaptation of the kernel makes networks overfit on eigenfunctions",
        TALK,
        "no numbers",
        "accuracy on the trained kernel less that on the first one, paired over tasks, "
        "below 0; which of the two is closer to the network is reported",
        networks=_SMALL,
    ),
    Entry(
        "D14",
        "The gap between network and linearization depends on the training-set size",
        f"{PAPER}, abstract, and {TALK}",
        "it depends heavily on architecture, size and task",
        "heterogeneity of the gap over sizes with p below 0.01; at least 5 subset "
        "draws; signs are reported",
        networks=_SMALL,
    ),
    Entry(
        "D15",
        "Lemma 1: the squared kernel norm is at least ‖f‖⁴ / α(f)",
        SUPPLEMENT,
        "an inequality, with equality on eigenfunctions",
        "never violated, and equal on eigenvectors to 1e-10, in float64",
    ),
    Entry(
        "D16",
        "Alignment is the squared norm of the averaged gradient",
        SUPPLEMENT,
        "an identity",
        "both routes agree to 1e-10 in float64",
    ),
    Entry(
        "D17",
        "Theorem 1: alignment with a direction is a squared norm of a mean derivative",
        SUPPLEMENT,
        "an identity (Stein's)",
        "both sides by Monte Carlo with split halves within 3 standard errors, which "
        "are at most 2 % of the value",
    ),
    Entry(
        "D18",
        "NADs at the origin and averaged over data are similar",
        SUPPLEMENT,
        "no significant difference",
        "mean squared cosine between the two leading subspaces of 10 at least 0.5 "
        "(random: 10 / 1024)",
        networks=_CONVOLUTIONAL,
    ),
    Entry(
        "D19",
        "Accuracy on data along a NAD falls with the NAD's index, for both models",
        f"{SUPPLEMENT}, {TALK}",
        "a figure; numbers are not readable",
        "Kendall's τ_b of index and accuracy at most −0.8 for both models; at least 16 "
        "indices",
        networks=_CONVOLUTIONAL,
    ),
    Entry(
        "D20",
        "Binarizing an eigenfunction keeps most of it: overlap 0.78",
        SUPPLEMENT,
        "0.78",
        "mean of ‖v_j‖₁ / √N over indices from 1 on within 0.78 ± 0.02",
    ),
    Entry(
        "D21",
        "Linearizations converge more slowly",
        SUPPLEMENT,
        "not at zero training loss when networks are",
        "mean paired log ratio of the final training losses, linearization over "
        "network, above 0",
        networks=_THREE,
    ),
    Entry(
        "D22",
        "Batch statistics are frozen in the linearization",
        SUPPLEMENT,
        "frozen at initialization",
        "second difference of the linear model in its parameters zero to 1e-10, in "
        "float64",
        networks=("resnet18",),
    ),
    Entry(
        "D23",
        "Only 180,033 parameters of ResNet18 are active at initialization",
        "the official code",
        "180,033",
        "number of parameters with a non-zero gradient on at least one of 64 or more "
        "inputs is 180,033",
        networks=("resnet18",),
    ),
    Entry(
        "D46",
        "The linear approximation is best when weights stay near initialization",
        "the first author's thesis, abstract",
        "no numbers",
        "partial Spearman's ρ of the distance moved and the gap between predictions, "
        "given the logarithm of the index, above 0; at least 40 tasks",
    ),
    Entry(
        "D47",
        "Class balance of the tasks, and the degenerate first one",
        "tangentlab",
        "nothing: recorded, not a claim",
        "none: the share of each class is recorded",
        judged=False,
    ),
)
