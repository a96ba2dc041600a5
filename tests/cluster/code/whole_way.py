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
import psutil

import tangentlab as tl
from tangentlab.cluster.references import refer

X = np.random.default_rng(0).normal(size=(600, 30)).astype(np.float32)
Y = np.sign(X[:, 0]).astype(np.float64)
TASKS = [
    tl.tasks.Task(X, (X[:, i] > 0).astype(np.float32), num_train=500) for i in range(3)
]
RECIPE = tl.Recipe(epochs=1, batch_size=50, learning_rate=1e-3)
KEY = jax.random.key(0)
MODEL = tl.models.mlp((30,), num_outputs=2, widths=(8, 8))
PARAMS = MODEL.init(KEY)
OPTIONS = {"scale": 2.0, "outputs": lambda logits: logits[:, 1]}
WIDE = tl.infinite.serial(tl.infinite.Dense(8), tl.infinite.Relu())


def by_products(K, client, dense):
    """What needs products alone."""
    with tl.spread(K, client) as there:
        found = tl.spectrum(there, num=3, method="krylov")
        solved = tl.predict.conjugate_gradients(there, Y, ridge=1.0)
        aligned = tl.analysis.gram_alignment(there, Y)
        across = np.abs(Y @ there - Y @ K).max()
    plain = np.linalg.solve(dense + np.eye(len(Y)), Y)
    top = np.linalg.eigvalsh(dense)[::-1][:3]
    return {
        "eigenvalues": np.abs(found.eigenvalues / top - 1).max(),
        "ridge": np.abs(solved.coefficients - plain).max() / np.abs(plain).max(),
        "alignment": abs(aligned.biased / (Y @ dense @ Y / len(Y) ** 2) - 1),
        "across": across / np.abs(dense).max(),
    }


def by_tasks(K, client, dense, folder):
    """What is done for each task."""
    model = tl.models.mlp((30,), widths=(8,))
    params, f_0 = model.init(KEY), np.zeros(len(X), np.float32)

    def learn(task):
        return tl.train(model, params, task, RECIPE, key=KEY)

    def learn_linear(task):
        return tl.train_dual(K, f_0, task, RECIPE, key=KEY, memory=2**20)

    where = {"cluster": client, "store": folder}
    found = tl.cluster.sweep(learn, TASKS, **where)
    linear = tl.cluster.sweep(learn_linear, TASKS, **where)
    wanted = tl.train(model, params, TASKS, RECIPE, key=KEY).outputs
    dual = tl.train_dual(dense.astype(np.float32), f_0, TASKS, RECIPE, key=KEY)
    together = np.concatenate([history.outputs for history in found])
    exact = np.concatenate([history.outputs for history in linear])
    sent = [len(pickle.dumps(refer("items", task, folder))) for task in TASKS]
    return {
        "trained": np.abs(together - wanted).max() / np.abs(wanted).max(),
        "dual": np.abs(exact - dual.outputs).max() / np.abs(dual.outputs).max(),
        "task bytes": max(sent),
        "files": len(list((folder / "inputs").iterdir())),
    }


def cores_of_threads(_):
    """Cores of each thread of a worker."""
    tasks = Path("/proc/self/task").glob("*/status")
    lines = [line for path in tasks for line in path.read_text().splitlines()]
    return {line.split()[1] for line in lines if line.startswith("Cpus_allowed_list")}


def listening():
    """Where this process and its workers listen."""
    own = psutil.Process()
    sockets = [
        one for each in (own, *own.children()) for one in each.net_connections("inet")
    ]
    return [one.laddr.ip for one in sockets if one.status == psutil.CONN_LISTEN]


def main(folder):
    with tl.cluster.linked("local:2") as link:
        arguments, client = (MODEL.apply, PARAMS, X), link.client
        K = tl.gram(*arguments, store=folder / "gram", cluster=client, **OPTIONS)
        again = tl.gram(*arguments, store=folder / "gram", **OPTIONS)
        ntk = WIDE.ntk(X[:300], store=folder / "ntk", cluster=link)
        dense = np.asarray(tl.gram(*arguments, **OPTIONS), np.float64)
        told = by_products(K, client, dense)
        told |= by_tasks(K, client, dense, folder / "sweep")
        swept = tl.cluster.sweep(lambda k: k * len(X), range(5), cluster=client)
        cores = tl.cluster.sweep(cores_of_threads, range(2), cluster=client)
        listens = listening()
    limit = np.asarray(WIDE.ntk(X[:300]))
    return told | {
        "saved": len(pickle.dumps(refer("apply", MODEL.apply))),
        "same folder": np.array_equal(again.to_array(), K.to_array()),
        "gram": np.abs(K.to_array() - dense).max() / np.abs(dense).max(),
        "ntk": np.abs(ntk.to_array() - limit).max() / np.abs(limit).max(),
        "swept": swept == [0, 600, 1200, 1800, 2400],
        "pinned": all(len(one) == 1 for one in cores),
        "loopback": set(listens) == {"127.0.0.1"} and len(listens) >= 4,
    }


if __name__ == "__main__":
    told = {name: float(value) for name, value in main(Path(sys.argv[1])).items()}
    sys.stdout.write(json.dumps(told))
