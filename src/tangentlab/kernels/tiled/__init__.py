"""Gram matrices on disk: one file a tile, and the folder is the truth."""
