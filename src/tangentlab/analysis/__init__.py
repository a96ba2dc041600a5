"""Stage 7: numbers about kernels and trained networks. Functions return arrays."""

from .accuracies import accuracy_interval as accuracy_interval
from .accuracies import binarization_overlap as binarization_overlap
from .accuracies import rank_correlation as rank_correlation
from .measures import alignment as alignment
from .measures import energy_concentration as energy_concentration
from .measures import kernel_distance as kernel_distance
