import numpy as np

from tangentlab import models

from .draws import normal


def apply(params, x):
    return x @ params["w"]


def test_a_plain_function_becomes_a_model(getkey):
    model = models.from_function(lambda key: {"w": normal((3, 2))}, apply, name="line")
    params, x = model.init(getkey()), normal((4, 3))
    assert model.apply is apply and model.name == "line"
    assert model.freeze(model.init_state()) is apply
    outputs, state = model.apply_train(params, model.init_state(), x)
    assert np.array_equal(outputs, apply(params, x)) and state == {}
