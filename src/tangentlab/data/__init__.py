"""Samples and labels: load them, fetch them, make them, and cut them to size."""

from .arrays import from_arrays as from_arrays
from .checksums import verify as verify
from .dataset import Dataset as Dataset
from .fetching import fetch as fetch
from .labels import cifar2 as cifar2
from .labels import group_labels as group_labels
from .labels import select_classes as select_classes
from .loading import load as load
from .lookup import Availability as Availability
from .lookup import available as available
from .places import cache_directory as cache_directory
from .scaling import channel_moments as channel_moments
from .scaling import normalize as normalize
from .splits import split as split
from .subsets import subset as subset
from .synthetic import gaussian as gaussian
from .synthetic import one_over_f as one_over_f
from .synthetic import sphere as sphere
