"""A kernel watched during training, from inside anybody's own loop.

>>> import jax.numpy as jnp
>>> x, y = jnp.eye(3), jnp.array([1.0, -1.0, 1.0])
>>> tracker = Tracker(lambda w, x: jnp.tanh(x @ w), x, y, num=1)
>>> for step, size in enumerate([0.0, 1.0]):
...     _ = tracker(step, jnp.array([[0.0], [0.0], [size]]))
>>> tracker.history()["trace"].round(3).tolist()
[3.0, 2.176]
"""

from collections.abc import Callable, Mapping
from numbers import Real
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import ArrayLike, Float, PyTree

from .._checks import batch_size
from .._types import AnyArray, Apply, Inputs, Params
from ..kernels import gram
from ..kernels.request import Outputs, Precision
from ..models.contract import check_callable
from ..spectra import Spectrum, spectrum
from ..spectra.checking import check_num
from .aligning import gram_alignment
from .concentration import energy_concentration
from .similarity import centered_alignment, cka, kernel_distance
from .sizes import kernel_size
from .subspaces import subspace_overlap
from .targets import check_targets

_RECORDED = (
    "step",
    "trace",
    "participation_ratio",
    "alignment",
    "unbiased_alignment",
    "centered_alignment",
    "energy_concentration",
    "distance",
    "velocity",
    "cka",
    "subspace_overlap",
)


class Look(NamedTuple):
    """A kernel at one step.

    Attributes:
        params: The parameters.
        K: The Gram matrix.
        spectrum: Its leading pairs, as many as the tracker's `num`.
    """

    params: Params
    K: Any
    spectrum: Spectrum


Measure = Callable[[Look, Look], ArrayLike]
"""From the kernel now, and the first one, to a number or an array of one shape."""


class Tracker:
    r"""Records how a network's tangent kernel changes while it is trained.

    Each call computes the Gram matrix on the samples given, `n` by `n`; two earlier
    ones are kept, the first and the last. A few hundred samples usually tell enough.

    | recorded | |
    |---|---|
    | `step` | as given |
    | `trace` | $\mathrm{tr} K$ |
    | `participation_ratio` | $(\mathrm{tr} K)^2 / \|K\|_F^2$, an effective rank |
    | `alignment` | $n^{-2} y^\top K y$ |
    | `unbiased_alignment` | the same without the diagonal |
    | `centered_alignment` | `centered_alignment(K, y)`, free of scale |
    | `energy_concentration` | `energy_concentration(K, y, num)`, not squared |
    | `distance` | `kernel_distance` to the first kernel |
    | `velocity` | that to the kernel before, per step in between; NaN at first |
    | `cka` | `cka` with the first kernel |
    | `subspace_overlap` | of the leading `num` eigenvectors with those of the first |

    Everything else that can be told of a kernel is added by name, for instance

        measures={
            "norm": lambda now, first: kernel_norm(now.K, y).squared,
            "layers": lambda now, first: trace_shares(apply, now.params, x).shares,
            "rotation": lambda now, first: rotation(
                gram_alignment(now.K, first.spectrum.eigenvectors).rayleigh,
                first.spectrum.eigenvalues,
                index,
            ).score,
        }

    A network with batch statistics that change puts them beside its parameters and
    leaves them out with `trainable`, here and in measures that look at the network
    again: `Tracker(lambda p, x: model.freeze(p["state"])(p["params"], x), x, y,
    trainable={"params": True, "state": False})`.
    """

    def __init__(
        self,
        apply: Apply,
        x: Inputs,
        y: Float[AnyArray, "n ..."],
        *,
        num: int = 10,
        measures: Mapping[str, Measure] = MappingProxyType({}),
        outputs: Outputs = "mean",
        trainable: PyTree | None = None,
        precision: Precision = "float32",
        memory: int | None = None,
    ):
        r"""Choose what to watch.

        Args:
            apply: The network, `apply(params, x) -> (n, c)`.
            x: Samples along a leading axis.
            y: Labels as $\pm 1$, or real-valued targets, `(n,)`; several as columns
                are recorded side by side.
            num: Eigenvectors for the energy concentration and the overlap.
            measures: What else to record: by name a function of the kernel now and of
                the first one, each a `Look`.
            outputs: With several logits, which kernel; see `tl.gram`.
            trainable: Prefix of `params` with booleans; False leaves parameters out.
            precision: See `tl.gram`.
            memory: Bytes that a Gram matrix may use.

        Raises:
            ValueError: If `y` does not fit the samples, or holds labels 0 and 1; or if
                `num` is not within 1 and n, or a measure has the name of another.
        """
        check_callable(apply)
        n = batch_size("x", x)
        if np.isin(check_targets("y", y, n), (0, 1)).all():
            raise ValueError(
                "`y` holds labels 0 and 1, whose common part, a constant, would rule "
                "every number: pass `2.0 * y - 1.0`."
            )
        check_num(num, n)
        if taken := sorted(set(measures) & set(_RECORDED)):
            raise ValueError(
                f"`measures` names what is recorded anyway, {', '.join(taken)}: choose "
                "other names."
            )
        self._measures = dict(measures)
        self._apply, self._x, self._y, self._num = apply, x, np.asarray(y), num
        self._options: dict[str, Any] = {
            "outputs": outputs,
            "trainable": trainable,
            "precision": precision,
            "memory": memory,
        }
        self._rows: list[dict[str, np.ndarray]] = []
        self._first: Look | None = None
        self._last: Any = None

    def __call__(self, step: float | int, params: Params) -> dict[str, np.ndarray]:
        """Look at the kernel now.

        Args:
            step: When: steps, epochs or seconds, later than the last time.
            params: The parameters now.

        Returns:
            What was recorded.

        Raises:
            ValueError: If the step is not later than the last one.
            TypeError: If it is no number.
        """
        if not isinstance(step, Real) and getattr(step, "shape", None) != ():
            raise TypeError(
                "`step` must be a number, got "
                f"{type(step).__name__}: call `tracker(step, params)`."
            )
        before = float(self._rows[-1]["step"]) if self._rows else -np.inf
        if not step > before:
            raise ValueError(
                f"Steps must increase, got {step:g} after {before:g}: use another "
                "Tracker for another run."
            )
        K = gram(self._apply, params, self._x, **self._options)
        now = Look(params, K, spectrum(K, self._num))
        first = now if self._first is None else self._first
        velocity = np.asarray(np.nan)
        if self._rows:
            velocity = np.asarray(kernel_distance(self._last, K) / (step - before))
        row = {"step": step, "velocity": velocity, **self._told(now, first)}
        row |= {name: of(now, first) for name, of in self._measures.items()}
        self._first, self._last = first, K
        self._rows.append({name: np.asarray(row[name], np.float64) for name in row})
        return self._rows[-1]

    def _told(self, now: Look, first: Look) -> dict[str, Any]:
        """What is recorded of every kernel."""
        K, y = now.K, self._y
        size, forms = kernel_size(K), gram_alignment(K, y)
        leading = [look.spectrum.eigenvectors for look in (now, first)]
        return {
            "trace": size.trace,
            "participation_ratio": size.participation_ratio,
            "alignment": forms.biased,
            "unbiased_alignment": forms.unbiased,
            "centered_alignment": centered_alignment(K, y),
            "energy_concentration": energy_concentration(now.spectrum, y, self._num),
            "distance": kernel_distance(first.K, K),
            "cka": cka(first.K, K),
            "subspace_overlap": subspace_overlap(*leading),
        }

    def history(self) -> dict[str, np.ndarray]:
        """All that was recorded.

        Returns:
            An array for each quantity, a row for each call; columns where there are
            several targets. Empty before the first call.
        """
        names = self._rows[0] if self._rows else {}
        return {name: np.stack([row[name] for row in self._rows]) for name in names}
