"""Stage 4: eigenvalues and eigenfunctions of a kernel, as a `Spectrum`."""

from .decomposition import spectrum as spectrum
from .extension import extend as extend
from .landmarks import nystrom as nystrom
from .landmarks import orthogonality_error as orthogonality_error
from .matrix_free import leading_pairs as leading_pairs
from .matrix_free import spectrum_of as spectrum_of
from .record import AccuracyWarning as AccuracyWarning
from .record import Spectrum as Spectrum
from .summaries import PowerLaw as PowerLaw
from .summaries import Summary as Summary
from .summaries import power_law as power_law
from .summaries import summary as summary
from .targets import Energy as Energy
from .targets import energy as energy
