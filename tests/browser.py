"""A real browser for tests: headless Chromium, driven over its own debugging pipe."""

import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
REQUIRED = "HCPINN_BROWSER"
"""Set to `required` where a missing browser is a failure, not a reason to skip."""

_MOVE = """
import os, sys
high = [os.dup(os.dup(os.dup(int(fd)))) for fd in sys.argv[1:3]]
for number, fd in zip((3, 4), high):
    os.dup2(fd, number, inheritable=True)
os.execv(sys.argv[3], sys.argv[3:])
"""


def chromium():
    """The path of Chromium; without one the test is skipped, or fails where it is required."""
    found = next((path for path in map(shutil.which, NAMES) if path), None)
    if found is None:
        reason = "There is no Chromium here. Install it, as in `apt-get install chromium`."
        if os.environ.get(REQUIRED) == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


class Browser:
    """One tab. Everything it logs and asks for is kept: `messages` and `requests`."""

    def __init__(self, folder: Path):
        to_browser, self._commands = os.pipe()
        self._answers, from_browser = os.pipe()
        command = [
            chromium(),
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--remote-debugging-pipe",
            f"--user-data-dir={folder}",
        ]
        # The browser talks over its descriptors 3 and 4, so ours are moved there first.
        self._process = subprocess.Popen(
            [sys.executable, "-c", _MOVE, str(to_browser), str(from_browser), *command],
            pass_fds=(to_browser, from_browser),
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._unread, self._number, self._session = b"", 0, None
        self.messages, self.requests, self._events = [], [], set()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        """Send a command and wait for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, page: Path):
        """Load a page without a network, and wait until it is there."""
        self.call(
            "Network.emulateNetworkConditions",
            offline=True,
            latency=0,
            downloadThroughput=0,
            uploadThroughput=0,
        )
        self._events.clear()
        self.call("Page.navigate", url=page.resolve().as_uri())
        while "Page.loadEventFired" not in self._events:
            self._next()

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def click(self, selector):
        """Press and release the mouse on an element."""
        x, y = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); "
            "e.scrollIntoView({block: 'center', behavior: 'instant'}); "
            "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key):
        """Press and release a key."""
        codes = {"Escape": 27, "ArrowRight": 39, "Enter": 13}
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            code = codes[key]
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text
            )

    def type(self, text):
        """Type into what has the focus."""
        self.call("Input.insertText", text=text)

    def window(self, width, height=900):
        """Look at the page at this size."""
        phone = width < 600
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=phone,
        )

    def media(self, **features):
        """Prefer what CSS can ask for, as in prefers_color_scheme="dark"."""
        wanted = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.call("Emulation.setEmulatedMedia", features=wanted)

    def close(self):
        """End this browser."""
        self._process.terminate()
        self._process.wait(timeout=10)
        os.close(self._commands)
        os.close(self._answers)

    def _next(self, patience=30.0):
        """The next message of the browser; events are noted."""
        until = time.monotonic() + patience
        while b"\0" not in self._unread:
            assert select.select([self._answers], [], [], max(until - time.monotonic(), 0))[0], (
                "Chromium is silent."
            )
            part = os.read(self._answers, 1 << 16)
            assert part, "Chromium has gone."
            self._unread += part
        line, _, self._unread = self._unread.partition(b"\0")
        message = json.loads(line)
        name, facts = message.get("method", ""), message.get("params", {})
        self._events.add(name)
        if name in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.messages.append(facts)
        if name == "Network.requestWillBeSent":
            self.requests.append(facts["request"]["url"])
        return message
