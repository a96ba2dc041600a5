import dataclasses
import inspect
import re
from pathlib import Path

import jax
import numpy as np
import pytest

import tangentlab as tl
from tangentlab import store
from tangentlab.experiments import EXPERIMENTS, perform
from tangentlab.experiments.pretrained import Pretrained, computing
from tangentlab.experiments.pretrained.claims import claims
from tangentlab.experiments.pretrained.figures import training_figure
from tangentlab.experiments.pretrained.results import (
    Learned,
    Results,
    agreement,
    read_results,
    steps_to,
)
from tangentlab.experiments.stages import modes, opening

TOY = Pretrained(
    num_samples=150,
    num_test=50,
    indices=(3, 8),
    recipe=tl.Recipe(epochs=3, batch_size=32),
    gram_on_disk=False,
)


def compute(config: Pretrained, root: Path) -> store.Run:
    """The run alone, without figures and page, which take longer."""
    with store.create(root, "pretrained", config) as folder:
        computing.run(config, folder, progress=False)
    return store.open_run(folder.final, {"pretrained": Pretrained})


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return compute(TOY, tmp_path_factory.mktemp("runs"))


def test_every_field_of_the_config_is_read():
    sources = map(inspect.getsource, (computing, modes, opening))
    source = "".join(sources)
    for field in dataclasses.fields(Pretrained):
        assert re.search(rf"config\.{field.name}\b", source), field.name


def test_the_linear_model_is_centered_and_of_the_trained_kernel(run):
    """Against the same trained in weight space, outside of the experiment."""
    dataset = opening.open_samples(TOY).dataset
    model, keys = tl.models.build("mlp", dataset.shape), opening.make_keys(42)
    labels = run.arrays("tasks-42")["labels"][1]
    task = tl.tasks.from_labels(dataset, labels)
    options = {"recipe": TOY.recipe, "key": keys.batches}
    network = tl.train(model, model.init(keys.init), task, **options)
    saved = run.arrays("network-42")["train_loss"][1]
    np.testing.assert_allclose(saved, network.train_loss[0], rtol=1e-3)
    end = network.params[0]
    linear = tl.linearize(model.apply, end, centered=True)
    wanted = tl.train(linear, end, task, **options)
    got = run.arrays("pretrained-8-42")
    np.testing.assert_allclose(got["train_loss"], wanted.train_loss, rtol=2e-3)


@pytest.mark.parametrize("space", ["function", "weights"])
def test_linear_models_start_at_the_outputs_of_the_network_if_asked_to(space, tmp_path):
    changes = {"indices": (8,), "centered": False, "linearized_in": space}
    run = compute(dataclasses.replace(TOY, **changes), tmp_path)
    dataset = opening.open_samples(TOY).dataset
    model, keys = tl.models.build("mlp", dataset.shape), opening.make_keys(42)
    task = tl.tasks.from_labels(dataset, run.arrays("tasks-42")["labels"][0])
    options = {"recipe": TOY.recipe, "key": keys.batches}
    start = model.init(keys.init)
    end = tl.train(model, start, task, **options).params[0]
    for name, params in {"initial": start, "pretrained-8": end}.items():
        wanted = tl.train(tl.linearize(model.apply, params), params, task, **options)
        got = run.arrays(f"{name}-42")["train_loss"]
        np.testing.assert_allclose(got, wanted.train_loss, rtol=2e-3)
    report = EXPERIMENTS["pretrained"].report(run)
    assert "from the outputs of the network they expand" in report.summary


def test_labels_of_another_activation_are_learned_with_the_own_kernel(tmp_path):
    config = dataclasses.replace(TOY, indices=(3,), label_activation="tanh")
    run = compute(config, tmp_path)
    dataset = opening.open_samples(config).dataset
    model, keys = tl.models.build("mlp", dataset.shape), opening.make_keys(42)
    params, tasks = model.init(keys.init), run.arrays("tasks-42")
    assert str(tasks["source"]) == "tanh at the same parameters"
    task = tl.tasks.from_labels(dataset, tasks["labels"][0])
    linear = tl.linearize(model.apply, params, centered=True)
    wanted = tl.train(linear, params, task, config.recipe, key=keys.batches)
    got = run.arrays("initial-42")["train_loss"]
    np.testing.assert_allclose(got, wanted.train_loss, rtol=2e-3)


def test_the_report_has_a_row_for_each_task_and_all_three_models(run):
    report = EXPERIMENTS["pretrained"].report(run)
    table = report.console_table
    assert [row.cells[0] for row in table.rows] == [3, 8]
    results = read_results(run)
    for t, row in enumerate(table.rows):
        accuracies = [each.accuracy[0, t] for each in results.models]
        assert row.cells[1:4] == pytest.approx(accuracies)
    names = [name for section in report.sections for name in section.figures]
    assert names == ["accuracy", "speed", "training"]


def test_claims_can_be_judged_again_from_the_details(run):
    report, found = EXPERIMENTS["pretrained"].report(run), read_results(run)
    faster, overfits = (claim.findings[0].estimate.value for claim in report.claims)
    used = [each for each in report.details if not each["degenerate"]]

    def steps(each, model):
        return min(each[f"{model}_steps_to_0.01"], found.num_steps)

    ratios = [np.log(steps(e, "trained") / steps(e, "initial")) for e in used]
    gaps = [each["trained_accuracy"] - each["initial_accuracy"] for each in used]
    assert faster == pytest.approx(np.mean(ratios))
    assert overfits == pytest.approx(np.mean(gaps))
    assert all(each["network_as_network"] == 1 for each in used)


@pytest.mark.slow
def test_weight_space_gives_the_same(run, tmp_path):
    config = dataclasses.replace(TOY, indices=(8,), linearized_in="weights")
    other = compute(config, tmp_path).arrays("pretrained-8-42")
    ours = run.arrays("pretrained-8-42")
    np.testing.assert_allclose(other["train_loss"], ours["train_loss"], rtol=2e-3)


@pytest.mark.slow
def test_a_rate_beyond_what_a_kernel_bears_is_told_not_warned_of(tmp_path):
    recipe = tl.Recipe(epochs=1, batch_size=32, learning_rate=0.6)
    config = dataclasses.replace(TOY, indices=(8,), recipe=recipe)
    hot = compute(config, tmp_path)  # a warning would be an error
    assert hot.arrays("initial-42")["unstable"].all()
    report = EXPERIMENTS["pretrained"].report(hot)
    assert "beyond what a linear model" in report.console_table.rows[0].flag


def test_steps_lie_between_epochs():
    loss = np.array([0.8, 0.4, 0.2])
    assert steps_to(loss, 0.3, 10) == pytest.approx(20)  # between 15 and 25
    assert steps_to(loss, 0.4, 10) == pytest.approx(15)
    assert steps_to(loss, 0.9, 10) == 5
    assert steps_to(loss, 0.1, 10) == np.inf
    assert steps_to(np.array([np.nan, np.nan]), 0.1, 10) == np.inf


def learned(accuracy, steps, outputs) -> Learned:
    """A model whose loss falls to 0.01 at these steps of 200, on a straight line."""
    s, t = accuracy.shape
    steps = np.broadcast_to(np.asarray(steps, float), (s, t))[..., None]
    falling = 0.01 + 0.01 * (steps - 10 * (np.arange(20) + 0.5))
    return Learned(
        loss=np.where(np.isinf(steps), 0.7, falling),
        accuracy=accuracy,
        train_accuracy=accuracy,
        diverged=np.zeros((s, t), bool),
        outputs=outputs,
        unstable=np.zeros((s, t), bool),
    )


def results(
    gap: float | np.ndarray = -0.05,
    ratio=0.5,
    *,
    seeds=1,
    tasks=6,
    noise=0.002,
) -> Results:
    """The trained kernel is off by a gap in accuracy and takes a share of the steps."""
    rng = np.random.default_rng(0)
    shape = (seeds, tasks)
    first = 0.8 + 0.05 * rng.normal(size=shape)
    outputs = rng.normal(size=(*shape, 400))
    network = learned(first, 50.0, outputs)
    initial = learned(first, 80.0, outputs + 2 * rng.normal(size=outputs.shape))
    after = first + gap + noise * rng.normal(size=shape)
    steps = 80 * ratio * np.exp(0.05 * rng.normal(size=shape))
    near = outputs + 0.2 * rng.normal(size=outputs.shape)
    return Results(
        data="digits",
        model="mlp",
        num_train=100,
        num_test=400,
        seeds=tuple(range(seeds)),
        steps_per_epoch=10,
        target_loss=0.01,
        index=np.arange(9, 9 + tasks),
        chance=np.full(shape, 0.5),
        degenerate=np.zeros(shape, bool),
        network=network,
        initial=initial,
        pretrained=learned(after, steps, near),
    )


def verdicts(found: Results) -> tuple[str, ...]:
    judged = claims(found)
    assert [claim.id for claim in judged] == ["D12", "D13"]
    return tuple(claim.verdict for claim in judged)


@pytest.mark.parametrize("seeds", [1, 3, 5])
def test_claims_hold_and_fail_as_they_should(seeds):
    assert verdicts(results(seeds=seeds)) == ("confirmed", "confirmed")
    other = results(gap=0.05, ratio=2.0, seeds=seeds)
    assert verdicts(other) == ("refuted", "refuted")


def test_claims_stay_open_where_nothing_can_be_told():
    both_ways = np.array([0.05, -0.05] * 3)
    assert verdicts(results(gap=both_ways)) == ("confirmed", "inconclusive")
    assert verdicts(results(ratio=1.0))[0] == "inconclusive"
    assert verdicts(results(tasks=4)) == ("inconclusive",) * 2
    assert "4 tasks of use" in claims(results(tasks=4))[0].remark
    real = dataclasses.replace(results(seeds=3), data="cifar10")
    assert verdicts(real) == ("inconclusive",) * 2
    resnet = dataclasses.replace(real, model="resnet18")
    assert verdicts(resnet) == ("confirmed", "confirmed")


def test_a_loss_that_is_never_reached_counts_as_the_last_step():
    found = results()
    never = learned(found.initial.accuracy, np.inf, found.initial.outputs)
    steps = found.steps(found.pretrained) / found.num_steps
    claim = claims(dataclasses.replace(found, initial=never))[0]
    assert claim.findings[0].estimate.value == pytest.approx(np.log(steps).mean())
    assert "never reached in 0 runs with the trained and 6 with the" in claim.remark
    assert claim.remark.endswith("the true mean ratio is at most the one given")
    claim = claims(dataclasses.replace(found, pretrained=never))[0]
    assert claim.remark.endswith("the true mean ratio is at least the one given")
    undecided = dataclasses.replace(found, initial=never, pretrained=never)
    claim = claims(undecided)[0]
    assert claim.findings[0].estimate.value == 0 and claim.verdict == "inconclusive"
    assert claim.remark.endswith("may lie on either side of the one given")


def test_other_losses_are_reported_beside_the_one_that_is_judged():
    faster = claims(results())[0].findings
    names = ["log ratio of steps to 0.01", "to 0.1", "to 0.3"]
    assert [finding.name for finding in faster] == names
    assert [finding.verdict for finding in faster] == ["confirmed", None, None]
    found = results()
    ratio = found.steps(found.pretrained, 0.1) / found.steps(found.initial, 0.1)
    assert faster[1].estimate.value == pytest.approx(np.log(ratio).mean())


def test_agreement_is_of_answers_and_of_outputs():
    found = results()
    same, alike = agreement(found.pretrained, found.network)
    answers = [each.outputs[0, 2] > 0 for each in (found.pretrained, found.network)]
    assert same[0, 2] == np.mean(answers[0] == answers[1]) > 0.9
    pair = (found.pretrained.outputs[0, 2], found.network.outputs[0, 2])
    assert alike[0, 2] == pytest.approx(np.corrcoef(*pair)[0, 1])
    assert "trained kernel is closer to the network" in claims(found)[1].remark


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target_loss": 0.0}, "target_loss must be above 0, got 0"),
        ({"indices": (150,)}, r"0\.\.149"),
        (
            {
                "recipe": tl.Recipe(10, 32, optimizer="adam"),
                "linearized_in": "function",
            },
            "'adam' depends on the coordinates",
        ),
        ({"recipe": tl.Recipe(batch_size=101)}, "A batch of 101 does not fit 100"),
    ],
)
def test_impossible_configs_raise_before_any_work(change, message, tmp_path):
    config = dataclasses.replace(TOY, **change)
    with pytest.raises(ValueError, match=message):
        perform(EXPERIMENTS, "pretrained", config, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_adam_is_trained_in_weight_space(tmp_path):
    recipe = tl.Recipe(epochs=1, batch_size=32, optimizer="adam", learning_rate=1e-3)
    config = dataclasses.replace(TOY, indices=(8,), recipe=recipe)
    with jax.numpy_dtype_promotion("standard"):  # optax's Adam counts in integers
        run = compute(config, tmp_path)
    assert np.isfinite(run.arrays("pretrained-8-42")["train_loss"]).all()


@pytest.mark.slow
def test_batch_statistics_of_the_trained_kernel_are_a_choice(tmp_path, monkeypatch):
    config = dataclasses.replace(
        TOY,
        model="resnet18",
        num_samples=40,
        num_test=8,
        indices=(4,),
        recipe=tl.Recipe(epochs=1, batch_size=16),
    )
    losses, ends = {}, {}
    whole = computing._compute_pretrained

    def caught(config, plan, seed, task, end):
        ends[config.statistics] = seed.model, end
        whole(config, plan, seed, task, end)

    monkeypatch.setattr(computing, "_compute_pretrained", caught)
    for choice in ("running", "initial"):
        chosen = dataclasses.replace(config, statistics=choice)
        run = compute(chosen, tmp_path)
        losses[choice] = [
            run.arrays(f"{name}-42")["train_loss"]
            for name in ("network", "initial", "pretrained-4")
        ]
    for alike in (0, 1):  # the network, and the kernel before training
        np.testing.assert_array_equal(*(losses[choice][alike] for choice in losses))
    after = [losses[choice][2] for choice in losses]
    assert not np.allclose(*after, rtol=1e-3)
    states = [end.state for _, end in ends.values()]
    model, _ = ends["initial"]
    assert jax.tree.all(jax.tree.map(np.array_equal, states[1], model.init_state()))
    assert not jax.tree.all(jax.tree.map(np.array_equal, *states))


def test_losses_of_rounding_do_not_squeeze_the_figure():
    found = results()
    largest = max(each.loss[0].max() for each in found.models)
    low, high = training_figure(found).axes[0].get_ylim()
    tiny = found.pretrained.loss.copy()
    tiny[..., -1] = 1e-22
    sunk = dataclasses.replace(found.pretrained, loss=tiny)
    cut = training_figure(dataclasses.replace(found, pretrained=sunk)).axes[0]
    assert cut.get_ylim()[0] == pytest.approx(1e-3 * found.target_loss)
    assert largest < cut.get_ylim()[1] < 2 * largest
    assert low > 1e-3 * found.target_loss and high < 2 * largest
