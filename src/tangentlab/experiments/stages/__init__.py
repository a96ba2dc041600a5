"""What experiments have in common: samples, seeds, kernels, training."""
