"""What claims say, what measures them at each scale, and the verdicts."""
