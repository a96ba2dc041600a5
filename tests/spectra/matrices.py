"""Symmetric matrices with a known spectrum, fast to multiply with."""

import numpy as np


class Rotated:
    """`K = H diag(lam) H` with a reflection `H`: dense, and its pairs are known."""

    def __init__(self, lam, seed=0):
        lam = np.sort(np.asarray(lam, np.float64))[::-1]
        u = np.random.default_rng(seed).standard_normal((len(lam), 1))
        self.lam, self._u = lam, u / np.linalg.norm(u)
        self.shape, self.dtype = (len(lam), len(lam)), np.dtype(np.float64)

    def reflect(self, V):
        return V - 2 * self._u @ (self._u.T @ V)

    def __matmul__(self, V):
        return self.reflect(self.lam[:, None] * self.reflect(V))

    @property
    def vectors(self):
        return self.reflect(np.eye(len(self.lam)))

    def dense(self):
        K = self @ np.eye(len(self.lam))
        return (K + K.T) / 2

    def __getitem__(self, key):
        return self.dense()[key]


def decay(n, exponent):
    return np.arange(1.0, n + 1) ** -exponent
