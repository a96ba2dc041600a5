"""`whole_way.py FOLDER`: a network of the zoo on two local workers, and what follows.

A process of its own, without the type checks of the tests, which cannot be sent to
workers. Writes what the test looks at, as JSON.
"""

import json
import pickle
import sys
from pathlib import Path

import jax
import numpy as np

import tangentlab as tl
from tangentlab.cluster.references import refer


def main(folder):
    x = np.random.default_rng(0).normal(size=(600, 6)).astype(np.float32)
    y = np.sign(x[:, 0]).astype(np.float64)
    model = tl.models.mlp((6,), num_outputs=2, widths=(8, 8))
    params = model.init(jax.random.key(0))
    options = {"scale": 2.0, "outputs": lambda logits: logits[:, 1]}
    wide = tl.infinite.serial(tl.infinite.Dense(8), tl.infinite.Relu())
    with tl.cluster.linked("local:2") as link:
        client = link.client
        K = tl.gram(
            model.apply, params, x, store=folder / "gram", cluster=client, **options
        )
        again = tl.gram(model.apply, params, x, store=folder / "gram", **options)
        ntk = wide.ntk(x[:300], store=folder / "ntk", cluster=client)
        with tl.spread(K, client) as there:
            found = tl.spectrum(there, num=3, method="krylov")
            solved = tl.predict.conjugate_gradients(there, y, ridge=1.0)
            aligned = tl.analysis.gram_alignment(there, y)
            across = np.abs(y @ there - y @ K).max()
        swept = tl.cluster.sweep(lambda k: k * len(x), range(5), cluster=client)
    dense = np.asarray(tl.gram(model.apply, params, x, **options), np.float64)
    plain = np.linalg.solve(dense + np.eye(len(y)), y)
    top = np.linalg.eigvalsh(dense)[::-1][:3]
    limit = np.asarray(wide.ntk(x[:300]))
    scale = np.abs(dense).max()
    return {
        "saved": len(pickle.dumps(refer("apply", model.apply))),
        "same folder": np.array_equal(again.to_array(), K.to_array()),
        "gram": np.abs(K.to_array() - dense).max() / scale,
        "ntk": np.abs(ntk.to_array() - limit).max() / np.abs(limit).max(),
        "eigenvalues": np.abs(found.eigenvalues / top - 1).max(),
        "ridge": np.abs(solved.coefficients - plain).max() / np.abs(plain).max(),
        "alignment": abs(aligned.biased / (y @ dense @ y / len(y) ** 2) - 1),
        "across": across / scale,
        "swept": swept == [0, 600, 1200, 1800, 2400],
    }


if __name__ == "__main__":
    told = {name: float(value) for name, value in main(Path(sys.argv[1])).items()}
    sys.stdout.write(json.dumps(told))
