"""Stage 5: learning tasks. Each function returns a `Task`."""

from .eigenfunctions import eigenfunction as eigenfunction
from .labels import cifar2 as cifar2
from .labels import from_labels as from_labels
from .record import Task as Task
