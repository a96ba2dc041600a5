"""What is said of tasks whose results need care."""

import dataclasses
import itertools

import numpy as np
import pytest

import tangentlab as tl
from tangentlab import store
from tangentlab.experiments.eigenfunctions import Eigenfunctions
from tangentlab.experiments.eigenfunctions.tables import accuracy_table
from tangentlab.experiments.stages import opening
from tangentlab.experiments.stages.kernel import make_tasks, saved_tasks
from tangentlab.experiments.stages.seeds import Seed

from .test_claims import results


def test_no_flag_hides_that_labels_depend_on_rounding():
    """All that can come together, in one table, which has as many marks."""
    cases = np.array([*itertools.product([False, True], repeat=3)])
    unresolved, degenerate, diverged = cases.T[:, None]
    found = results(num=8, seeds=(1,), unresolved=unresolved, degenerate=degenerate)
    network = dataclasses.replace(found.network, diverged=diverged)
    table = accuracy_table(dataclasses.replace(found, network=network))
    told = [row.flag for row in table.rows]
    close = np.array(["depend on rounding" in flag for flag in told])
    np.testing.assert_array_equal(close, unresolved[0])
    lost = np.array(["training diverged" in flag for flag in told])
    np.testing.assert_array_equal(lost, diverged[0])
    constant = np.array(["degenerate" in flag for flag in told])
    np.testing.assert_array_equal(constant, degenerate[0] & ~diverged[0])
    assert told[0] == ""


@pytest.mark.filterwarnings("ignore::tangentlab.spectra.AccuracyWarning")
def test_saved_tasks_below_the_resolution_are_unresolved(tmp_path):
    config = Eigenfunctions(num_samples=4, num_test=2)
    dataset = opening.open_samples(config).dataset
    model, keys = tl.models.build("mlp", dataset.shape), opening.make_keys(0)
    K = np.diag([1.0, 0.5, 0.25, 1e-9]).astype(np.float32)
    with store.create(tmp_path, "eigenfunctions", config) as folder:
        seed = Seed(0, model, model.init(keys.init), dataset, keys.batches, folder)
        make_tasks(seed, K, (0, 3), 4, "float32")
        assert [task.unresolved for task in saved_tasks(seed)] == [False, True]
        gaps_alone = {**seed.load("tasks"), "unresolved": np.zeros(2, bool)}
        other = dataclasses.replace(seed, number=1)
        other.save("tasks", **gaps_alone)
        assert [task.unresolved for task in saved_tasks(other)] == [False, True]
