"""Chromium without a window, driven by its own protocol through two pipes: no driver is needed."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import time
from base64 import b64decode
from pathlib import Path
from typing import Any, Self

from attrs import define, field, frozen

__all__ = ["BINARY", "Chromium", "Page"]

BINARY = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
"""The browser of this machine, or None."""

_PATIENCE = 60  # seconds for an answer, on a machine that is busy
_OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--no-first-run", "--disable-extensions", "--remote-debugging-pipe"),
)
_KEYS = {
    "Tab": ("Tab", 9, ""),
    "Enter": ("Enter", 13, "\r"),
    "ArrowLeft": ("ArrowLeft", 37, ""),
    "Home": ("Home", 36, ""),
}


@define(eq=False)
class Chromium:
    """A browser; a context manager.

    Attributes:
        profile: A folder of its own.
    """

    profile: Path
    _process: subprocess.Popen[bytes] = field(init=False)
    _to: int = field(init=False)
    _from: int = field(init=False)
    _pending: bytes = field(init=False, default=b"")
    _number: int = field(init=False, default=0)
    _events: list[dict[str, Any]] = field(init=False, factory=list)

    def __enter__(self) -> Self:
        its_input, self._to = os.pipe()
        self._from, its_output = os.pipe()
        browser = [str(BINARY), *_OPTIONS, f"--user-data-dir={self.profile}", "about:blank"]
        # It reads from descriptor 3 and writes to 4, and nothing else can be told it.
        shell = f'exec "$0" "$@" 3<&{its_input} 4>&{its_output}'
        self._process = subprocess.Popen(  # noqa: S603 - the browser of this machine
            ["bash", "-c", shell, *browser],  # noqa: S607 - whichever bash there is
            pass_fds=(its_input, its_output),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(its_input)
        os.close(its_output)
        return self

    def __exit__(self, *_: object) -> None:
        self.call("Browser.close")
        self._process.wait(_PATIENCE)
        os.close(self._to)
        os.close(self._from)

    def open(self, path: Path, scheme: str = "light") -> Page:
        """Open the page at *path* in a new tab, as wide as a laptop's screen."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, target)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        media = {"name": "prefers-color-scheme", "value": scheme}
        page.call("Emulation.setEmulatedMedia", features=[media])
        size = {"width": 1200, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        page.call("Emulation.setDeviceMetricsOverride", **size)
        page.call("Page.navigate", url=path.as_uri())
        page.wait_for("document.documentElement?.dataset.ready === 'yes'")
        return page

    def call(self, method: str, *, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Have the browser do something; return its answer."""
        self._number += 1
        said = {"id": self._number, "method": method, "params": params}
        if session is not None:
            said["sessionId"] = session
        os.write(self._to, json.dumps(said).encode() + b"\0")
        while True:
            heard = self._hear()
            if heard.get("id") == self._number:
                assert "error" not in heard, heard["error"]
                return dict(heard["result"])
            self._events.append(heard)

    def events(self, session: str) -> list[dict[str, Any]]:
        """Return what a tab has told by itself."""
        return [event for event in self._events if event.get("sessionId") == session]

    def _hear(self) -> dict[str, Any]:
        while b"\0" not in self._pending:
            ready, _, _ = select.select([self._from], [], [], _PATIENCE)
            piece = os.read(self._from, 1 << 20) if ready else b""
            assert piece, "the browser does not answer"
            self._pending += piece
        line, _, self._pending = self._pending.partition(b"\0")
        return dict(json.loads(line))


@frozen
class Page:
    """A page in a tab.

    Attributes:
        browser: Its browser.
        session: What the browser calls it.
        target: What the browser calls its tab.
    """

    browser: Chromium
    session: str
    target: str

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Have the browser do something with the page."""
        return self.browser.call(method, session=self.session, **params)

    def ask(self, expression: str) -> Any:
        """Return what JavaScript makes of an *expression*."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Wait until an *expression* is true."""
        give_up = time.monotonic() + _PATIENCE
        while not self.ask(expression):
            assert time.monotonic() < give_up, expression
            time.sleep(0.02)

    def press(self, key: str, *, shift: bool = False) -> None:
        """Press a key and let it go."""
        name, code, text = _KEYS[key]
        pressed = {"key": name, "code": name, "windowsVirtualKeyCode": code}
        kind = {"type": "keyDown", "text": text} if text else {"type": "rawKeyDown"}
        modifiers = 8 if shift else 0
        self.call("Input.dispatchKeyEvent", **kind, **pressed, modifiers=modifiers)
        self.call("Input.dispatchKeyEvent", type="keyUp", **pressed, modifiers=modifiers)

    def problems(self) -> list[dict[str, Any]]:
        """Return errors, warnings, refusals of its policy, and every request but its own."""
        self.ask("0")  # what was told before this answer has been heard
        told = {"Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"}
        found = []
        for event in self.browser.events(self.session):
            is_foreign = event["method"] == "Network.requestWillBeSent" and not event["params"][
                "request"
            ]["url"].startswith("file:")
            if event["method"] in told or is_foreign:
                found.append(event)
        return found

    def picture(self) -> bytes:
        """Return what is seen of it, as a PNG."""
        return b64decode(self.call("Page.captureScreenshot")["data"])

    def close(self) -> None:
        """Close its tab."""
        self.browser.call("Target.closeTarget", targetId=self.target)
