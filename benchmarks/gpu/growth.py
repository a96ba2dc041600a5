"""How the time grows: with samples, with parameters, with outputs."""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path

import jax
import jax.numpy as jnp

import tangentlab as tl

from .cases import images

_CALLS = 2


def _points() -> Iterator[tuple[str, str, tl.Model, int, str]]:
    """Curve, what varies, network, samples, precision."""
    for n in (1000, 2000, 4000, 8000, 16000, 32000, 60000):
        yield "MLP", "samples", tl.models.mlp(), n, "float32"
        yield "LeNet", "samples", tl.models.lenet(), n, "float32"
    for outputs in (1, 2, 4, 8, 16, 32):
        model = tl.models.lenet(num_outputs=outputs)
        yield "LeNet, 8,000 samples", "outputs", model, 8000, "float32"
    for width in (8, 16, 32, 64):
        model = tl.models.resnet18(last_scale=1.0, width=width)
        yield "ResNet18, 8,000 samples", "parameters", model, 8000, "fast"
    for n in (1000, 2000, 4000, 16000, 32000):
        model = tl.models.resnet18(last_scale=1.0)
        yield "ResNet18", "samples", model, n, "fast"


def main() -> None:
    """Measure all points and write them as JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=60000, help="largest n")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--only", default="", help="curves whose name begins so")
    parser.add_argument("--varied", help="samples, parameters or outputs alone")
    options = parser.parse_args()
    x = jnp.asarray(images(options.most))
    with options.output.open("w") as file:
        for curve, varied, model, n, precision in _points():
            if n > len(x) or not curve.startswith(options.only):
                continue
            if options.varied not in (None, varied):
                continue
            params = model.init(jax.random.key(0))
            size = sum(leaf.size for leaf in jax.tree.leaves(params))
            outputs = model.apply(params, x[:1]).shape[1]
            seconds = [_time(model, params, x[:n], precision) for _ in range(_CALLS)]
            at = {"samples": n, "parameters": size, "outputs": outputs}
            point = {"curve": curve, "varied": varied, **at, "precision": precision}
            line = json.dumps({**point, "seconds": seconds})
            file.write(line + "\n")
            file.flush()
            print(line, flush=True)


def _time(model: tl.Model, params, x, precision) -> float:
    start = time.perf_counter()
    tl.gram(model.apply, params, x, precision=precision).block_until_ready()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
