import numpy as np
import pytest

import tangentlab as tl
from tangentlab import predict

from .problems import case


@pytest.mark.parametrize("ridge", [0.0, 0.7])
@pytest.mark.parametrize(
    ("momentum", "nesterov"), [(0.0, False), (0.9, False), (0.9, True)], ids=str
)
def test_it_parts_what_converges_from_what_does_not(momentum, nesterov, ridge):
    p = case()
    options = {"momentum": momentum, "nesterov": nesterov, "ridge": ridge}
    limit = predict.max_learning_rate(p.K, **options)
    counts = [300, 1200]
    below = predict.gradient_descent(p.K, p.y, counts, 0.99 * limit, **options)
    above = predict.gradient_descent(p.K, p.y, counts, 1.01 * limit, **options)
    exact = predict.ridge(p.K, p.y, ridge)
    errors = np.abs(below.coefficients - exact.coefficients).max(axis=1)
    assert errors[1] < 1e-6 and errors[1] <= errors[0]
    assert np.abs(above.outputs[1]).max() > 1e3 * np.abs(above.outputs[0]).max()


def test_every_form_of_a_kernel_gives_the_same():
    p = case(outputs=2, full=True)
    largest = np.linalg.eigvalsh(p.K.reshape(16, 16)).max()
    assert predict.max_learning_rate(p.K) == pytest.approx(2 * 8 / largest)
    found = predict.decompose(p.K)
    rate = predict.max_learning_rate(found, num_samples=8)
    assert rate == pytest.approx(2 * 8 / largest)
    shared = tl.spectrum(np.diag([4.0, 1.0]))
    assert predict.max_learning_rate(shared, loss="cross_entropy") == 4.0


def test_a_number_of_samples_must_be_one():
    with pytest.raises(ValueError, match="`num_samples` must be .* samples, got 0"):
        predict.max_learning_rate(np.eye(2), num_samples=0)


def test_a_kernel_of_zeros_bears_any_rate():
    assert predict.max_learning_rate(np.zeros((2, 2))) == np.inf
