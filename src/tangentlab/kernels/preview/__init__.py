"""A plan told before it runs: `tl.plan_gram`."""
