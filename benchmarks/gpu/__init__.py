"""The Gram matrix of all of CIFAR-10 on one accelerator, beside what it could cost."""
