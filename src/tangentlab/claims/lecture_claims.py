"""The claims of two lectures on tangent kernels: D24 to D45, and D48.

Where a lecture slipped, the claim is the corrected statement, and says so.
"""

from .entries import CENTRALE, UBC, Entry

LECTURE_CLAIMS = (
    Entry(
        "D24",
        "A ReLU network linearized in its first layer is ⟨∇f(W₀), W⟩",
        UBC,
        "an identity",
        "equal to 1e-6; with all L layers trained, ⟨∇f, θ⟩ − (L − 1) f₀ (Euler)",
    ),
    Entry(
        "D25",
        "Linearization error of a smooth network is at most β‖W − W₀‖² / (2√m)",
        UBC,
        "a bound",
        "never violated; the ratio is reported",
    ),
    Entry(
        "D26",
        "Linearization error of a ReLU network falls like m^(−1/6) at worst",
        UBC,
        "a bound with probability 1 − δ",
        "upper limit of the violation rate at most δ; the interval of the slope of the "
        "adversarial error in m contains −1/6",
    ),
    Entry(
        "D27",
        "The arc-cosine formula of the ReLU kernel",
        UBC,
        "1/2 − arccos(xᵀx′) / 2π",
        "equal to quadrature to 1e-10",
    ),
    Entry(
        "D28",
        "The kernel of a finite network converges to that of infinite width",
        f"{UBC}, {CENTRALE}",
        "a limit; no rate",
        "slope of log error against log width inside [−0.6, −0.4]; at least 20 draws "
        "and 5 widths",
    ),
    Entry(
        "D29",
        "The lecture's κ is twice the kernel of its own network",
        f"{CENTRALE}, corrected",
        "(2ξ/π)(π − arccos ξ) + √(1 − ξ²)/π",
        "half of it equal to quadrature to 1e-10",
    ),
    Entry(
        "D30",
        "Gradient descent ends at the interpolant of least norm",
        CENTRALE,
        "closed forms of limit and norm",
        "limit, interpolation and norm equal to 1e-10",
    ),
    Entry(
        "D31",
        "Gradient flow of the mean loss decays with exp(−tK/n)",
        UBC,
        "a closed form",
        "equal to an ODE solve within its tolerance",
    ),
    Entry(
        "D32",
        "The ridgeless limit is the mean of a Gaussian process",
        f"{UBC}, corrected: ridgeless",
        "a limit",
        "ridge regression tends to it as the ridge goes to 0",
    ),
    Entry(
        "D33",
        "The kernel changes less in training the wider the network",
        UBC,
        "constant at infinite width",
        "slope of log change against log width at most −0.8 for smooth activations, "
        "in [−1, −0.6] for ReLU",
    ),
    Entry(
        "D34",
        "A wide trained network is close to regression with its tangent kernel",
        UBC,
        "a theorem without constants",
        "slope of log error against log width below 0, against the own linearization "
        "and against the infinite kernel",
    ),
    Entry(
        "D35",
        "Lazy scaling: slopes of at most −1, −2 and −1 in the output scale",
        UBC,
        "O(1/α), O(1/α²), O(1/α)",
        "slopes of weights, difference of weights and difference of outputs in log α: "
        "−1, at most −2, at most −1",
    ),
    Entry(
        "D36",
        "Rademacher complexity of a linear ball is at most W √(tr H) / n",
        f"{CENTRALE}, corrected: with 1/n",
        "a bound",
        "Monte Carlo mean over bound in [1/√2, 1]",
    ),
    Entry(
        "D37",
        "YᵀH⁻¹Y separates true labels from random ones",
        CENTRALE,
        "a criterion",
        "true labels below all of 200 permutations, also with ten times the jitter",
    ),
    Entry(
        "D38",
        "The generalization bound holds",
        CENTRALE,
        "a bound with unnamed constants",
        "bound at least the test error, with one case whose bound is below 0.5; else "
        "the bound is vacuous",
    ),
    Entry(
        "D39",
        "Random labels are fitted too, more slowly",
        CENTRALE,
        "figures",
        "training error 0 for all; time ratio above 1 and rising with corruption",
    ),
    Entry(
        "D40",
        "A single ReLU has a flat, bad local minimum",
        UBC,
        "an example",
        "descent from w₀ < 0 never moves, from w₀ > 0 it reaches 1",
    ),
    Entry(
        "D41",
        "Deep linear networks have saddles, flat to second order from depth 3 on",
        UBC,
        "an example",
        "Hessian at 0: eigenvalues ±1 for depth 2, all zero for depth 3 and more",
    ),
    Entry(
        "D42",
        "The first-layer ReLU kernel is universal only with a bias coordinate",
        UBC,
        "a theorem",
        "relative test error of an odd cubic above 0.9 without, below 0.1 with",
    ),
    Entry(
        "D43",
        "Without a bias the kernel of one-dimensional inputs has rank 2",
        f"{CENTRALE}, a consequence",
        "not stated",
        "third singular value below 1e-12 of the first",
    ),
    Entry(
        "D44",
        "Polynomial targets have a bounded YᵀH⁻¹Y",
        f"{CENTRALE}, a theorem cited there",
        "at most (3p)²",
        "√(YᵀH⁻¹Y) below 3p, growth from n/2 to n below 5 %",
    ),
    Entry(
        "D45",
        "Jacot's formula needs K/n under the mean loss",
        f"{UBC}, corrected",
        "exp(−tK)",
        "exp(−tK/n) equals an ODE solve, exp(−tK) does not",
    ),
    Entry(
        "D48",
        "The kernel does not depend on the loss; where descent ends does",
        CENTRALE,
        "stated",
        "same Gram matrix; under cross-entropy the norm grows like log t and turns to "
        "the hard margin, under square loss it converges",
    ),
)
