"""Which runs measure which claims, one file for each group of experiments."""
