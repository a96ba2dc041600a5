"""The kernel times vectors, without the kernel."""
