"""What can a linearized network say about the real one?

Data flows one way: data, models, kernels, spectra, tasks, training, analysis, report.
A network is a function `apply(params, x) -> (n, c)`; everything else takes that.
"""

__version__ = "0.1.0"
