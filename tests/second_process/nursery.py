"""The process that the agent's processes are forked from: each is one of its own, that can be
killed, and has not to load everything anew. One that comes after may be lived here, where nothing
of the one before has been: to fork costs more than to live.

Run by `python -m tests.second_process.nursery`; each line is a JSON list of orders, lived at
once, and is answered by a list of their ends.
"""

from __future__ import annotations

import encodings.idna  # noqa: F401 - a socket loads it at its first address
import gc
import os
import signal
import sys
import tempfile
import traceback
from contextlib import closing
from urllib.request import ProxyHandler, build_opener, install_opener

import msgspec

from pytest_tripwire.breaker import Breaker, ToolSpec
from pytest_tripwire.ledger import open_store

from .agent import Process, World
from .life import Life, Told


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """A life, and the whole environment of its process.

    Args:
        life: what it is to do.
        environment: all variables.
        here: whether it is lived in the process that others are forked from.
    """

    life: Life
    environment: dict[str, str]
    here: bool = False


def lived_at_once(orders: list[Order]) -> list[Told]:
    """Start them, let all go on in one moment, and wait for their ends."""
    if [order.here for order in orders] == [True]:
        return [_told_of(orders[0])]
    ready, go = os.pipe()
    begun = [_begun(order, ready, go) for order in orders]
    os.close(ready)
    os.close(go)
    return [_ended(pid, told) for pid, told in begun]


def _begun(order: Order, ready: int, go: int) -> tuple[int, int]:
    told, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(go)
        os.read(ready, 1)
        os._exit(_lived(order, tell))
    os.close(tell)
    return pid, told


def _lived(order: Order, tell: int) -> int:
    os.write(tell, msgspec.json.encode(_told_of(order)))
    return 0


def _told_of(order: Order) -> Told:
    os.environ.clear()
    os.environ.update(order.environment)
    try:
        with closing(Process(order.life, _world_of(order))) as process:
            return process.live()
    except BaseException:  # noqa: BLE001 - told to the test, whatever it is
        return Told(ended="failed", message=traceback.format_exc()[-3000:])


def _world_of(order: Order) -> World:
    return World(order.environment, alone=order.life.crowd == 1)


def _ended(pid: int, told: int) -> Told:
    with os.fdopen(told, "rb") as file:
        said = file.read()
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return Told(ended="killed")
    return msgspec.json.decode(said, type=Told)


def warm() -> None:
    """Make here what each process would make anew."""
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{folder}/warm.db")
        tool = ToolSpec(name="warm", effect="write", identity=("order_id",))
        with Breaker(store=store, specs={"warm": tool}).run(request_id="warm") as run:
            run.guard({"warm": lambda order_id: order_id})
            run.call("warm", {"order_id": "A-1"})
        store.close()
    # The standard one looks through the certificates of the system, and all is on this machine.
    install_opener(build_opener(ProxyHandler({})))


def main() -> None:
    warm()
    gc.freeze()
    for line in sys.stdin.buffer:
        ends = lived_at_once(msgspec.json.decode(line, type=list[Order]))
        sys.stdout.buffer.write(msgspec.json.encode(ends) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
