"""A model server on a port that the user has named, for agents that know it beforehand."""

from __future__ import annotations

from typing import Any, Self

from pytest_tripwire.models import ModelServer
from pytest_tripwire.models.http.handler import Handler
from pytest_tripwire.models.http.transport import LOOPBACK, LoopbackServer


class PortError(OSError):
    """The port cannot be had."""


class OnPort(ModelServer):
    """The model server on this port of 127.0.0.1; 0 for a free one.

    Args:
        port: the port.
        how: what a `ModelServer` takes.
    """

    def __init__(self, *, port: int, **how: Any) -> None:
        super().__init__(**how)
        self._port = port

    def start(self) -> Self:
        """Start to serve.

        Raises:
            PortError: if the port is taken.
        """
        if self._port == 0 or self._http is not None:
            return super().start()
        try:
            self._http = _Bound(self._port, self._router)
        except OSError as error:
            raise taken(self._port, error) from None
        self._http.run_in_thread()
        return self


class _Bound(LoopbackServer):
    """The HTTP server, bound to a port of somebody's choice."""

    allow_reuse_port = False  # two servers on one port would share its clients by chance

    def __init__(self, port: int, app: Any) -> None:
        self._wanted = port
        super().__init__(app, Handler)

    def server_bind(self) -> None:
        """Bind to that port."""
        self.server_address = (LOOPBACK, self._wanted)
        super().server_bind()


def taken(port: int, error: OSError) -> PortError:
    """What to say of a port that cannot be had."""
    return PortError(f"port {port} of {LOOPBACK} cannot be had: {error.strerror}")
