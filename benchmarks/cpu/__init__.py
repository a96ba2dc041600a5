"""`tl.gram` and its peers on the same weights and inputs, on the CPU."""
