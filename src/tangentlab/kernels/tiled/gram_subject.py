"""A Gram matrix of gradients as it is sent to workers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import PyTree

from ..._types import Apply, Inputs, Params
from ...cluster.links import linked_meanwhile
from ...cluster.published import Published, load, publish
from ...cluster.references import Reference, refer
from ..preparing import Prepared, prepare
from ..request import Precision, Request
from ..verifying import trust, verify
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

    def prepare(self, folder: Path, *, client: bool = False) -> Prepared:
        """Read the network.

        Args:
            folder: The folder of tiles.
            client: Whether this is the client, which checks the network for all, and
                not a worker, which verifies that it was given the same one.

        Returns:
            What a plan is made of.
        """
        params, x_1, x_2, scale = load(self.arrays, folder, check=not client)
        request, apply = self._request(None, scale), self.apply.resolve()
        params = jax.tree.map(jnp.asarray, params)
        with request.context():
            made = prepare(
                apply, params, x_1, x_2, request, full=False, checked=not client
            )
            if client:
                verify(made.network, made.features, made.x_1)
            else:
                trust(made.network, made.features)
        return made

    def fingerprint(self, prepared: Prepared) -> dict[str, str]:
        """Hash what it is computed of.

        Args:
            prepared: From `prepare`.

        Returns:
            Hashes by what they are of.
        """
        with self._request(None, None).context():
            return fingerprint_of(prepared)

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
            What computes tiles.
        """
        request = self._request(memory, None)
        with request.context():
            return GramMaker(prepared, request, folder, hashes)

    def _request(self, memory: int | None, scale: PyTree) -> Request:
        outputs: Any = self.outputs
        if isinstance(outputs, Reference):
            outputs = outputs.resolve()
        return Request(outputs, self.trainable, scale, self.precision, memory)


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
    outputs: Any = request.outputs
    if callable(outputs):
        outputs = refer("outputs", outputs)
    apply_there = refer("apply", apply)
    with linked_meanwhile(cluster) as link:
        subject = GramSubject(
            apply_there,
            outputs,
            request.trainable,
            request.precision,
            publish((params, x_1, x_2, request.scale), folder),
        )
        prepared = subject.prepare(folder, client=True)
        hashes = subject.fingerprint(prepared)
        return fill_on_cluster(subject, hashes, request, folder, link())
