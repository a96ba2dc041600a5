"""Running a plan on an accelerator, everything in its memory."""
