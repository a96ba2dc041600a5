"""A Gram matrix of gradients as it is sent to workers."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import PyTree

from ..._types import Apply, Inputs, Params
from ...cluster.links import linked_meanwhile, started
from ...cluster.published import (
    Array,
    Published,
    as_computed,
    check_published,
    load,
    publish,
    publish_here,
)
from ...cluster.references import Reference, refer, refer_here
from ...cluster.within import is_here
from ..preparing import Prepared, prepare
from ..request import Precision, Request
from ..verifying import verify
from .folder import warn_untold
from .on_cluster import fill_on_cluster
from .storing import GramMaker, fingerprint_of
from .tiled_gram import TiledGram


@dataclass(frozen=True)
class GramSubject:
    """What a Gram matrix is computed of; see `tl.gram`.

    Attributes:
        apply: The network.
        outputs: A name, an index, or a function.
        trainable: Which parameters count.
        precision: Of the computation.
        arrays: Parameters, samples and multipliers, published.
    """

    apply: Reference
    outputs: Reference | str | int
    trainable: PyTree
    precision: Precision
    arrays: Published

    def check(self, folder: Path) -> None:
        """Verify parameters and samples, which lie in files.

        Args:
            folder: The folder of tiles.
        """
        check_published(self.arrays, folder)

    def prepare(self, folder: Path) -> Prepared:
        """Read the network, which the client has checked.

        Args:
            folder: The folder of tiles.

        Returns:
            What a plan is made of.
        """
        arrays = load(self.arrays, folder, check=False)
        request = self._request(None, None)
        return _prepare(self.apply.resolve(), arrays, request, checked=True)

    def fingerprint(self, prepared: Prepared) -> dict[str, str]:
        """Hash what it is computed of; a published array is named by its hash.

        Args:
            prepared: From `prepare`.

        Returns:
            Hashes by what they are of.
        """
        with self._request(None, None).context():
            return fingerprint_of(prepared, self._names())

    def _names(self) -> dict[str, str]:
        """Hashes of samples that are computed with as they were published."""
        if self.precision == "float64":  # to which they are cast
            return {}
        _, x_1, x_2, _ = jax.tree.unflatten(self.arrays.structure, self.arrays.arrays)
        alone = {"x_1": x_1, "x_2": x_2}
        return {key: x.name for key, x in alone.items() if isinstance(x, Array)}

    def maker(
        self,
        prepared: Prepared,
        hashes: dict[str, str],
        memory: int | None,
        folder: Path,
    ) -> GramMaker:
        """Begin the folder, or go on with it.

        Args:
            prepared: From `prepare`.
            hashes: From `fingerprint`.
            memory: Bytes that may be used.
            folder: The folder of tiles.

        Returns:
            What computes tiles, compiled.
        """
        request = self._request(memory, None)
        with request.context():
            trusted = prepared.features  # the client verifies them
            made = GramMaker(
                prepared, request, folder, hashes, shared=True, trusted=trusted
            )
            made.compile()
        return made

    def _request(self, memory: int | None, scale: PyTree) -> Request:
        outputs: Any = self.outputs
        if isinstance(outputs, Reference):
            outputs = outputs.resolve()
        return Request(outputs, self.trainable, scale, self.precision, memory)


def _prepare(
    apply: Apply, arrays: PyTree, request: Request, *, checked: bool
) -> Prepared:
    """Read a network, with parameters, samples and multipliers as they are sent."""
    params, x_1, x_2, scale = arrays
    request, params = request._replace(scale=scale), jax.tree.map(jnp.asarray, params)
    with request.context():
        return prepare(apply, params, x_1, x_2, request, full=False, checked=checked)


def _publish(arrays: PyTree, folder: Path, wide: bool, here: bool) -> Published:
    with jax.enable_x64(wide):  # which each thread has its own of
        return publish_here(arrays) if here else publish(arrays, folder)


def _verify(prepared: Prepared, request: Request, wide: bool) -> None:
    with jax.enable_x64(wide), request.context():
        verify(prepared.network, prepared.features, prepared.x_1)


def gram_on_cluster(
    apply: Apply,
    params: Params,
    x_1: Inputs,
    x_2: Inputs | None,
    request: Request,
    folder: Path,
    cluster: Any,
) -> TiledGram:
    """Let workers compute a Gram matrix into a folder.

    Args:
        apply: The network.
        params: Where to differentiate it.
        x_1: Samples along the rows.
        x_2: Samples along the columns; None means `x_1` again.
        request: The options.
        folder: Where to, checked.
        cluster: See `tl.gram`.

    Returns:
        The Gram matrix on disk.
    """
    folder = folder.resolve()
    arrays = as_computed((params, x_1, x_2, request.scale))
    wide = jnp.result_type(float) == jnp.float64
    with ThreadPoolExecutor(2) as aside, started(cluster) as cluster:
        here = is_here(cluster)
        sent = refer_here if here else refer
        outputs: Any = request.outputs
        if callable(outputs):
            outputs = sent("outputs", outputs)
        apply_there = sent("apply", apply)
        publishing = aside.submit(_publish, arrays, folder, wide, here)
        prepared = _prepare(apply, arrays, request, checked=False)
        verifying = aside.submit(_verify, prepared, request, wide)
        with linked_meanwhile(cluster) as link:
            subject = GramSubject(
                apply_there,
                outputs,
                request.trainable,
                request.precision,
                publishing.result(),
            )
            hashes = subject.fingerprint(prepared)
            warn_untold(folder, told=prepared.network.told)
            return fill_on_cluster(
                subject, hashes, request, folder, link(), verifying.result
            )
