"""Kernels before and after training may have different precisions."""

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
