"""What `cluster=` means: an address, a client, or `local:N`; and holding on to it."""

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import Any

from .addresses import address_of, connect
from .local import LocalCluster
from .within import OwnProcess

PATIENCE = 300.0  # seconds without a scheduler, or without a worker
Local = OwnProcess | LocalCluster
_LOCAL = re.compile(r"local:([1-9][0-9]*)")
_HOST = r"(?:[^/:\s\[\]]+|\[[0-9a-fA-F:.]+(?:%\w+)?\])"  # the latter as of IPv6
_ADDRESS = re.compile(
    rf"(?!local:)(?:(?:tcp|tls|ucxx?|wss?)://)?{_HOST}:[0-9]+|\S+\.json"
)
_MEANS = (
    'a scheduler\'s address such as "tcp://127.0.0.1:8786" (or the file that `dask '
    "scheduler --scheduler-file` writes), a `dask.distributed.Client`, or "
    '"local:2" for two workers on this machine'
)


class Link:
    """A connection to a scheduler that is made again when it is lost."""

    def __init__(
        self,
        client: Any,
        *,
        owned: bool,
        local: Local | None = None,
        named: str = "",
    ):
        """Hold on to a client.

        Args:
            client: A `dask.distributed.Client`.
            owned: Whether it is ours to close.
            local: Workers that are ours, too.
            named: Its scheduler's address, or the file that tells it; where a scheduler
                that was started again is looked for.
        """
        self.client: Any = client
        self.local = local
        self._owned = owned
        self._address = client.scheduler.address
        self._named = named or self._address
        self._security = client.security
        self.dashboard = ""
        self._scheduler = None
        self._know_scheduler()

    @property
    def is_lost(self) -> bool:
        """Whether the scheduler that we knew is no longer at the other end.

        A client connects by itself to one that was started again at once.
        """
        if self.client.status != "running":
            return True
        return self._identity().get("id", self._scheduler) != self._scheduler

    @property
    def expected(self) -> int:
        """Workers that will be there soon, as far as that is known."""
        return 1 if self.local is None else self.local.count

    def workers(self) -> set[str]:
        """Who is there.

        Returns:
            Addresses; none while the scheduler is away.
        """
        if self.local is not None:
            self.local.tend()
        return set(self._identity().get("workers", ()))

    def wait_for_worker(self) -> None:
        """Wait until somebody is there.

        Raises:
            OSError: If nobody comes.
        """
        end = time.monotonic() + PATIENCE
        while not self.workers():
            if time.monotonic() > end:
                raise OSError(self.nobody())
            time.sleep(0.1)

    def nobody(self) -> str:
        """What to say when no worker comes.

        Returns:
            The message.
        """
        return (
            f"No worker came within {PATIENCE:.0f} s. Start some with `dask worker "
            f"{self._address} --nthreads 1`, and make the same call again: what is "
            "finished stays."
        )

    def reconnect(self) -> None:
        """Wait for a scheduler at the same address, or that which its file tells.

        Raises:
            OSError: If none comes; says what is kept.
        """
        from distributed import Client

        if self.client.status == "running":  # with another that came at once
            self._know_scheduler()
            return
        end = time.monotonic() + PATIENCE
        if self._owned:
            self.client.close(timeout=1)
        while time.monotonic() < end:
            try:
                self._address = address_of(self._named)
                self.client = Client(
                    self._address,
                    timeout=5,
                    security=self._security,
                    set_as_default=False,
                )
                self._owned = True
                self._know_scheduler()
                return
            except OSError:
                time.sleep(0.5)
        raise OSError(
            f"The scheduler at {self._address} is gone and did not come back within "
            f"{PATIENCE:.0f} s. What is finished stays: start it again, and make the "
            "same call, which goes on from there."
        )

    def _know_scheduler(self) -> None:
        """Ask what can be asked once, so that nobody asks one that is dying."""
        self._scheduler = self._identity().get("id")
        try:
            self.dashboard = self.client.dashboard_link or ""
        except OSError:
            self.dashboard = ""

    def _identity(self) -> dict[str, Any]:
        """What the scheduler tells of itself; nothing while it is away."""
        if self.client.status != "running":
            return {}
        try:
            return self.client.sync(self.client.scheduler.identity)
        except OSError:
            return {}

    def close(self) -> None:
        """Let go of what is ours."""
        if self._owned:
            self.client.close(timeout=2)


@contextmanager
def linked(cluster: Any) -> Iterator[Link]:
    """Connect to a cluster, or start one.

    Args:
        cluster: An address, a client, or `local:N`; or what this yielded, for several
            calls on one connection, or `started`.

    Yields:
        The connection.
    """
    with started(cluster) as cluster:
        if isinstance(cluster, Link):
            yield cluster
            return
        if isinstance(cluster, str):
            link = Link(connect(cluster), owned=True, named=cluster)
        elif isinstance(cluster, Local):
            link = Link(connect(cluster.open()), owned=True, local=cluster)
        else:
            link = Link(cluster, owned=False)
        try:
            yield link
        finally:
            link.close()


@contextmanager
def started(cluster: Any) -> Iterator[Any]:
    """Start the processes of `local:N`, which come while the caller does other things.

    Args:
        cluster: An address, a client, or `local:N`; or what `linked` yielded.

    Yields:
        What `linked` takes.

    Raises:
        ImportError: If Dask is not installed.
        ValueError: If it is none of these.
    """
    check_cluster(cluster)
    found = _LOCAL.fullmatch(cluster) if isinstance(cluster, str) else None
    if found is None:
        yield cluster
        return
    local = OwnProcess() if found[1] == "1" else LocalCluster(int(found[1]))
    try:
        yield local
    finally:
        local.close()


@contextmanager
def linked_meanwhile(cluster: Any) -> Iterator[Callable[[], Link]]:
    """Connect to a cluster, or start one, while the caller does something else.

    Args:
        cluster: An address, a client, or `local:N`.

    Yields:
        What waits for the connection, and returns it.
    """
    check_cluster(cluster)
    with ExitStack() as stack, ThreadPoolExecutor(1) as thread:
        connecting = thread.submit(stack.enter_context, linked(cluster))
        yield connecting.result


def check_cluster(cluster: Any) -> None:
    """Refuse what is no cluster, before any work is done.

    Args:
        cluster: What was passed.

    Raises:
        ImportError: If Dask is not installed.
        ValueError: If it is neither an address, nor a client, nor `local:N`.
    """
    if find_spec("distributed") is None:
        raise ImportError(
            "`cluster` needs Dask.distributed: pip install 'tangentlab[cluster]'."
        )
    if isinstance(cluster, Link | Local) or _is_address(cluster):
        return
    from distributed import Client  # takes long: local workers have started by then

    if not isinstance(cluster, Client):
        raise ValueError(f"`cluster` must be {_MEANS}, got {cluster!r}.")
    if cluster.asynchronous:
        raise ValueError(
            "`cluster` must be a synchronous client: make it without "
            "`asynchronous=True`, or pass its scheduler's address."
        )


def _is_address(cluster: Any) -> bool:
    text = cluster if isinstance(cluster, str) else ""
    return bool(_LOCAL.fullmatch(text) or _ADDRESS.fullmatch(text))
