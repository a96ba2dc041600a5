"""Stage 8: figures, tables and pages. Draws arrays; computes nothing."""
