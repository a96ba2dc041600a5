"""Training, measured: tasks together, function space beside weight space."""
