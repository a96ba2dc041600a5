"""A kernel of infinite width as it is sent to workers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..cluster.links import linked_meanwhile
from ..cluster.published import Published, check_published, load, publish
from ..cluster.references import Reference, refer
from ..kernels.request import Precision, Request
from ..kernels.tiled.folder import check_store
from ..kernels.tiled.on_cluster import fill_on_cluster
from ..kernels.tiled.tiled_gram import TiledGram
from .calls import Examples
from .compiled import Kinds
from .evaluating import prepare
from .layer import Layer
from .on_disk import KernelMaker, fingerprint
from .running import Problem


@dataclass(frozen=True)
class KernelSubject:
    """What a kernel of infinite width is computed of.

    Attributes:
        layer: The network.
        kinds: Which kernel.
        precision: Of the computation.
        arrays: Examples, published.
    """

    layer: Reference
    kinds: Kinds
    precision: Precision
    arrays: Published

    def check(self, folder: Path) -> None:
        """Verify examples, which lie in files.

        Args:
            folder: The folder of tiles.
        """
        check_published(self.arrays, folder)

    def prepare(self, folder: Path) -> Problem:
        """Read the network.

        Args:
            folder: The folder of tiles.

        Returns:
            What is to be computed.
        """
        x_1, x_2 = load(self.arrays, folder, check=False)
        request = Request(precision=self.precision)
        with request.context():
            return prepare(self.layer.resolve(), self.kinds, x_1, x_2, request)

    def fingerprint(self, prepared: Problem) -> dict[str, str]:
        """Hash what it is computed of.

        Args:
            prepared: From `prepare`.

        Returns:
            Hashes by what they are of.
        """
        with Request(precision=self.precision).context():
            return fingerprint(prepared)

    def maker(
        self,
        prepared: Problem,
        hashes: dict[str, str],
        memory: int | None,
        folder: Path,
    ) -> KernelMaker:
        """Begin the folder, or go on with it.

        Args:
            prepared: From `prepare`.
            hashes: From `fingerprint`.
            memory: Bytes that may be used.
            folder: The folder of tiles.

        Returns:
            What computes tiles.
        """
        request = Request(precision=self.precision, memory=memory)
        with request.context():
            return KernelMaker(prepared, request, folder, hashes)


def kernel_on_cluster(
    layer: Layer,
    kinds: Kinds,
    x_1: Examples,
    x_2: Examples | None,
    request: Request,
    folder: Path,
    cluster: Any,
) -> TiledGram:
    """Let workers compute a kernel into a folder.

    Args:
        layer: The network.
        kinds: Which kernel.
        x_1: Examples along the rows.
        x_2: Examples along the columns; None if they are the same.
        request: Precision, memory and progress.
        folder: Where to.
        cluster: See `tl.gram`.

    Returns:
        The kernel on disk.
    """
    check_store(folder, (x_1, x_2))
    folder, there = folder.resolve(), refer("layer", layer)
    with linked_meanwhile(cluster) as link:
        arrays = publish((x_1, x_2), folder)
        subject = KernelSubject(there, kinds, request.precision, arrays)
        hashes = subject.fingerprint(subject.prepare(folder))
        return fill_on_cluster(subject, hashes, request, folder, link())
