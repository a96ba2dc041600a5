"""Stage 5: learning tasks. Each function returns a `Task`, but for the check."""

from .directions import direction as direction
from .duplicates import check_duplicates as check_duplicates
from .eigenfunctions import eigenfunction as eigenfunction
from .eigenfunctions import extended_eigenfunction as extended_eigenfunction
from .images import gaussian_images as gaussian_images
from .images import shuffled_pixels as shuffled_pixels
from .labels import cifar2 as cifar2
from .labels import from_labels as from_labels
from .labels import grouping as grouping
from .labels import random_labels as random_labels
from .noise import with_label_noise as with_label_noise
from .record import Task as Task
