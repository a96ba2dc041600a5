"""Training, and kernels before and after it, may have different precisions."""

import jax
import numpy as np
import pytest

import tangentlab as tl
from tangentlab import store
from tangentlab.experiments import EXPERIMENTS
from tangentlab.experiments.stages import kernel, trained

SIZES = {
    "num_samples": 80,
    "num_test": 20,
    "indices": (9, 12),
    "recipe": tl.Recipe(epochs=1, batch_size=32),
    "gram_on_disk": False,
}


@pytest.mark.parametrize("name", ["rotation", "pretrained"])
@pytest.mark.parametrize("after", [None, "float64"])
def test_only_kernels_after_training_take_it(name, after, tmp_path, monkeypatch):
    told = {"kernel": [], "trained": []}

    def spied(module, place):
        def spy(*arguments, precision, **options):
            told[place].append(precision)
            return tl.gram(*arguments, precision=precision, **options)

        monkeypatch.setattr(module, "gram", spy)

    spied(kernel, "kernel")
    spied(trained, "trained")
    config = EXPERIMENTS[name].config(**SIZES, trained_precision=after)
    with store.create(tmp_path, name, config) as folder:
        EXPERIMENTS[name].run(config, folder, progress=False)
    assert told == {"kernel": ["float32"], "trained": 2 * [after or "float32"]}


@pytest.mark.parametrize("name", ["rotation", "pretrained"])
def test_only_training_is_in_half_precision(name, tmp_path, monkeypatch):
    seen = {"trained": [], "kernels": []}
    plain = trained.train_once

    def learn(seed, tasks, recipe, options):
        traced = jax.make_jaxpr(seed.model.apply_train)(seed.params, {}, tasks[0].x[:2])
        seen["trained"].append("bf16" in str(traced))
        return plain(seed, tasks, recipe, options)

    def gram(apply, params, x, **options):
        seen["kernels"].append("bf16" in str(jax.make_jaxpr(apply)(params, x[:2])))
        return tl.gram(apply, params, x, **options)

    monkeypatch.setattr(trained, "train_once", learn)
    monkeypatch.setattr(trained, "gram", gram)
    arrays = []
    for mixed in (False, True):
        config = EXPERIMENTS[name].config(**SIZES, mixed_precision=mixed)
        with store.create(tmp_path, name, config) as folder:
            EXPERIMENTS[name].run(config, folder, progress=False)
        run = store.open_run(folder.final, {name: EXPERIMENTS[name].config})
        arrays.append(run.arrays("network-42"))
    assert seen == {"trained": [False, True], "kernels": 4 * [False]}
    losses = [each["train_loss"] for each in arrays]
    assert not np.array_equal(*losses)
    np.testing.assert_allclose(*losses, rtol=0.02)
