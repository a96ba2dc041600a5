"""Stage 4: eigenvalues and eigenfunctions of a kernel, as a `Spectrum`."""

from .dense import spectrum as spectrum
from .record import Spectrum as Spectrum
