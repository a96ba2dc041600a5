"""What nobody claimed and a reader of the paper asks first: E12."""

from .entries import Entry

OWN_QUESTIONS = (
    Entry(
        "E12",
        "The linear advantage is there without labels from the network's own kernel",
        "tangentlab: the first question of a referee",
        "nothing: the paper's labels always come from the network's own kernel",
        "mean paired lead of the linearization over indices from 10 on above 0, with "
        "labels from the kernel of another initialization",
    ),
)
