"""Why a task is left out, in the words that all tables use."""

DEGENERATE = "degenerate: one class has over 95 % of a split"
DIVERGED = "training diverged"
