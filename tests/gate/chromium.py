"""A headless Chromium, driven over a pipe in its own protocol. No port, no network, no package."""

from __future__ import annotations

import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

MISSING = "no Chromium here: install it, in Debian `apt-get install chromium`"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
#: Seconds that a browser may take over anything; it is only ever reached when it hangs.
PATIENCE = 60

#: The protocol speaks on the descriptors 3 and 4, whatever numbers the pipes have.
_STARTER = (
    sys.executable,
    "-c",
    """
import fcntl, os, sys
ends = [fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3]]
for at, end in enumerate(ends, 3):
    os.dup2(end, at)
os.execv(sys.argv[3], sys.argv[3:])
""",
)
CODES = {"Tab": 9, "Enter": 13}


def find() -> str | None:
    """Where it is, if it is."""
    return shutil.which("chromium") or shutil.which("/usr/bin/chromium")


class Chromium:
    """One browser with one tab.

    Args:
        profile: an empty directory for what it keeps.
    """

    def __init__(self, profile: Path) -> None:
        ours, theirs = os.pipe(), os.pipe()
        self._read, self._write = theirs[0], ours[1]
        self._process = subprocess.Popen(
            [
                *_STARTER,
                str(ours[0]),
                str(theirs[1]),
                str(find()),
                *FLAGS,
                f"--user-data-dir={profile}",
            ],
            pass_fds=(ours[0], theirs[1]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(ours[0])
        os.close(theirs[1])
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    def close(self) -> None:
        """End it, and all that it has started."""
        for each in (self._read, self._write):
            os.close(each)
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Do something, and wait until it is done."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def show(self, page: Path, *, width: int = 1280, dark: bool = False, media: str = "") -> None:
        """Open a file as somebody would who has this screen."""
        self.screen(width=width, dark=dark, media=media)
        # A fragment more on the same file would not be loaded anew.
        self._go("about:blank")
        self.events.clear()
        self._go(page.as_uri())

    def screen(self, *, width: int = 1280, dark: bool = False, media: str = "") -> None:
        """Look at what is open on another screen."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def ask(self, script: str) -> Any:
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            code = {"key": key, "code": key, "windowsVirtualKeyCode": CODES[key]}
            self.call("Input.dispatchKeyEvent", type=kind, **code, **text)

    def seen(self, *methods: str) -> list[dict[str, Any]]:
        """What it told by itself since the page was opened."""
        return [each["params"] for each in self.events if each["method"] in methods]

    def _go(self, address: str) -> None:
        """Navigate, and wait until this very document has loaded, not the one before it."""
        loader = self.call("Page.navigate", url=address)["loaderId"]
        while not any(
            (each["loaderId"], each["name"]) == (loader, "load")
            for each in self.seen("Page.lifecycleEvent")
        ):
            self.events.append(self._next())

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        with selectors.DefaultSelector() as ready:
            ready.register(self._read, selectors.EVENT_READ)
            while b"\0" not in self._buffer:
                assert ready.select(max(0, end - time.monotonic())), "Chromium does not answer"
                piece = os.read(self._read, 1 << 16)
                assert piece, "Chromium has ended"
                self._buffer += piece
        message, self._buffer = self._buffer.split(b"\0", 1)
        answer: dict[str, Any] = json.loads(message)
        return answer
