"""The zoo's layers in flax linen; imported only when a network is built."""
